"""Compares a user's networks, in TorchScript and in Python, with PyTorch's DistributedDataParallel, for equal weights and batches."""

import sys
import unittest

import ranklab_cli as cli

cli.need_train()
h5py, np, torch = cli.modules("h5py", "numpy", "torch")

import own_networks  # noqa: E402

BATCH, STEPS, LR = 2, 20, 0.01


class OwnNetwork(cli.Case):
    module = "own_networks"  # of tests/support, which has the networks and runs PyTorch's ranks

    def losses(self, name, kind, ranks, *words):
        """Returns the losses of name.KIND."""
        inputs, targets = own_networks.samples(name, BATCH * STEPS * ranks)
        names = [f"{name}-{i}.npy" for i in range(len(inputs))]
        for file, values in zip((*names, f"{name}-y.npy"), (*inputs, targets)):
            np.save(self.folder / file, values)
        output = f"{name}-{kind}-{ranks}{''.join(map(str, words))}.h5"
        result = cli.ranklab("train", "--model", f"{name}.{kind}", *own_networks.options(name)[2:], "--data", "npy", "--inputs", ",".join(names), "--targets", f"{name}-y.npy",
                             "--train-samples", BATCH * STEPS * ranks, "--precision", "fp64", "--optimizer", "sgd", "--lr", LR,
                             "--batch-size", BATCH, "--steps", STEPS, "--warmup", 0, "--shuffle", "off", "--evaluate", "off", "--threads", 1,
                             "--overlap-steps", 0, *words, "--output", output, ranks=ranks, cwd=self.folder, timeout=200)
        self.assertCode(result, 0)
        self.assertIn("verified      yes", result.stdout)
        with h5py.File(self.folder / output) as file:
            (run,) = file["runs"].values()
            return run["samples/train_loss"][()].ravel()

    def losses_in_ddp(self, ranks, *words):
        """Returns {name: losses} of PyTorch."""
        output = self.folder / f"ddp-{ranks}.npz"
        jobs = [cli.Job([sys.executable, "-B", cli.SOURCE / f"tests/support/{self.module}.py", self.folder / f"rendezvous-{ranks}", output, BATCH, STEPS, LR, *words],
                        env=cli.environment(RANK=rank, WORLD_SIZE=ranks, GLOO_SOCKET_IFNAME="lo")) for rank in range(ranks)]
        for job in jobs:
            self.assertCode(job.finish(300), 0)
        with np.load(output) as found:
            return dict(found)

    def test_losses_are_pytorchs(self):
        for name in own_networks.NETWORKS:
            (self.folder / f"{name}.py").write_text(own_networks.python_file(name, self.module))
            if self.module == "own_networks":
                own_networks.export(name, self.folder, torch.float64)
        for ranks in (1, 2):
            of_pytorch = self.losses_in_ddp(ranks)
            for name in own_networks.NETWORKS:
                for kind in ("py", "pt") if ranks > 1 and self.module == "own_networks" else ("py",):
                    with self.subTest(name, kind=kind, ranks=ranks):
                        np.testing.assert_allclose(self.losses(name, kind, ranks), of_pytorch[name], rtol=1e-9, atol=0)

    def test_parameters_that_a_step_leaves_out_keep_their_values_and_momentum(self):
        if self.module != "own_networks":
            self.skipTest("it is about one network of own_networks")
        own_networks.export("heads", self.folder, torch.float64)
        (self.folder / "heads.py").write_text(own_networks.python_file("heads"))
        for ranks, syncs in ((1, ("none",)), (2, [name for name in cli.sync_strategies() if name != "none"]), (3, ("bucketed",))):
            losses = self.losses_in_ddp(ranks, "--networks", "heads", "--momentum", 0.9)["heads"]
            for sync in syncs:
                for kind in ("py", "pt") if sync == "flat" else ("pt",):
                    with self.subTest(ranks=ranks, sync=sync, kind=kind):
                        mine = self.losses("heads", kind, ranks, "--momentum", 0.9, "--sync", sync)
                        np.testing.assert_allclose(mine, losses, rtol=1e-9, atol=0)


if __name__ == "__main__":
    unittest.main()
