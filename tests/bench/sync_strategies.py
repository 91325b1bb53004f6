"""What gradient synchronisation costs: `ranklab train` with every strategy in alternating rounds of one run, on a model whose
gradients are a large share of the step. A benchmark, not a test: read README.md before comparing machines.

  sync_strategies.py [--rounds 7] [--steps 30] [--ranks 2] [--model wide-mlp] [--sync flat,bucketed,c10d,none]
                     [--launcher "srun -N2 -n2 --mpi=pmix"] [--progress none|poll|thread] [--json FILE]

Run it with the Python of ./bootstrap (numpy, h5py). Exposed communication is the step's time less that of `none`, in the same round.
"""

import os
import pathlib
import re
import shlex
import sys
import tempfile

import h5py
import numpy as np

import paired

# Measurements of a run that say how much of the communication was hidden, where the run stores them.
ABOUT_OVERLAP = re.compile(r"overlap|exposed|sync|bucket|communication")


def available(args):
    """The names below --sync in `ranklab train --list`."""
    listing = paired.run([args.ranklab, "train", "--list"], paired.environment(args.threads))
    section = re.search(r"^--sync\b.*\n((?:[ \t]+\S.*\n)+)", listing, re.MULTILINE)
    return set(re.findall(r"^  (\S+)", section.group(1), re.MULTILINE))


def words(args, sync):
    model = ["--model", args.model, "--data", "synthetic", "--optimizer", "sgd", "--lr", 0.001, "--batch-size", args.batch_size]
    return [*model, "--mode", "ddp", "--sync", sync, "--threads", args.threads, "--steps", args.steps, "--warmup", args.warmup,
            *(["--progress", args.progress] if args.progress and sync != "none" else []), *shlex.split(args.ranklab_options)]


def measure(args, sync, stored):
    """The median over steps of the slowest rank's time. What the run says about overlap goes to stored[sync]."""
    output = paired.ranklab_train(args.launcher, args.ranklab, words(args, sync), paired.environment(args.threads), args.scratch)
    with h5py.File(output) as file:
        run = paired.last_run(file)
        for row in run["measurements"][()]:
            if ABOUT_OVERLAP.search(name := row["name"].decode()):
                stored.setdefault(sync, {}).setdefault(f"{name} [{row['unit'].decode()}]", []).append(float(row["median"]))
        seconds = float(np.median(run["samples/step_time_s"][()].max(axis=1)))
    output.unlink()
    return seconds


def add_options(parser):
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--model", default="wide-mlp")
    parser.add_argument("--batch-size", type=int, default=32, help="per rank")
    parser.add_argument("--sync", default="flat,bucketed,c10d,none", help="names, separated by commas; ratios are to the first")
    parser.add_argument("--progress", choices=("none", "poll", "thread"), help="passed on to ranklab train where it is given")
    parser.add_argument("--ranklab-options", default="", metavar="WORDS", help="more words for ranklab train, as one argument")


def parse():
    parser = paired.parser(__doc__)
    add_options(parser)
    parser.add_argument("--launcher", type=shlex.split, metavar="WORDS", help="how the ranks are started (default: mpirun -n RANKS)")
    parser.add_argument("--scratch", type=pathlib.Path, help="folder that rank 0 can write and this script read (default: the current one with --launcher, else a temporary one)")
    args = parser.parse_args()
    if not args.scratch:
        args.scratch = pathlib.Path.cwd() if args.launcher else pathlib.Path(tempfile.gettempdir())
    args.launcher = args.launcher or ["mpirun", "-n", str(args.ranks)]
    return args


def choose(args):
    """The strategies of --sync that this build has."""
    there = available(args)
    wanted = args.sync.split(",")
    for sync in wanted:
        if sync not in there:
            print(f"# {sync}: skipped, this ranklab does not have it")
    chosen = [sync for sync in wanted if sync in there]
    if len(chosen) < 2:
        sys.exit("there is nothing to compare: name two strategies of `ranklab train --list` with --sync")
    return chosen


def report(args, times, stored):
    first = next(iter(times))
    answer = {"benchmark": "sync_strategies", "model": args.model, "ranks": args.ranks, "threads": args.threads, "batch_size": args.batch_size,
              "launcher": shlex.join(args.launcher), "progress": args.progress, "strategies": {}}
    for sync, values in times.items():
        ratios = [a / b for a, b in zip(values, times[first])]
        exposed = [a - b for a, b in zip(values, times["none"])] if "none" in times and sync != "none" else None
        print(f"\n{sync}\n  step_time_ms             {paired.shown(values, 3, 1e3)}")
        if sync != first:
            print(f"  step ratio to {first:<10} {paired.shown(ratios)}")
        if exposed:
            print(f"  exposed_communication_ms {paired.shown(exposed, 3, 1e3)}")
        for name, found in stored.get(sync, {}).items():
            print(f"  as stored: {name:<40} median {paired.median(found):.6g}")
        answer["strategies"][sync] = {"step_time_s": paired.summary(values), f"ratio_to_{first}": paired.summary(ratios),
                                      "exposed_communication_s": exposed and paired.summary(exposed),
                                      "stored": {name: paired.median(found) for name, found in stored.get(sync, {}).items()}}
    print(f"\n# load {os.getloadavg()[0]:.2f} at the end")
    paired.write_json(args.json, answer)


def compare(args):
    chosen = choose(args)
    command = [*args.launcher, args.ranklab, "train", *words(args, "SYNC")]
    print(f"# {shlex.join(map(str, command))}\n# load {os.getloadavg()[0]:.2f} at the start\n\nround  " + "".join(f"{sync + ' ms':>18}" for sync in chosen))

    def show_round(number, found):
        print(f"{number + 1:>5}  " + "".join(f"{found[sync][-1] * 1e3:>18.3f}" for sync in chosen), flush=True)

    stored = {}
    times = paired.in_turn(chosen, args.rounds, lambda sync: measure(args, sync, stored), show_round)
    report(args, times, stored)


if __name__ == "__main__":
    compare(parse())
