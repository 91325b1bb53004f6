"""The Python side of unet_crops.py: random crops of a volume file as in the published U-Net workload's `lowmem` loader: h5py's
read_direct in the worker processes of a torch DataLoader, and one of the cube's 24 rotations by numpy's flips and transposes, equal
for input and target. Prints `samples/s X` for each of --repeats measurements after a warm-up.
"""

import argparse
import itertools
import time

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

CHANNELS = {"Nbody": 4, "Hydro": 5}


def turns():
    """Returns (axes, flipped axes) of the 24 proper rotations."""
    found = []
    for axes in itertools.permutations(range(3)):
        swaps = sum(axes[i] > axes[j] for i in range(3) for j in range(i + 1, 3))
        for flips in itertools.product((False, True), repeat=3):
            if (swaps + sum(flips)) % 2 == 0:
                found.append((tuple(1 + axis for axis in axes), tuple(1 + k for k in range(3) if flips[k])))
    return found


class Crops(Dataset):
    def __init__(self, path, edge, samples, rotate):
        self.path, self.edge, self.samples, self.turns = path, edge, samples, turns() if rotate else None
        self.file = None

    def __len__(self):
        return self.samples

    def open(self):
        """Opens the file in each worker, since an open HDF5 file does not survive a fork."""
        self.file = h5py.File(self.path, "r")
        worker = get_worker_info()
        self.random = np.random.default_rng(worker.seed % 2**32 if worker else 0)
        self.last = self.file["Nbody"].shape[1] - self.edge

    def __getitem__(self, index):
        if self.file is None:
            self.open()
        x, y, z = self.random.integers(0, self.last + 1, 3)
        e = self.edge
        crop = []
        for name, channels in CHANNELS.items():
            values = np.empty((channels, e, e, e), np.float32)
            self.file[name].read_direct(values, np.s_[0:channels, x:x + e, y:y + e, z:z + e], np.s_[0:channels, 0:e, 0:e, 0:e])
            crop.append(values)
        if self.turns:
            axes, flips = self.turns[self.random.integers(24)]
            crop = [np.ascontiguousarray(np.flip(np.transpose(values, (0, *axes)), flips)) for values in crop]
        return torch.from_numpy(crop[0]), torch.from_numpy(crop[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--edge", type=int, default=64)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--no-rotate", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    crops = Crops(options.file, options.edge, options.batch * options.batches, not options.no_rotate)
    loader = DataLoader(crops, batch_size=options.batch, num_workers=options.workers, persistent_workers=options.workers > 0)
    for repeat in range(options.repeats + 1):
        start = time.perf_counter()
        total = sum(float(inputs[0, 0, 0, 0, 0]) for inputs, _ in loader)
        seconds = time.perf_counter() - start
        if repeat > 0:
            print(f"samples/s {len(crops) / seconds:.1f} sum {total:.1f}", flush=True)


if __name__ == "__main__":
    main()
