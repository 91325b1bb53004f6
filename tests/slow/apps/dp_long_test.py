"""More of --mode dp: longer runs of each optimizer with and without dropout, batches that do not divide, and many runs of one seed."""

import ranklab_cli as cli
from stored_runs import RunCase

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")

CHECK = "replicas make one model's gradient"


class DpCase(RunCase):
    def data(self):
        folder = self.folder / "data"
        return ("--data", "mnist", "--data-dir", folder if folder.exists() else cli.make_idx(folder, 131, 21))

    def dp(self, replicas, *words, **how):
        return self.run_and_read("--mode", "dp", "--replicas", replicas, *words, **how)[1]

    def losses(self, run):
        return np.concatenate([run.warmup.get("train_loss", np.empty(0)).ravel(), run.samples["train_loss"].ravel()])

    def parameters(self, path):
        with h5py.File(path) as file:
            return {name: file[name][()] for name in file}


class EqualityTest(DpCase):
    def compare(self, n, *words):
        """131 samples in batches of 12: the 11th, of 11, does not divide by 2 or 3; 20 steps go on into the next epoch."""
        words = (*self.data(), "--model", "mnist-cnn", "--sharding", "exact", "--global-batch-size", 12, "--steps", 20, "--warmup", 0, "--precision", "fp64",
                 "--evaluate", "end", *words)
        dp = self.dp(n, *words, "--save-parameters", self.folder / "dp.h5")
        _, ddp = self.run_and_read("--mode", "ddp", *words, "--save-parameters", self.folder / "ddp.h5", ranks=n)
        self.assertEqual(len(self.losses(dp)), 20)
        np.testing.assert_allclose(self.losses(dp), self.losses(ddp), rtol=1e-9, atol=0)
        np.testing.assert_allclose(dp.samples["validation_loss"], ddp.samples["validation_loss"], rtol=1e-9)
        mine, theirs = self.parameters(self.folder / "dp.h5"), self.parameters(self.folder / "ddp.h5")
        self.assertEqual(mine.keys(), theirs.keys())
        for name, value in theirs.items():
            self.assertLess(np.linalg.norm(mine[name] - value), 1e-9 * np.linalg.norm(value), name)
        return self.losses(dp)

    def check_at(self, n):
        losses = [self.compare(n, "--optimizer", optimizer, "--dropout", dropout) for optimizer in ("sgd", "adadelta") for dropout in ("off", "on")]
        for i in range(4):
            for j in range(i):
                self.assertGreater(np.abs(losses[i] / losses[j] - 1).max(), 1e-3, "runs that should differ do not")

    def test_two_replicas_are_two_ranks(self):
        self.check_at(2)

    def test_three_replicas_are_three_ranks(self):
        self.check_at(3)

    def test_a_batch_that_does_not_divide_and_idle_replicas(self):
        """Batches of 10 on 3 replicas (4, 4, 2), of 4 on 3 (2, 2, none) and of 2 on 5 (1, 1, none ...): as one model alone."""
        for batch, replicas in ((10, 3), (4, 3), (2, 5)):
            words = (*self.data(), "--model", "mnist-cnn", "--batch-size", batch, "--steps", 8, "--warmup", 0, "--dropout", "off", "--precision", "fp64",
                     "--evaluate", "off", "--optimizer", "sgd")
            dp = self.dp(replicas, *words)
            _, single = self.run_and_read("--mode", "single", *words)
            np.testing.assert_allclose(self.losses(dp), self.losses(single), rtol=1e-9, atol=0)
            self.assertEqual(dp.verification[CHECK][0], "passed")
            idle = [r for r in range(replicas) if r * -(-batch // replicas) >= batch]
            self.assertTrue((dp.samples["replica_forward_time_s"][:, idle] == 0).all())
            self.assertEqual((dp.samples["replica_forward_time_s"] > 0).sum(), 8 * (replicas - len(idle)))

    def test_one_seed_is_one_run(self):
        """In fp32 with dropout, where a race would show: the very bits, whichever thread comes first."""
        words = (*self.data(), "--model", "mnist-cnn", "--batch-size", 9, "--steps", 12, "--evaluate", "off")
        first, *others = [self.losses(self.dp(3, *words)).tolist() for _ in range(3)]
        for other in others:
            self.assertEqual(other, first)
        self.assertNotEqual(self.losses(self.dp(3, *words, "--seed", 2)).tolist(), first)


if __name__ == "__main__":
    cli.main()
