"""How long `ranklab io --help` takes, the whole process, beside a program that does nothing. A benchmark, not a test.

  io_help_time.py [--rounds 31] [--json FILE]

  io        ranklab-io --help
  ranklab   ranklab io --help: the same through the dispatcher
  nothing   /bin/true: what starting a process costs here
Exit code 4 where the median of `ranklab` is not below --limit seconds.
"""

import argparse
import pathlib
import sys
import time

import paired


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--limit", type=float, default=0.05, help="seconds")
    parser.add_argument("--ranklab", type=pathlib.Path, default=paired.RANKLAB)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the answer here too")
    options = parser.parse_args()
    commands = {"io": [f"{options.ranklab}-io", "--help"], "ranklab": [options.ranklab, "io", "--help"], "nothing": ["/bin/true"]}
    env = paired.environment(1)

    def measure(side):
        begin = time.perf_counter()
        paired.run(commands[side], env)
        return time.perf_counter() - begin

    for side in commands:
        measure(side)  # its files into the page cache
    found = paired.in_turn(commands, options.rounds, measure)
    for side, times in found.items():
        print(f"{side:8} {paired.shown(times, 1, 1e3)} ms")
    paired.write_json(options.json, {side: paired.summary(times) for side, times in found.items()})
    if paired.median(found["ranklab"]) >= options.limit:
        print(f"not below {options.limit * 1e3:g} ms")
        sys.exit(4)


if __name__ == "__main__":
    main()
