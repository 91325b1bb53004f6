#!/usr/bin/env python3
"""How long a job of many ranks takes to start and to end, over a bare MPI program (Init, Barrier, Finalize): `ranklab io` that writes a
tiny file a rank, of one build or of several, which take turns with the bare program in each round.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from paired import OPEN_MPI_AS_ROOT, RANKLAB

BARE = """#include <mpi.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""
PARTS = ("connecting the ranks", "options and launch guard", "settings and the results file", "preparing the first repetition")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", default="2,16,64", help="numbers of ranks (default 2,16,64)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--side", action="append", metavar="NAME=RANKLAB", help="a build to time; several take turns (default: now=build/release/bin/ranklab)")
    parser.add_argument("--json", metavar="FILE", help="all times of all rounds")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one job (default 600)")
    return parser.parse_args()


def compiled_bare(folder):
    source, program = folder / "bare.c", folder / "bare"
    source.write_text(BARE)
    subprocess.run(["mpicc", "-O2", "-o", program, source], check=True)
    return program


def timed(words, ranks, timeout):
    """Wall and processor seconds of that job with its launcher, and its stdout."""
    env = dict(OPEN_MPI_AS_ROOT, **os.environ) | {"OMPI_MCA_mpi_yield_when_idle": "1"}
    before, start = os.times(), time.monotonic()
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), *map(str, words)], capture_output=True, text=True, env=env, timeout=timeout, check=False)
    wall, after = time.monotonic() - start, os.times()
    if done.returncode != 0:
        sys.exit(f"{words} on {ranks} ranks ended with {done.returncode}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    cpu = after.children_user - before.children_user + after.children_system - before.children_system
    return wall, cpu, done.stdout


def parts_of(stdout):
    """Of the slowest rank, in seconds, by name: of the run's table of its start."""
    rows = json.loads(stdout)["runs"][0]["tables"]["start_up"]
    names, most = rows["part"], rows["max_s"]
    return dict(zip(names, most))


def job(side, ranks, folder):
    if side.name == "bare":
        return [side]
    return [side, "io", "--strategy", "binary", "-n", ranks, "--size", 4, "--output", "none", "--json", "--directory", folder / "out"]


def measure(args, sides, folder):
    times = []
    for ranks in map(int, args.ranks.split(",")):
        for number in range(args.rounds):
            order = list(sides.items())
            for name, program in order if number % 2 == 0 else order[::-1]:
                wall, cpu, stdout = timed(job(program, ranks, folder), ranks, args.timeout)
                parts = {} if name == "bare" else parts_of(stdout)
                times.append({"ranks": ranks, "round": number, "side": name, "wall_s": wall, "cpu_s": cpu, "parts_s": parts})
    return times


def middle(values):
    return statistics.median(values) if values else float("nan")


def row(times, ranks, side):
    mine = [one for one in times if one["ranks"] == ranks and one["side"] == side]
    bare = {one["round"]: one for one in times if one["ranks"] == ranks and one["side"] == "bare"}
    cells = [f"{ranks:>5}  {side:<10} {middle([one['wall_s'] for one in mine]):>7.2f} {middle([one['cpu_s'] for one in mine]):>7.2f}"]
    if side != "bare":
        cells.append(f"{middle([one['wall_s'] - bare[one['round']]['wall_s'] for one in mine]):>10.2f}")
        cells.append(f"{middle([one['cpu_s'] - bare[one['round']]['cpu_s'] for one in mine]):>9.2f}")
        cells += [f"{middle([one['parts_s'].get(part, float('nan')) for one in mine]):>10.3f}" for part in PARTS]
    return " ".join(cells)


def main():
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="ranklab-start-") as temporary:
        folder = pathlib.Path(temporary)
        sides = {"bare": compiled_bare(folder)}
        for text in args.side or [f"now={RANKLAB}"]:
            name, _, program = text.partition("=")
            sides[name] = pathlib.Path(shutil.which(program) or program).resolve()
        times = measure(args, sides, folder)
    print(f"# medians of {args.rounds} rounds, seconds; 'over': of the differences from the bare program in the same round")
    print("# the last four: parts of the start, of the slowest rank: connecting, guard, settings, preparing")
    print("ranks  side          wall     cpu  over-wall  over-cpu    connect      guard   settings    prepare")
    for ranks in map(int, args.ranks.split(",")):
        for name in sides:
            print(row(times, ranks, name))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(times))


if __name__ == "__main__":
    main()
