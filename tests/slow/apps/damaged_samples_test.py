"""Volumes and CIFAR-100 files that are not what they should be: `ranklab train` says so in one sentence, with the agreed code, at one
and three ranks, and does not hang. (`ranklab data`: data_program_test.py.)"""

import shutil

import ranklab_cli as cli

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")

EDGE = 40
UNET = ("--model", "unet3d", "--width", 32, "--full-scale", "off", "--crop-edge", 32, "--data", "cosmology", "--train-samples", 12, "--validation-samples", 3,
        "--batch-size", 1, "--steps", 3, "--warmup", 0, "--evaluate", "end", "--threads", 1, "--workers", 1, "--output", "none")
RESNET = ("--model", "resnet18", "--width", 16, "--image-size", 32, "--data", "cifar100", "--batch-size", 2, "--steps", 2, "--warmup", 0, "--threads", 1,
          "--output", "none")


class SampleErrors(cli.Case):
    def check(self, words, data, code, *parts):
        for ranks in (1, 3):
            with self.subTest(ranks=ranks, data=data):
                result = cli.ranklab("train", *words, "--data-dir", data, ranks=ranks, cwd=self.folder, timeout=90)
                self.assertSays(result, code, *parts)

    def volume(self, name, change=lambda file: None):
        path = self.folder / name
        random = np.random.default_rng(1)
        with h5py.File(path, "w") as file:
            for field, channels in (("Nbody", 4), ("Hydro", 5)):
                file[field] = random.standard_normal((channels, EDGE, EDGE, EDGE), dtype=np.float32) / 4
            change(file)
        return path

    def replaced(self, name, field, values):
        def change(file):
            del file[field]
            if values is not None:
                file[field] = values
        return self.volume(name, change)

    def test_a_good_volume_trains(self):
        self.volume("good.h5")
        for ranks in (1, 3):
            self.assertCode(cli.ranklab("train", *UNET, "--data-dir", "good.h5", ranks=ranks, cwd=self.folder, timeout=120), 0)

    def test_volumes_that_are_not_what_they_should_be(self):
        (self.folder / "text.h5").write_text("not HDF5 at all\n")
        (self.folder / "empty.h5").write_bytes(b"")
        cut = self.volume("cut.h5")
        with cut.open("r+b") as file:
            file.truncate(cut.stat().st_size // 2)
        self.replaced("none.h5", "Hydro", None)
        self.replaced("flat.h5", "Hydro", np.zeros((5, EDGE, EDGE), np.float32))
        self.replaced("ints.h5", "Nbody", np.zeros((4, EDGE, EDGE, EDGE), np.int32))
        self.replaced("three.h5", "Nbody", np.zeros((3, EDGE, EDGE, EDGE), np.float32))
        self.replaced("other.h5", "Hydro", np.zeros((5, EDGE + 1, EDGE + 1, EDGE + 1), np.float32))
        for name in ("text", "empty", "cut", "none", "flat", "ints", "three", "other", "missing"):
            self.check(UNET, f"{name}.h5", 3, f"{name}.h5")

    def test_numbers_that_are_none(self):
        """Every crop of 32 of 40 holds the middle; the sentence names the place, whichever rank or worker meets it."""
        for value in (np.nan, np.inf):
            def spoil(file, value=value):
                file["Hydro"][2, 20, 20, 20] = value
            self.volume("nan.h5", spoil)
            for ranks in (1, 3):
                result = cli.ranklab("train", *UNET, "--data-dir", "nan.h5", ranks=ranks, cwd=self.folder, timeout=90)
                self.assertCode(result, 3)
                self.assertIn("nan.h5", result.stderr)
                self.assertIn("Hydro[2, 20, 20, 20]", result.stderr)

    def test_crops_larger_than_the_volume_and_too_few_samples(self):
        self.volume("v.h5")
        large = [64 if word == 32 and before == "--crop-edge" else word for before, word in zip(("", *UNET), UNET)]
        self.check(large, "v.h5", 3, "64", "40")
        few = [2 if before == "--train-samples" else word for before, word in zip(("", *UNET), UNET)]
        result = cli.ranklab("train", *few, "--data-dir", "v.h5", ranks=3, cwd=self.folder, timeout=90)
        self.assertSays(result, 2, "2", "3")

    def test_cifar_files(self):
        made = cli.ranklab("data", "make", "cifar100", "--output", "good", "--train", 40, "--test", 20, "--quiet", cwd=self.folder)
        self.assertCode(made, 0)
        self.assertCode(cli.ranklab("train", *RESNET, "--data-dir", "good", ranks=3, cwd=self.folder, timeout=120), 0)
        spoilt = {"cut": lambda train: train[:-100], "long": lambda train: train + b"x", "label": lambda train: train[:3074] + b"\x01\xc8" + train[3076:],
                  "nothing": lambda train: b""}
        for name, change in spoilt.items():
            shutil.copytree(self.folder / "good", self.folder / name)
            (path,) = (self.folder / name).rglob("train.bin")
            path.write_bytes(change(path.read_bytes()))
            self.check(RESNET, name, 3, "train.bin")
        (self.folder / "bare").mkdir()
        self.check(RESNET, "bare", 3, "bare", "--data-dir")
        self.check((*RESNET, "--train-samples", 41), "good", 2, "41", "40")


if __name__ == "__main__":
    cli.main()
