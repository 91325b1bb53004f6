"""Compares a user's TorchScript networks with PyTorch's DistributedDataParallel, for equal weights and batches."""

import sys
import unittest

import ranklab_cli as cli

cli.need_train()
h5py, np, torch = cli.modules("h5py", "numpy", "torch")

import own_networks  # noqa: E402

BATCH, STEPS, LR, RANKS = 2, 20, 0.01, 2


class OwnNetwork(cli.Case):
    def losses(self, name):
        own_networks.export(name, self.folder, torch.float64)
        inputs, targets = own_networks.samples(name, BATCH * STEPS * RANKS)
        names = [f"{name}-{i}.npy" for i in range(len(inputs))]
        for file, values in zip((*names, f"{name}-y.npy"), (*inputs, targets)):
            np.save(self.folder / file, values)
        result = cli.ranklab("train", *own_networks.options(name), "--data", "npy", "--inputs", ",".join(names), "--targets", f"{name}-y.npy",
                             "--train-samples", BATCH * STEPS * RANKS, "--precision", "fp64", "--optimizer", "sgd", "--lr", LR,
                             "--batch-size", BATCH, "--steps", STEPS, "--warmup", 0, "--shuffle", "off", "--evaluate", "off", "--threads", 1,
                             "--overlap-steps", 0, "--output", f"{name}.h5", ranks=RANKS, cwd=self.folder, timeout=200)
        self.assertCode(result, 0)
        self.assertIn("verified      yes", result.stdout)
        with h5py.File(self.folder / f"{name}.h5") as file:
            (run,) = file["runs"].values()
            return run["samples/train_loss"][()].ravel()

    def test_losses_are_pytorchs(self):
        jobs = [cli.Job([sys.executable, "-B", cli.SOURCE / "tests/support/own_networks.py", self.folder / "rendezvous", self.folder / "ddp.npz", BATCH, STEPS, LR],
                        env=cli.environment(RANK=rank, WORLD_SIZE=RANKS, GLOO_SOCKET_IFNAME="lo")) for rank in range(RANKS)]
        for job in jobs:
            self.assertCode(job.finish(300), 0)
        with np.load(self.folder / "ddp.npz") as of_pytorch:
            for name in own_networks.NETWORKS:
                with self.subTest(name):
                    np.testing.assert_allclose(self.losses(name), of_pytorch[name], rtol=1e-9, atol=0)


if __name__ == "__main__":
    unittest.main()
