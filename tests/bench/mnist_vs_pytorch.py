"""`ranklab train` beside plain PyTorch on the same images, in alternating rounds of one run, so that a change of the machine
meets all sides. A benchmark, not a test: read README.md before comparing machines.

  mnist_vs_pytorch.py [--rounds 5] [--steps 200] [--threads 2] [--data-dir DIR] [--ranklab build/release/bin/ranklab]

Run it with the Python of ./bootstrap (torch, numpy, h5py). Exit code 4 if the median ratio to PyTorch's example is below 1.3.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import h5py

import paired

THRESHOLD = 1.3
SIDES = {
    "A": ("ranklab train --mode single", "glibc, set by itself with mallopt: mmap and trim thresholds 1 GiB"),
    "B": ("PyTorch's MNIST example", "glibc, defaults (as everybody runs it)"),
    "B'": ("PyTorch's MNIST example", "glibc, mmap and trim thresholds 1 GiB by environment: as A"),
    "C": ("PyTorch, data preloaded into tensors", "glibc, defaults"),
    "C'": ("PyTorch, data preloaded into tensors", "glibc, mmap and trim thresholds 1 GiB by environment: as A"),
}


def run_ranklab(args, folder):
    words = ["--mode", "single", "--model", "mnist-cnn", "--data", "fashion-mnist", "--threads", args.threads, "--batch-size", 64, "--steps", args.steps,
             "--warmup", args.warmup, *(["--data-dir", args.data_dir] if args.data_dir else [])]
    output = paired.ranklab_train([], args.ranklab, words, paired.environment(args.threads), folder)
    with h5py.File(output) as file:
        seconds = paired.seconds_after_warmup(paired.last_run(file))
    output.unlink()
    return args.steps * 64 / seconds


def run_pytorch(args, variant, allocator):
    command = [sys.executable, paired.HERE / "pytorch_mnist_example.py", "--variant", variant, "--data-dir", args.data_dir or "/usr/share/datasets/fashion-mnist",
               "--batch-size", 64, "--steps", args.steps, "--warmup", args.warmup, "--threads", args.threads]
    found = json.loads(paired.run(command, paired.environment(args.threads, allocator)))
    args.facts = f"torch {found['torch']}, per-image transform of B: {found['transform']}" if variant == "example" else args.facts
    return found["samples_per_s"]


def measure(args, side, folder):
    if side == "A":
        return run_ranklab(args, folder)
    return run_pytorch(args, "example" if side.startswith("B") else "preloaded", side.endswith("'"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data-dir", type=pathlib.Path, help="folder of the four idx files (default: Debian's dataset-fashion-mnist)")
    parser.add_argument("--ranklab", type=pathlib.Path, default=paired.RANKLAB)
    args = parser.parse_args()
    args.facts = ""

    for side, (what, allocator) in SIDES.items():
        print(f"# {side}: {what}; allocator: {allocator}")
    print(f"# batch 64, {args.steps} steps after {args.warmup} of warm-up, {args.threads} threads each, Adadelta(1.0), dropout on, fp32; load "
          f"{os.getloadavg()[0]:.2f} at the start\n")
    print("round  " + "".join(f"{side + ' img/s':>12}" for side in SIDES) + "".join(f"{'A/' + side:>8}" for side in list(SIDES)[1:]))
    def show_round(number, found):
        print(f"{number + 1:>5}  " + "".join(f"{found[side][-1]:>12.1f}" for side in SIDES)
              + "".join(f"{found['A'][-1] / found[side][-1]:>8.2f}" for side in list(SIDES)[1:]), flush=True)

    with tempfile.TemporaryDirectory(prefix="ranklab-bench-") as folder:
        rates = paired.in_turn(SIDES, args.rounds, lambda side: measure(args, side, folder), show_round)
    print(f"\n# {args.facts}")
    ratios = {side: [a / b for a, b in zip(rates["A"], rates[side])] for side in list(SIDES)[1:]}
    for side, values in ratios.items():
        print(f"A/{side}: median {paired.median(values):.2f}, range {min(values):.2f} .. {max(values):.2f} over {len(values)} rounds"
              f"   (A {paired.median(rates['A']):.0f}, {side} {paired.median(rates[side]):.0f} img/s)")
    verdict, same = paired.median(ratios["B"]), paired.median(ratios["B'"])
    print(f"verdict: A/B {verdict:.2f} is {'at least' if verdict >= THRESHOLD else 'BELOW'} {THRESHOLD}; "
          f"with the same allocator settings on both sides (A/B') {same:.2f}; load {os.getloadavg()[0]:.2f} at the end")
    return 0 if verdict >= THRESHOLD else 4


if __name__ == "__main__":
    sys.exit(main())
