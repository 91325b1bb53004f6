"""Damaged inputs (README.md): idx, CIFAR-100, npy and HDF5 files, users' networks, CSV and INI files with flipped bytes and cut ends,
random command lines and configuration files. Each program ends with a documented exit code and at most one message."""

import collections
import gzip
import os
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs  # noqa: E402
import ranklab_cli as cli  # noqa: E402

SEED = os.environ.get("RANKLAB_FUZZ_SEED", "1")
COUNT = int(os.environ.get("RANKLAB_FUZZ_COUNT", "150"))


def npy():
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 2, 2, 2), }"
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(128)


def hdf5(folder):
    import h5py
    import numpy as np

    with h5py.File(folder / "whole.h5", "w", libver="earliest") as file:
        file.create_dataset("x", data=np.arange(160, dtype="f4").reshape(20, 8), chunks=(5, 8), compression="gzip")
        file["y"] = np.arange(20) % 5
    return (folder / "whole.h5").read_bytes()


def network(folder):
    import torch

    torch.jit.save(torch.jit.script(torch.nn.Sequential(torch.nn.Linear(8, 9), torch.nn.ReLU(), torch.nn.Linear(9, 5))), folder / "whole.pt")
    return (folder / "whole.pt").read_bytes()


TRAIN = ("train", "--threads", 1, "--steps", 2, "--batch-size", 2, "--evaluate", "off", "--output", "none")
OWN = (*TRAIN, "--model", "net.pt", "--input-shape", 8, "--classes", 5)
# name: a sound file, or a function that makes one, and the command that reads it
FILES = {
    "train-images-idx3-ubyte": (struct.pack(">4I", 0x803, 3, 28, 28) + bytes(3 * 784), ("data", "verify", "train-images-idx3-ubyte")),
    "train-labels-idx1-ubyte.gz": (gzip.compress(struct.pack(">2I", 0x801, 30) + bytes(30), 1), ("data", "verify", "train-labels-idx1-ubyte.gz")),
    "train.bin": ((b"\x04\x00" + bytes(3072)) * 3, ("data", "verify", "train.bin")),
    "x.npy": (npy(), ("data", "verify", "x.npy")),
    "x.h5": (hdf5, ("data", "verify", "x.h5:/x")),
    "points.csv": (b"# source: a\nranks,time_s,low,high\n" + b"".join(b"%d,%g,%g,%g\n" % (n, 1 / n, 0.9 / n, 1.1 / n) for n in (1, 2, 4, 8, 16)),
                   ("predict", "--points", "points.csv", "--to", 64)),
    "c.ini": (b"[campaign]\nname = c\n[w]\ncommand = io\nranks = 1,2\nsize = 10,20\ntime = 00:10:00\n[t]\ncommand = train\nsync = flat,bucketed\n",
              ("campaign", "plan", "c.ini")),
    "x.ini": (b"model = template-softmax\ndata = synthetic\nsteps = 4\nbatch-size = 8\nlr = 0.1\n", ("train", "--config", "x.ini", "--dry-run")),
    "net.pt": (network, OWN),
}


def damaged(chance, data):
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(min(len(data), chance.choice((32, len(data)))))
        data[at] = chance.choice((0, 1, 0x7f, 0x80, 0xff, data[at] ^ (1 << chance.randrange(8))))
    if chance.random() < 0.2:
        data = data[:chance.randrange(len(data))]
    return bytes(data)


class Fuzz(cli.Case):
    def test_files(self):
        for name, (sound, words) in FILES.items():
            if words[0] == "train" and not cli.HAS_TRAIN: continue
            if callable(sound): sound = sound(self.folder)
            chance = random.Random(f"{SEED} {name}")
            path = self.folder / name
            codes = collections.Counter()
            path.write_bytes(sound)
            self.assertCode(cli.ranklab(*words, cwd=self.folder), 0)
            count = COUNT // 2 if words[0] == "train" else COUNT  # loading LibTorch takes a second
            for number in range(count):
                path.write_bytes(damaged(chance, sound))
                result = cli.ranklab(*words, cwd=self.folder, timeout=60)
                codes[result.code] += 1
                self.assertIn(result.code, (0, 2, 3, 4, 6), f"{name} {number} of seed {SEED}: {result}")
                self.assertLess(result.max_rss, 2 << 30)
                self.assertLessEqual(len([line for line in result.said if not line.startswith("warning: ")]), 1, str(result))
            print(f"{name}: {count} mutations of seed {SEED} ended with {dict(codes)}")

    def test_command_lines_and_configurations(self):
        self.assertEqual(programs.main(["--count", str(COUNT), "--seed", SEED]), 0)


if __name__ == "__main__":
    cli.main()
