"""Damaged inputs of ranklab's own parsers (README.md): idx, CIFAR-100, npy, CSV and INI files with flipped bytes and cut ends, random
command lines and configuration files. Each program ends with a documented exit code and at most one message."""

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


FILES = {
    "train-images-idx3-ubyte": struct.pack(">4I", 0x803, 3, 28, 28) + bytes(3 * 784),
    "train-labels-idx1-ubyte.gz": gzip.compress(struct.pack(">2I", 0x801, 30) + bytes(30), 1),
    "train.bin": (b"\x04\x00" + bytes(3072)) * 3,
    "x.npy": npy(),
    "points.csv": b"# source: a\nranks,time_s,low,high\n" + b"".join(b"%d,%g,%g,%g\n" % (n, 1 / n, 0.9 / n, 1.1 / n) for n in (1, 2, 4, 8, 16)),
    "c.ini": b"[campaign]\nname = c\n[w]\ncommand = io\nranks = 1,2\nsize = 10,20\ntime = 00:10:00\n[t]\ncommand = train\nsync = flat,bucketed\n",
}
COMMANDS = {"points.csv": ("predict", "--points"), "c.ini": ("campaign", "plan")}


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
        for name, sound in FILES.items():
            chance = random.Random(f"{SEED} {name}")
            path = self.folder / name
            for number in range(COUNT):
                path.write_bytes(damaged(chance, sound))
                result = cli.ranklab(*COMMANDS.get(name, ("data", "verify")), name, cwd=self.folder, timeout=60)
                self.assertIn(result.code, (0, 2, 3) if name in COMMANDS else (0, 3), f"{name} {number} of seed {SEED}: {result}")
                self.assertLess(result.max_rss, 2 << 30)
                self.assertLessEqual(len(result.said), 1, str(result))

    def test_command_lines_and_configurations(self):
        self.assertEqual(programs.main(["--count", str(COUNT), "--seed", SEED]), 0)


if __name__ == "__main__":
    cli.main()
