"""Steps in simulated series of nights: ranklab's change points and Apache Otava's (window 50) on the same series.

    python3 -m venv DIR && DIR/bin/pip install apache-otava      # DIR is yours
    DIR/bin/python tests/bench/steps_vs_otava.py --series 2000

False steps: --series series of 20 to 400 nights, spread 1 to 5 %, in equal parts without a change, with spikes, with two levels, with a drift, and
with one step of 3 to 20 %; a step is false if none lies within 7 nights of it. Found: as many series of spread 2 % with a step of 10 % (5 %) after
40 nights, in which it is named within 3 (7) nights. Exit code 4 if a figure of ranklab is worse than Otava's, below 95 % or above 1 in 1,000."""

import argparse
import concurrent.futures
import math
import os
import pathlib
import random
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
KINDS = ("nothing", "spikes", "two levels", "drift", "step")
NEAR = 7


def lognormal(draw, n, spread):
    return [math.exp(spread * draw.gauss(0, 1)) for _ in range(n)]


def series_of(kind, draw):
    """Returns values and the places of their steps."""
    spread, n = draw.uniform(0.01, 0.05), draw.randint(20, 400)
    values, steps = lognormal(draw, n, spread), []
    if kind == "spikes":
        values = [value * (draw.uniform(1.1, 1.4) if draw.random() < 0.02 else 1) for value in values]
    elif kind == "two levels":
        share = draw.uniform(0.2, 0.5)
        values = [value * (1 + 6 * spread if draw.random() < share else 1) for value in values]
    elif kind == "drift":
        total = draw.uniform(0.05, 0.2) * draw.choice((-1, 1))
        values = [value * (1 + total * i / n) for i, value in enumerate(values)]
    elif kind == "step":
        at, size = draw.randint(7, n - 7), draw.uniform(0.03, 0.2) * draw.choice((-1, 1))
        values, steps = [value * (1 + size if i >= at else 1) for i, value in enumerate(values)], [at]
    return values, steps


def step_after_40(size, nights, draw):
    factor = 1 + size * draw.choice((-1, 1))
    return [value * (factor if i >= 40 else 1) for i, value in enumerate(lognormal(draw, 40 + nights, 0.02))]


def ours(program, all_values):
    text = "\n".join(" ".join(map(repr, values)) for values in all_values) + "\n"
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def of_otava(task):
    from otava.analysis import compute_change_points

    values, min_magnitude = task
    return [point.index for point in compute_change_points(values, window_len=50, max_pvalue=0.001, min_magnitude=min_magnitude)[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first series, for parts")
    parser.add_argument("--min-magnitude", type=float, default=0.02, help="Otava's; ranklab's is 2 %%")
    parser.add_argument("--program", default=SOURCE / "build" / "release" / "bench" / "change_points_bench")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.series)
    kinds = [KINDS[i % len(KINDS)] for i in numbers]
    mixed = [series_of(kind, random.Random(i)) for i, kind in zip(numbers, kinds)]
    late = {size: [step_after_40(size, nights, random.Random(f"{size} {i}")) for i in numbers] for size, nights in ((0.10, 3), (0.05, 7))}
    rates, shares = {}, {}
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, find in (("ranklab", lambda some: ours(given.program, some)),
                           ("Otava", lambda some: list(pool.map(of_otava, [(values, given.min_magnitude) for values in some], chunksize=16)))):
            false, nights, missed = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0), 0
            for kind, (values, steps), found in zip(kinds, mixed, find([values for values, _ in mixed])):
                false[kind] += sum(all(abs(one - step) > NEAR for step in steps) for one in found)
                nights[kind] += len(values)
                missed += sum(all(abs(one - step) > NEAR for one in found) for step in steps)
            print(f"# {name} {false} of {nights}, missed {missed}")
            rates[name] = 1000 * sum(false.values()) / sum(nights.values())
            print(f"{name}: {rates[name]:.2f} false steps in 1,000 nights ({', '.join(f'{kind} {1000 * false[kind] / nights[kind]:.2f}' for kind in KINDS)}); "
                  f"{100 - 100 * missed / kinds.count('step'):.0f} % of the steps found", flush=True)
            for size, some in late.items():
                prefixes = [values[:n] for values in some for n in range(41, len(values) + 1)]
                each = len(some[0]) - 40
                found = [any(abs(step - 40) <= NEAR for step in steps) for steps in find(prefixes)]
                shares[name, size] = 100 * sum(any(found[i * each:(i + 1) * each]) for i in range(len(some))) / len(some)
                print(f"{name}: a step of {100 * size:.0f} % named within {each} nights in {shares[name, size]:.1f} %", flush=True)
    worse = rates["ranklab"] > min(1, rates["Otava"]) or any(shares["ranklab", size] < max(95, shares["Otava", size]) for size in late)
    sys.exit(4 if worse else 0)


if __name__ == "__main__":
    main()
