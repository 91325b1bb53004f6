"""Helpers of the paired benchmarks: sides that take turns in rounds, so that a change of the machine affects all of them; ratios
within a round; and the distribution-free interval of their median. docs/measurement.md has the formulae.
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
# The settings that ranklab makes with mallopt at its start (lib/app/process.cpp), as glibc's environment variables.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": GIB, "MALLOC_TRIM_THRESHOLD_": GIB}
OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def environment(threads, allocator=False):
    """No allocator setting but the stated one, and the same threads for all."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "OMP_", "MKL_"))}
    return dict(OPEN_MPI_AS_ROOT, **env) | {"OMP_NUM_THREADS": str(threads)} | (ALLOCATOR if allocator else {})


def run(command, env):
    """The program's stdout. Where it fails, its last words and the end of the benchmark."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        sys.exit(f"$ {shlex.join(command)}\n{done.stdout[-1500:]}{done.stderr[-3000:]}\nfailed with exit code {done.returncode}: the benchmark ends here.")
    return done.stdout


def ranklab_train(launcher, ranklab, words, env, folder):
    """`ranklab train` with its results in a file of its own; gives the path of that file, in `folder`."""
    output = pathlib.Path(tempfile.mktemp(prefix="bench-", suffix=".h5", dir=folder))
    run([*launcher, ranklab, "train", *words, "--evaluate", "off", "--quiet", "--output", output], env)
    return output


def median_step_s(args, words):
    """`ranklab train` of these words alone: the median step after the warm-up. What it stores lies in the temporary folder meanwhile."""
    import h5py  # not every user of this file has it
    import numpy as np

    output = ranklab_train([], args.ranklab, [*words, "--threads", args.threads], environment(args.threads), tempfile.gettempdir())
    with h5py.File(output) as file:
        seconds = float(np.median(last_run(file)["samples/step_time_s"][()]))
    output.unlink()
    return seconds


def last_run(file):
    """The HDF5 group of the last run stored in an open file."""
    return file["runs"][sorted(file["runs"])[-1]]


def seconds_after_warmup(stored):
    """Wall time from the end of the warm-up to the end of the last step, with all that lies between steps; of the slowest rank."""
    warmup = stored["warmup/step_time_s"][()].sum(axis=0) if "warmup/step_time_s" in stored else 0
    return (stored["samples/epoch_time_s"][()].sum(axis=0) - warmup).max()


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def interval(values):
    """The order statistics (low, high) that hold the median with 95 %; None below 6 values, where no two of them do."""
    n, values = len(values), sorted(values)
    if n < 6:
        return None
    skipped, tail = 0, 0.0
    while tail + math.comb(n, skipped) / 2**n <= 0.025:
        tail += math.comb(n, skipped) / 2**n
        skipped += 1
    return values[skipped - 1], values[n - skipped]


def summary(values):
    """For the JSON file: the median, its interval and the values."""
    between = interval(values)
    return {"median": median(values), "ci95_low": between and between[0], "ci95_high": between and between[1], "values": list(values)}


def shown(values, digits=3, scale=1.0):
    """The median with its interval, or with the range where there are too few values for one."""
    between = interval(values)
    low, high = between or (min(values), max(values))
    return (f"{median(values) * scale:.{digits}f} ({'95 %' if between else 'range'} {low * scale:.{digits}f} .. {high * scale:.{digits}f}, "
            f"{len(values)} rounds)")


def in_turn(sides, rounds, measure, after_round=lambda number, found: None):
    """{side: [measure(side) of each round]}; every other round backwards, so that no side always runs after the same neighbour."""
    found = {side: [] for side in sides}
    for number in range(rounds):
        for side in list(sides) if number % 2 == 0 else list(reversed(list(sides))):
            found[side].append(measure(side))
        after_round(number, found)
    return found


def parser(description, rounds=7, threads=1):
    """The parser of the options that these benchmarks share."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rounds", type=int, default=rounds, help="below 6 there is no interval")
    made.add_argument("--threads", type=int, default=threads)
    made.add_argument("--ranklab", type=pathlib.Path, default=RANKLAB)
    made.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the answer here too")
    return made


def write_json(path, content):
    """The benchmark's answer for a program, where a file was asked for."""
    if path:
        path.write_text(json.dumps(content, indent=1) + "\n")
