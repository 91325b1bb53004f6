"""Crops of cosmology volumes: compares ranklab's loader with a torch DataLoader over h5py (pytorch_crops.py).

For each number of workers three sides alternate, every other round backwards; each is a process that measures after a warm-up:
  python      the DataLoader on the contiguous file, as published
  contiguous  ranklab's loader on that file
  chunked     ranklab's loader on equal numbers in crop-aligned chunks (C, 32, 32, 32)
Each side rotates every crop by one of the cube's rotations. Ratios are taken within a round. Exit code 4 if a median ratio is below
its target: 2 for `contiguous`, 10 for `chunked`. The files are made once in --folder (2 x 36 x edge^3 bytes) and read at the start,
so that all sides have a warm cache.

  python tests/bench/unet_crops.py --folder /scratch/crops --edge 512 --rounds 7
"""

import argparse
import pathlib
import re
import sys

import h5py
import numpy as np
import paired

CHANNELS = {"Nbody": 4, "Hydro": 5}
TARGETS = {"contiguous": 2.0, "chunked": 10.0}
BENCH = paired.HERE.parents[1] / "build" / "release" / "bench" / "crops_bench"


def make(path, edge, chunk):
    """Writes noise in whole slabs of chunks, so that each chunk is written once."""
    if path.exists():
        return
    unfinished = path.with_suffix(".part")
    random = np.random.default_rng(1)
    with h5py.File(unfinished, "w") as file:
        for name, channels in CHANNELS.items():
            chunks = (channels, chunk, chunk, chunk) if chunk else None
            dataset = file.create_dataset(name, (channels, edge, edge, edge), "f4", chunks=chunks)
            for x in range(0, edge, 64):
                dataset[:, x:x + 64] = random.standard_normal((channels, min(64, edge - x), edge, edge), dtype=np.float32)
    unfinished.rename(path)


def warm(path):
    with path.open("rb") as file:
        while file.read(1 << 24):
            pass


def command_of(side, files, workers, options):
    file = files["contiguous" if side == "python" else side]
    if side == "python":
        return [sys.executable, paired.HERE / "pytorch_crops.py", file, "--workers", workers, "--batch", options.batch, "--batches", options.batches]
    # FILE workers batch batches access rotate: more batches than Python's side, for about equal times
    return [options.bench, file, workers, options.batch, 4 * options.batches, options.access, 1]


def compare(workers, files, options):
    def measure(side):
        output = paired.run(command_of(side, files, workers, options), paired.environment(1))
        return float(re.search(r"samples/s ([0-9.]+)", output).group(1))

    def after_round(number, found):
        print(f"{workers} workers, round {number + 1}: " + ", ".join(f"{side} {values[-1]:.1f}" for side, values in found.items()), file=sys.stderr)

    found = paired.in_turn(["python", *TARGETS], options.rounds, measure, after_round)
    ratios = {side: [a / b for a, b in zip(found[side], found["python"])] for side in TARGETS}
    for side, values in found.items():
        print(f"{workers} workers  {side:<11} samples/s {paired.shown(values, 1)}")
    for side, values in ratios.items():
        print(f"{workers} workers  {side:<11} / python  {paired.shown(values, 2)}   target {TARGETS[side]:g}")
    return {"samples_per_s": {side: paired.summary(values) for side, values in found.items()},
            "ratio": {side: paired.summary(values) for side, values in ratios.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="for the two volume files; kept")
    parser.add_argument("--edge", type=int, default=512, help="of the volume; the pair takes 9 GiB at 512, 1.2 GiB at 256")
    parser.add_argument("--chunk", type=int, default=32)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--batches", type=int, default=20, help="of the Python side in a round; four times as many of ours")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--access", choices=["automatic", "mapped", "read", "library"], default="automatic")
    parser.add_argument("--bench", type=pathlib.Path, default=BENCH, help="build it with -DRANKLAB_BUILD_BENCH=ON")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    files = {"contiguous": options.folder / f"contiguous_{options.edge}.h5",
             "chunked": options.folder / f"chunked{options.chunk}_{options.edge}.h5"}
    make(files["contiguous"], options.edge, None)
    make(files["chunked"], options.edge, options.chunk)
    for file in files.values():
        warm(file)
    answers = {workers: compare(workers, files, options) for workers in options.workers}
    paired.write_json(options.json, {"edge": options.edge, "chunk": options.chunk, "batch": options.batch, "access": options.access, "workers": answers})
    missed = [f"{side} with {workers} workers" for workers, answer in answers.items() for side, target in TARGETS.items()
              if answer["ratio"][side]["median"] < target]
    if missed:
        print("below the target: " + ", ".join(missed))
        sys.exit(4)


if __name__ == "__main__":
    main()
