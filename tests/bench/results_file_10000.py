"""A results file of 10,000 real runs: time and memory of an append, a list and the exports.

Makes a few short runs of `ranklab train` and `ranklab io`, multiplies them, and starts the programs. Exit code 4 if a bound is missed:
30 KiB per run, 1 s for an append and a list, 5 s and 500 MB for a report. README.md says how to run it."""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ranklab_cli as cli  # noqa: E402

WRITER = cli.BIN.parent / "tests" / "results_writer"
TRAIN = ["train", "--model", "mnist-cnn", "--data", "synthetic", "--steps", "3", "--batch-size", "8", "--threads", "1"]
IO = ["io", "--files", "4", "--size", "10"]
PATTERNS = [(1, TRAIN), (4, TRAIN), (1, [*IO, "--strategy", "binary"]), (4, [*IO, "--strategy", "hdf5-parallel-collective"])]


def make_pattern(folder):
    """Makes a file with one run of each pattern; prints the size of each."""
    path, worst = folder / "pattern.h5", 0
    for ranks, words in PATTERNS:
        if words is TRAIN and not cli.HAS_TRAIN:
            continue
        alone = folder / f"{words[0]}{ranks}.h5"
        result = cli.ranklab(*words, "--output", alone, ranks=ranks, cwd=folder)
        if result.code != 0:
            sys.exit(str(result))
        worst = max(worst, alone.stat().st_size)
        print(f"{words[0]} {words[-1] if words[0] == 'io' else ''} at {ranks} rank(s): {alone.stat().st_size} B, the file's frame counted")
        cli.run(cli.RANKLAB, "results", "merge", path, alone)
    return path, worst


def measure(command, rounds):
    """Returns (median seconds, largest resident bytes) of whole processes with stdout to /dev/null."""
    times, rss = [], 0
    for _ in range(rounds):
        start = time.monotonic()
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, env=cli.environment())
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{command} failed")
        times.append(time.monotonic() - start)
        rss = max(rss, usage.ru_maxrss * 1024)
    return statistics.median(times), rss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="on the file system in question (default: a temporary one)")
    given = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory(dir=given.folder) as scratch:
        folder = pathlib.Path(scratch)
        pattern, worst = make_pattern(folder)
        if worst > 30 << 10:
            missed.append("30 KiB a run")
        big = folder / "big.h5"
        subprocess.run([WRITER, "multiply", pattern, big, str(given.runs)], check=True)
        print(f"{given.runs} runs: {big.stat().st_size / 1e6:.1f} MB, {big.stat().st_size / given.runs / 1024:.1f} KiB a run")
        report = [cli.RANKLAB, "report", big]
        append = [WRITER, "append", big, pattern, "{}", 1]
        cases = [("list", [cli.RANKLAB, "results", "list", big], 1), ("report text", report, 1)]
        cases += [(f"report {kind}", [*report, "--format", kind], 5) for kind in ("csv", "json")]
        times = []
        for number in range(given.rounds):
            seconds, _ = measure([f"append-{number}" if word == "{}" else word for word in append], 1)
            times.append(seconds)
        print(f"{'append':12} {statistics.median(times):6.2f} s")
        if statistics.median(times) > 1:
            missed.append("append in 1 s")
        for name, command, limit in cases:
            seconds, rss = measure(command, given.rounds)
            print(f"{name:12} {seconds:6.2f} s {rss / 1e6:7.1f} MB")
            if seconds > limit or rss > 500e6:
                missed.append(f"{name} in {limit} s and 500 MB")
    if missed:
        print("missed: " + ", ".join(missed))
        sys.exit(4)


if __name__ == "__main__":
    main()
