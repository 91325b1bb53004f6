"""`ranklab train` beside plain PyTorch on the same images, in alternating rounds of one run, so that a change of the machine
meets all sides. A benchmark, not a test: read README.md before comparing machines.

  mnist_vs_pytorch.py [--rounds 5] [--steps 200] [--threads 2] [--data-dir DIR] [--ranklab build/release/bin/ranklab]

Run it with the Python of ./bootstrap (torch, numpy, h5py). Exit code 4 if the median ratio to PyTorch's example is below 1.3.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py

HERE = pathlib.Path(__file__).resolve().parent
GIB = str(1 << 30)
THRESHOLD = 1.3
# What ranklab sets with mallopt at its start (lib/app/session.cpp), as glibc's environment variables.
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": GIB, "MALLOC_TRIM_THRESHOLD_": GIB}
SIDES = {
    "A": ("ranklab train --mode single", "glibc, set by itself with mallopt: mmap and trim thresholds 1 GiB"),
    "B": ("PyTorch's MNIST example", "glibc, defaults (as everybody runs it)"),
    "B'": ("PyTorch's MNIST example", "glibc, mmap and trim thresholds 1 GiB by environment: as A"),
    "C": ("PyTorch, data preloaded into tensors", "glibc, defaults"),
    "C'": ("PyTorch, data preloaded into tensors", "glibc, mmap and trim thresholds 1 GiB by environment: as A"),
}


def environment(threads, allocator):
    """No allocator setting but the stated one, and the same threads for all."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "OMP_", "MKL_"))}
    return dict(env, OMP_NUM_THREADS=str(threads), **(ALLOCATOR if allocator else {}))


def run_ranklab(args, folder):
    output = pathlib.Path(folder) / "bench.h5"
    command = [args.ranklab, "train", "--mode", "single", "--model", "mnist-cnn", "--data", "fashion-mnist", "--threads", args.threads, "--batch-size", 64,
               "--steps", args.steps, "--warmup", args.warmup, "--evaluate", "off", "--quiet", "--output", output]
    if args.data_dir:
        command += ["--data-dir", args.data_dir]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, env=environment(args.threads, False))
    with h5py.File(output) as file:
        run = file["runs"][sorted(file["runs"])[-1]]
        # Wall time from the end of the warm-up to the end of the last step, with all that lies between steps: as on the other sides.
        seconds = run["samples/epoch_time_s"][()].sum() - run["warmup/step_time_s"][()].sum()
    output.unlink()
    return args.steps * 64 / seconds


def run_pytorch(args, variant, allocator):
    command = [sys.executable, HERE / "pytorch_mnist_example.py", "--variant", variant, "--data-dir", args.data_dir or "/usr/share/datasets/fashion-mnist",
               "--batch-size", 64, "--steps", args.steps, "--warmup", args.warmup, "--threads", args.threads]
    done = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, env=environment(args.threads, allocator))
    found = json.loads(done.stdout)
    args.facts = f"torch {found['torch']}, per-image transform of B: {found['transform']}" if variant == "example" else args.facts
    return found["samples_per_s"]


def measure(args, side, folder):
    if side == "A":
        return run_ranklab(args, folder)
    return run_pytorch(args, "example" if side.startswith("B") else "preloaded", side.endswith("'"))


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data-dir", type=pathlib.Path, help="folder of the four idx files (default: Debian's dataset-fashion-mnist)")
    parser.add_argument("--ranklab", type=pathlib.Path, default=HERE.parents[1] / "build" / "release" / "bin" / "ranklab")
    args = parser.parse_args()
    args.facts = ""

    for side, (what, allocator) in SIDES.items():
        print(f"# {side}: {what}; allocator: {allocator}")
    print(f"# batch 64, {args.steps} steps after {args.warmup} of warm-up, {args.threads} threads each, Adadelta(1.0), dropout on, fp32; load "
          f"{os.getloadavg()[0]:.2f} at the start\n")
    print("round  " + "".join(f"{side + ' img/s':>12}" for side in SIDES) + "".join(f"{'A/' + side:>8}" for side in list(SIDES)[1:]))
    rates = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory(prefix="ranklab-bench-") as folder:
        for round_number in range(args.rounds):
            # Every other round backwards, so that no side always runs first or after the same neighbour.
            order = list(SIDES) if round_number % 2 == 0 else list(reversed(SIDES))
            for side in order:
                rates[side].append(measure(args, side, folder))
            print(f"{round_number + 1:>5}  " + "".join(f"{rates[side][-1]:>12.1f}" for side in SIDES)
                  + "".join(f"{rates['A'][-1] / rates[side][-1]:>8.2f}" for side in list(SIDES)[1:]), flush=True)
    print(f"\n# {args.facts}")
    ratios = {side: [a / b for a, b in zip(rates["A"], rates[side])] for side in list(SIDES)[1:]}
    for side, values in ratios.items():
        print(f"A/{side}: median {median(values):.2f}, range {min(values):.2f} .. {max(values):.2f} over {len(values)} rounds"
              f"   (A {median(rates['A']):.0f}, {side} {median(rates[side]):.0f} img/s)")
    verdict, same = median(ratios["B"]), median(ratios["B'"])
    print(f"verdict: A/B {verdict:.2f} is {'at least' if verdict >= THRESHOLD else 'BELOW'} {THRESHOLD}; "
          f"with the same allocator settings on both sides (A/B') {same:.2f}; load {os.getloadavg()[0]:.2f} at the end")
    return 0 if verdict >= THRESHOLD else 4


if __name__ == "__main__":
    sys.exit(main())
