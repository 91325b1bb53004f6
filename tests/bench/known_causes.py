"""Does `report --why` name known causes on a disturbed machine? Each case of tests/support/provoked.py runs --repeats times while another
process computes in bursts. A cause counts if nine tenths of its runs name it, and its case ends as soon as that is decided; exit code 4
if fewer than all but one do. --cases NAME,...: some cases; --quiet-machine: no bursts.
"""

import argparse
import collections
import pathlib
import random
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import provoked

SEED = 1


def disturb(stop):
    """Computes on one core, in bursts: about a third of the time."""
    draw = random.Random(SEED)
    while not stop.wait(draw.uniform(0.5, 2.5)):
        with provoked.burning(1):
            stop.wait(draw.uniform(0.2, 1.0))


class Runs(provoked.Case):
    def runTest(self):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--cases", default=",".join(provoked.KNOWN))
    parser.add_argument("--quiet-machine", action="store_true")
    options = parser.parse_args()
    stop = threading.Event()
    if not options.quiet_machine:
        threading.Thread(target=disturb, args=(stop,), daemon=True).start()
    runs, counts = Runs(), {}
    for name in options.cases.split(","):
        run, named = provoked.RUNS[name], collections.Counter()
        while 10 * named["named"] < 9 * options.repeats and 10 * (named.total() - named["named"]) <= options.repeats:
            runs.setUp()
            found = runs.train(run, env=provoked.REAL)
            runs.doCleanups()
            named["named" if run.is_named(found) else found["sentence"]] += 1
        counts[name] = named["named"]
        print(f"{name}: {run.cause} in {counts[name]} of {named.total()}; else {[key for key in named if key != 'named']}", flush=True)
    stop.set()
    enough = sum(10 * count >= 9 * options.repeats for count in counts.values())
    print(f"{enough} of {len(counts)} causes are named")
    return 0 if enough >= len(counts) - 1 else 4


if __name__ == "__main__":
    sys.exit(main())
