"""PyTorch as the oracle: twenty steps on the whole data set, the wide model, the published workload in fp32, and padded shares of samples."""

import ranklab_cli as cli
from torch_oracle import FASHION_MNIST, Oracle, OracleCase, h5py, make_twin, np, torch


class OracleTest(OracleCase):
    def test_the_wide_model_computes_its_twins_losses(self):
        """A parameter file would have 300 MB: the losses are compared instead."""
        data = self.small_data(64)
        result = cli.ranklab("train", "--model", "wide-mlp", "--data", "mnist", "--data-dir", data, "--steps", 3, "--warmup", 0, "--batch-size", 8, "--lr", 0.05,
                             "--precision", "fp64", "--evaluate", "off", "--threads", 1, "--output", self.folder / "r.h5", cwd=self.folder, timeout=120)
        self.assertCode(result, 0)
        with h5py.File(self.folder / "r.h5") as file:
            (run,) = file["runs"].values()
            losses = run["samples/train_loss"][()].ravel()
        oracle = Oracle(data, steps=3, batch=8, net=make_twin("wide-mlp", 1, torch.float64))
        np.testing.assert_allclose(losses, oracle.losses, rtol=1e-9, atol=0)

    def test_twenty_steps_of_adadelta_on_the_whole_data_set(self):
        data = FASHION_MNIST if FASHION_MNIST.exists() else self.small_data(2000)
        mine = self.train(data, "--optimizer", "adadelta", "--lr", 1.0, steps=20, batch=64)
        self.assertSameTraining(mine, Oracle(data, steps=20, batch=64, optimizer="adadelta", lr=1.0))

    def test_ranks_share_the_batches_as_distributed_sampler_deals_them(self):
        """241 images do not divide by the ranks: shares are padded by wrapping around, across an epoch boundary."""
        data = self.small_data(241)
        for ranks, sync in ((2, "flat"), (3, "per-parameter")):
            with self.subTest(ranks=ranks):
                mine = self.train(data, "--optimizer", "sgd", "--lr", 0.05, "--lr-schedule", "step", "--gamma", 0.7, "--sync", sync, steps=20, batch=12, ranks=ranks)
                self.assertSameTraining(mine, Oracle(data, steps=20, batch=12, world=ranks, gamma=0.7))

    def test_the_published_workload_in_fp32_begins_alike(self):
        """Adadelta with dropout in fp32, 5 steps: rounding makes longer runs diverge (PyTorch with split batches: 7e-3 after 20 steps)."""
        data = self.small_data(400)
        losses, _, _ = self.train(data, steps=5, batch=64, precision="fp32", dropout="on")
        oracle = Oracle(data, steps=5, batch=64, optimizer="adadelta", lr=1.0, gamma=0.7, dtype=torch.float32, dropout=True)
        np.testing.assert_allclose(losses, oracle.losses, rtol=1e-4, atol=0)


if __name__ == "__main__":
    cli.main()
