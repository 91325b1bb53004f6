"""Helpers of the paired benchmarks: sides alternate in rounds, so that other load affects all sides; ratios within a round; and the
distribution-free interval of their median (docs/measurement.md).
"""

import argparse
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RANKLAB = HERE.parents[1] / "build" / "release" / "bin" / "ranklab"
GIB = str(1 << 30)
# ranklab's mallopt settings (lib/app/process.cpp) as glibc's environment variables.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": GIB, "MALLOC_TRIM_THRESHOLD_": GIB}
OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def environment(threads, allocator=False):
    """Sets the allocator variables and equal threads for all sides."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "OMP_", "MKL_"))}
    return dict(OPEN_MPI_AS_ROOT, **env) | {"OMP_NUM_THREADS": str(threads)} | (ALLOCATOR if allocator else {})


def run(command, env):
    """Returns the program's stdout. If it fails, prints the end of its output and exits."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"$ {shlex.join(command)}\n{done.stdout[-1500:]}{done.stderr[-3000:]}\nfailed with exit code {done.returncode}: the benchmark ends here.")
    return done.stdout


def ranklab_train(launcher, ranklab, words, env, folder):
    """Runs `ranklab train` with its results in a new file in `folder`; returns its path."""
    output = pathlib.Path(tempfile.mktemp(prefix="bench-", suffix=".h5", dir=folder))
    run([*launcher, ranklab, "train", *words, "--evaluate", "off", "--quiet", "--output", output], env)
    return output


def median_step_s(args, words):
    """Runs `ranklab train` with these options in a temporary folder; returns the median step after the warm-up."""
    import h5py  # here, since other benchmarks run without it
    import numpy as np

    output = ranklab_train([], args.ranklab, [*words, "--threads", args.threads], environment(args.threads), tempfile.gettempdir())
    with h5py.File(output) as file:
        seconds = float(np.median(last_run(file)["samples/step_time_s"][()]))
    output.unlink()
    return seconds


def last_run(file):
    """Returns the HDF5 group of the last run in an open file."""
    return file["runs"][sorted(file["runs"])[-1]]


def seconds_after_warmup(stored):
    """Returns the slowest rank's time in the steps after the warm-up."""
    return stored["samples/step_time_s"][()].sum(axis=0).max()


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def interval(values):
    """Returns the order statistics (low, high) that cover the median with 95 %; None below 6 values."""
    n, values = len(values), sorted(values)
    if n < 6:
        return None
    skipped, tail = 0, 0.0
    while tail + math.comb(n, skipped) / 2**n <= 0.025:
        tail += math.comb(n, skipped) / 2**n
        skipped += 1
    return values[skipped - 1], values[n - skipped]


def summary(values):
    """Returns the median, its interval and the values for the JSON file."""
    between = interval(values)
    return {"median": median(values), "ci95_low": between and between[0], "ci95_high": between and between[1], "values": list(values)}


def shown(values, digits=3, scale=1.0):
    """Returns the median with its interval, or with the range if there are too few values."""
    between = interval(values)
    low, high = between or (min(values), max(values))
    return (f"{median(values) * scale:.{digits}f} ({'95 %' if between else 'range'} {low * scale:.{digits}f} .. {high * scale:.{digits}f}, "
            f"{len(values)} rounds)")


def in_turn(sides, rounds, measure, after_round=lambda number, found: None):
    """Returns {side: [measure(side) of each round]}. Every other round runs backwards, so that no side always follows the same one."""
    found = {side: [] for side in sides}
    for number in range(rounds):
        for side in list(sides) if number % 2 == 0 else list(reversed(list(sides))):
            found[side].append(measure(side))
        after_round(number, found)
    return found


def parser(description, rounds=7, threads=1):
    """Returns a parser with the options that these benchmarks share."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rounds", type=int, default=rounds, help="below 6 there is no interval")
    made.add_argument("--threads", type=int, default=threads)
    made.add_argument("--ranklab", type=pathlib.Path, default=RANKLAB)
    made.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the answer here too")
    return made


def write_json(path, content):
    """Writes the results to the JSON file if one was given."""
    if path:
        path.write_text(json.dumps(content, indent=1) + "\n")
