"""One damaged file per format: exit 3, one message that names the file, nothing stored, little memory, at one and three ranks. All kinds of damage:
tests/unit/data."""

import gzip
import struct

import ranklab_cli as cli
from ranklab_cli import IDX_FILES, Case, train

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")

TRAIN_IMAGES, TRAIN_LABELS = IDX_FILES[:2]
MEMORY = 1 << 30  # a run on good data takes 0.16 GiB
UNET = ("--model", "unet3d", "--width", 32, "--full-scale", "off", "--crop-edge", 32, "--data", "cosmology", "--train-samples", 6, "--validation-samples", 3,
        "--batch-size", 1, "--workers", 1)
RESNET = ("--model", "resnet18", "--width", 16, "--image-size", 32, "--data", "cifar100", "--batch-size", 2)


class DamagedData(Case):
    def train(self, *words, **how):
        return train(*words, "--steps", 2, "--warmup", 0, "--output", "r.h5", cwd=self.folder, **how)

    def refused(self, words, *parts, ranks=1):
        result = self.train(*words, ranks=ranks)
        self.assertSays(result, 3, *parts)
        self.assertLess(result.max_rss, MEMORY, str(result))
        self.assertEqual([name for name in self.names() if name.endswith("r.h5")], [], "a run that could not begin leaves nothing")

    def test_idx_files(self):
        """The command trains on undamaged files, found in RANKLAB_DATA or below it, gzipped or not; --data-dir overrides RANKLAB_DATA."""
        cli.make_idx(self.folder / "good" / "MNIST" / "raw", gz=True)
        bad = cli.make_idx(self.folder / "bad")
        env = cli.environment(RANKLAB_DATA=self.folder / "good")
        self.assertCode(train("--data", "mnist", "--steps", 2, "--output", "none", cwd=self.folder, env=env), 0)
        words = ("--data", "mnist", "--data-dir", bad)
        images, labels = ((bad / name).read_bytes() for name in (TRAIN_IMAGES, TRAIN_LABELS))
        self.assertCode(train(*words, "--steps", 2, "--output", "none", cwd=self.folder, env=env), 0)
        (bad / TRAIN_LABELS).write_bytes(labels[:-1] + b"\x0a")
        self.refused(words, bad / TRAIN_LABELS, "label 10", ranks=3)
        (bad / TRAIN_LABELS).unlink()
        self.refused(words, bad / TRAIN_LABELS)
        (bad / TRAIN_LABELS).write_bytes(labels)
        for content, part in ((images[:-1], "truncated"), (struct.pack(">IIII", 0x803, 0xFFFFFFFF, 28, 28) + images[16:], "truncated"),
                              (cli.idx_bytes(64, (27, 28))[0], "27 x 28")):
            (bad / TRAIN_IMAGES).write_bytes(content)
            self.refused(words, bad / TRAIN_IMAGES, part)
        (bad / TRAIN_IMAGES).unlink()
        packed = gzip.compress(images, 1)
        (bad / f"{TRAIN_IMAGES}.gz").write_bytes(packed[: len(packed) // 2])
        self.refused(words, bad / f"{TRAIN_IMAGES}.gz")

    def test_volumes(self):
        path = self.folder / "v.h5"
        with h5py.File(path, "w") as file:
            for field, channels in (("Nbody", 4), ("Hydro", 5)):
                file[field] = np.random.default_rng(1).standard_normal((channels, 40, 40, 40), dtype=np.float32) / 4
        words = (*UNET, "--data-dir", path)
        self.assertCode(train(*words, "--steps", 1, "--warmup", 0, "--evaluate", "off", "--output", "none", cwd=self.folder, ranks=3, timeout=120), 0)
        with h5py.File(path, "r+") as file:
            file["Hydro"][2, 20, 20, 20] = np.nan  # in every crop of edge 32 from edge 40
        result = self.train(*words, ranks=3)
        self.assertCode(result, 3)
        self.assertIn("v.h5", result.stderr)
        self.assertIn("Hydro[2, 20, 20, 20]", result.stderr)
        with h5py.File(path, "r+") as file:
            del file["Hydro"]
        self.refused(words, path, "Hydro")
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size // 2)
        self.refused(words, path)

    def test_cifar_files(self):
        self.assertCode(cli.ranklab("data", "make", "cifar100", "--output", "d", "--train", 40, "--test", 20, "--quiet", cwd=self.folder), 0)
        words = (*RESNET, "--data-dir", "d")
        self.assertCode(train(*words, "--steps", 1, "--warmup", 0, "--evaluate", "off", "--output", "none", cwd=self.folder), 0)
        (path,) = (self.folder / "d").rglob("train.bin")
        good = path.read_bytes()
        path.write_bytes(good[:3074] + b"\x01\xc8" + good[3076:])  # a label of 200
        self.refused(words, "train.bin", "200", ranks=3)
        path.write_bytes(good[:-100])
        self.refused(words, "train.bin")


if __name__ == "__main__":
    cli.main()
