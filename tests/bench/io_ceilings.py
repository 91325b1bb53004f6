"""How near the rungs of `ranklab io` come to what this machine can do, and what ranks gain. A benchmark, not a test.

  io_ceilings.py [--rounds 3] [--repetitions 7] [--files 24] [--size 1000] [--directory DIR] [--ranks 1 2] [--json FILE]

Each round runs the rungs below at each rank count, ceilings in the same run, and takes the numbers from the results file through
`ranklab report --format json`. The answers are medians over rounds; the targets (exit code 4 below one):
  write phase of binary                    >= 90 % of raw write() to a file per record
  write phase of hdf5-parallel-*           >= 90 % of raw pwrite() to one shared file, at each rank count
  T(2) / T(1) of mpi-send                  <= 0.65
  hdf5-parallel-collective at 2 ranks      faster than hdf5-serial, whole jobs
"""

import argparse
import json
import pathlib
import sys
import tempfile

import paired

CEILINGS = {"binary": "raw write()", "hdf5-parallel-independent": "raw pwrite()", "hdf5-parallel-collective": "raw pwrite()"}
RUNGS = [*CEILINGS, "mpi-send", "hdf5-serial"]
LEAST_PERCENT = 90
MOST_OF_ONE_RANK = 0.65


def run_of(rung, ranks, options):
    """The stored run, as `ranklab report` tells it."""
    output = pathlib.Path(tempfile.mktemp(suffix=".h5", dir=options.scratch))
    words = ["io", "--strategy", rung, "--files", options.files, "--size", options.size, "-i", options.repetitions, "--ceilings", "on", "--directory",
             options.scratch / "output", "--output", output, "--quiet"]
    paired.run([*options.launcher, "-n", ranks, options.ranklab, *words], paired.environment(1))
    report = json.loads(paired.run([options.ranklab, "report", output, "--format", "json"], paired.environment(1)))
    output.unlink()
    return report["runs"][-1]


def job_time(run):
    return next(m["median"] for m in run["measurements"] if m["name"] == "job_time_s")


def percent_of(run, ceiling):
    table = run["tables"]["ceilings"]
    return table["percent"][table["ceiling"].index(ceiling)]


def available(options):
    """The rungs that this ranklab has; a missing one is said."""
    listed = paired.run([options.ranklab, "io", "--list"], paired.environment(1))
    for rung in RUNGS:
        if rung not in listed:
            print(f"{rung} SKIPPED: this ranklab has no such rung")
    return [rung for rung in RUNGS if rung in listed]


def measured(options):
    """{(rung, ranks): [run of each round]}. hdf5-serial and binary work on rank 0, whatever the ranks: one rank is enough."""
    alone = ("binary", "hdf5-serial")
    sides = [(rung, ranks) for rung in available(options) for ranks in options.ranks if rung not in alone or ranks == options.ranks[0]]

    def after_round(number, found):
        times = ", ".join(f"{rung} at {ranks}: {job_time(runs[-1]):.3f} s" for (rung, ranks), runs in found.items())
        print(f"round {number + 1}: {times}", file=sys.stderr)

    return paired.in_turn(sides, options.rounds, lambda side: run_of(*side, options), after_round)


def judge(found):
    """[(what, values of the rounds, target in words, met)]."""
    answers = []
    for (rung, ranks), runs in found.items():
        if rung in CEILINGS:
            values = [percent_of(run, CEILINGS[rung]) for run in runs]
            answers.append((f"{rung} at {ranks} rank(s): % of {CEILINGS[rung]}", values, f">= {LEAST_PERCENT}", paired.median(values) >= LEAST_PERCENT))
    pairs = ((("mpi-send", 2), ("mpi-send", 1), MOST_OF_ONE_RANK, "mpi-send: T(2) / T(1)"),
             (("hdf5-parallel-collective", 2), ("hdf5-serial", 1), 1.0, "hdf5-parallel-collective at 2 ranks / hdf5-serial, whole jobs"))
    for side, base, most, what in pairs:
        if side in found and base in found:
            values = [job_time(a) / job_time(b) for a, b in zip(found[side], found[base])]
            met = paired.median(values) <= most if most < 1 else paired.median(values) < most
            answers.append((what, values, f"{'<=' if most < 1 else '<'} {most:g}", met))
    return answers


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="below 6 there is no interval over rounds")
    parser.add_argument("--repetitions", type=int, default=7, help="in each run")
    parser.add_argument("--files", type=int, default=24)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--directory", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()), help="where to write, in a folder of its own")
    parser.add_argument("--launcher", default="mpirun --oversubscribe --bind-to none", type=str.split)
    parser.add_argument("--ranklab", type=pathlib.Path, default=paired.RANKLAB)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the answer here too")
    return parser.parse_args()


def main():
    options = parse()
    with tempfile.TemporaryDirectory(prefix="io-ceilings-", dir=options.directory) as scratch:
        options.scratch = pathlib.Path(scratch)
        found = measured(options)
    for (rung, ranks), runs in found.items():
        print(f"{rung:26} {ranks} rank(s)  job time {paired.shown([job_time(run) for run in runs])} s")
    answers = judge(found)
    for what, values, target, met in answers:
        print(f"{what:66} {paired.shown(values, 2)}   target {target}{'' if met else '   MISSED'}")
    paired.write_json(options.json, {what: {**paired.summary(values), "target": target, "met": met} for what, values, target, met in answers})
    if not all(met for *_, met in answers):
        sys.exit(4)


if __name__ == "__main__":
    main()
