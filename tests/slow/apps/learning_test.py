"""Training learns within seconds: the validation loss halves in a fixed number of steps, at one and two ranks and after a resume, and does not if
input and target are unrelated."""


import ranklab_cli as cli

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")


class Learning(cli.Case):
    """WORDS train a network in STEPS steps at the learning rate RATE."""

    def train(self, *words, ranks=1, steps=None, rate=None, code=0):
        """Returns (validation losses of the epochs, training losses). The global batch is equal at any rank count. rate=0 leaves the network
        untrained."""
        output = self.folder / "l.h5"
        output.unlink(missing_ok=True)
        result = cli.ranklab("train", *self.WORDS, "--threads", 1, "--warmup", 0, "--overlap-steps", 0, "--memory-format", "contiguous", "--evaluate", "epoch", "--output", output,
                             "--steps", steps or self.STEPS, "--lr", self.RATE if rate is None else rate, *words, ranks=ranks, cwd=self.folder, timeout=600)
        self.assertCode(result, code)
        with h5py.File(output) as file:
            (run,) = file["runs"].values()
            return run["tables/epochs"]["validation_loss"], run["samples/train_loss"][()].ravel()

    def check(self, data, shuffled):
        first = self.first_loss_on(data)
        alone, losses = self.train("--data-dir", data)
        self.assertLess(alone[-1], first / 2)
        together, two_losses = self.train("--data-dir", data, ranks=2)
        self.assertLess(together[-1], first / 2)
        np.testing.assert_allclose(two_losses[:3], losses[:3], rtol=self.SAME, err_msg="the same global batches")
        wrong, _ = self.train("--data-dir", shuffled)
        self.assertGreater(wrong[-1], first / 2, "nothing is to be learned from targets of other samples")
        self.check_resumed(data, alone, losses)

    def first_loss_on(self, data):
        return self.train("--data-dir", data, rate=0, steps=1)[0][-1]

    def check_resumed(self, data, unbroken, losses):
        half = self.STEPS // 2
        self.train("--data-dir", data, "--checkpoint", "ck", steps=half)
        at_end, rest = self.train("--data-dir", data, "--checkpoint", "ck", "--resume")
        np.testing.assert_array_equal(rest, losses[half:], "bit by bit the unbroken run")
        self.assertEqual(at_end[-1], unbroken[-1])


class ResNet18(Learning):
    WORDS = ("--model", "resnet18", "--width", 8, "--data", "cifar100", "--image-size", 32, "--global-batch-size", 64, "--workers", 1,
             "--no-broadcast-buffers", "--train-samples", 1000, "--validation-samples", 200)
    RATE = 0.05
    STEPS = 60
    SAME = 0.1  # each rank's BatchNorm uses its half of the batch

    def test_it_learns_what_there_is_to_learn(self):
        made = cli.ranklab("data", "make", "cifar100", "--output", "cifar", "--train", 1000, "--test", 200, "--quiet", ranks=2, cwd=self.folder, timeout=120)
        self.assertCode(made, 0)
        folder = next((self.folder / "cifar").rglob("train.bin")).parent
        other = self.folder / "shuffled"
        other.mkdir()
        for name in ("train.bin", "test.bin"):
            records = np.fromfile(folder / name, np.uint8).reshape(-1, 3074)
            order = np.random.default_rng(1).permutation(len(records))
            records[:, :2] = records[order, :2]
            records.tofile(other / name)
        self.check("cifar", "shuffled")


class UNet(Learning):
    WORDS = ("--model", "unet3d", "--width", 8, "--full-scale", "off", "--crop-edge", 32, "--data", "cosmology", "--global-batch-size", 4,
             "--lr-schedule", "none", "--workers", 1, "--train-samples", 240, "--validation-samples", 16)
    RATE = 2e-3
    STEPS = 60
    SAME = 1e-3

    def test_it_learns_what_there_is_to_learn(self):
        made = cli.ranklab("data", "make", "cosmology", "v.h5", "--edge", 96, "--quiet", ranks=2, cwd=self.folder, timeout=300)
        self.assertCode(made, 0)
        # Targets from another place: input and target of a crop are unrelated.
        with h5py.File(self.folder / "v.h5") as good, h5py.File(self.folder / "w.h5", "w") as bad:
            bad["Nbody"] = good["Nbody"][()]
            bad["Hydro"] = np.roll(good["Hydro"][()], 48, axis=(1, 2, 3))
        self.check("v.h5", "w.h5")


if __name__ == "__main__":
    cli.main()
