"""How long `ranklab report` takes on a file of many runs, and how much memory: a table on stdout.

    python tests/bench/report_many_runs.py [--runs 10000] [--bin build/release/bin] [--repetitions 5]

The file is made by h5py of copies of one real run of `ranklab io`, with ids, labels and seeds of their own; with `--command train` of one
of `ranklab train`, whose losses are drawn.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import h5py

CASES = (("list", ()), ("one run", ("--last", "1")), ("json", ("--format", "json")), ("csv", ("--format", "csv")),
         ("groups", ("--group-by", "seed", "--where", "seed<10")), ("gbench", ("--format", "gbench")), ("extrap", ("--format", "extrap")),
         ("markdown", ("--format", "markdown")), ("html", ("--format", "html")), ("plots", ("--plots", "plots")))


ORIGINALS = {"io": ("io", "--strategy", "binary", "-n", "4", "-s", "20", "-i", "7", "--ceilings", "off"),
             "train": ("train", "--data", "synthetic", "--steps", "50", "--batch-size", "8", "--evaluate", "off")}


def make(path, ranklab, runs, command):
    subprocess.run([ranklab, *ORIGINALS[command], "--output", path], check=True, stdout=subprocess.DEVNULL, cwd=path.parent)
    with h5py.File(path, "r+", libver=("earliest", "v110")) as file:
        group = file["runs"]
        first = next(iter(group))
        config = json.loads(group[first].attrs["config_json"])
        for i in range(runs - 1):
            group.copy(first, f"20300101T{i // 3600 % 24:02}{i // 60 % 60:02}{i % 60:02}Z-{i:06x}")
            one = group[f"20300101T{i // 3600 % 24:02}{i // 60 % 60:02}{i % 60:02}Z-{i:06x}"]
            one.attrs["label"] = f"label{i % 7}"
            one.attrs["config_json"] = json.dumps(dict(config, seed=i % 50, label=f"label{i % 7}"))


def measure(command, folder):
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{command} failed")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--command", choices=ORIGINALS, default="io")
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "many.h5"
        make(path, arguments.bin.resolve() / "ranklab", arguments.runs, arguments.command)
        print(f"# {arguments.runs} runs, {path.stat().st_size / 1e6:.0f} MB; median of {arguments.repetitions}")
        print(f"{'case':<10} {'time_s':>8} {'cpu_s':>8} {'max_s':>8} {'rss_MiB':>8}")
        for name, words in CASES:
            times, cpu, sizes = zip(*(measure([arguments.bin.resolve() / "ranklab", "report", path, *words], folder) for _ in range(arguments.repetitions)))
            print(f"{name:<10} {statistics.median(times):8.2f} {statistics.median(cpu):8.2f} {max(times):8.2f} {max(sizes):8.0f}")


if __name__ == "__main__":
    main()
