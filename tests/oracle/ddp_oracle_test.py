"""PyTorch's DistributedDataParallel as the oracle of `ranklab train` on three ranks: with equal seed and data, every gradient sync that
keeps ranks equal gives DDP's losses, gradients and final parameters.

29 images do not divide by 3, so the shares are padded, and 5 steps cross an epoch boundary. PyTorch trains once for all gradient
syncs."""

import ranklab_cli as cli
from torch_oracle import OracleCase, in_ddp, make_twin, np, torch

RANKS, IMAGES, BATCH, STEPS, LR, GAMMA, SEED = 3, 29, 4, 5, 0.05, 0.7, 5
# After one step at this rate the parameters are mostly the gradient times the rate: rounding loses 2^-24 of the gradient's scale,
# not of the weights'. A power of two, so that the division is exact.
LARGE_LR = 1024.0


class DdpOracle(OracleCase):
    def mine(self, data, sync, precision="fp64", steps=STEPS, lr=LR, model="bn-cnn"):
        return self.train(data, "--mode", "ddp", "--sync", sync, "--optimizer", "sgd", "--lr", lr, "--lr-schedule", "step", "--gamma", GAMMA,
                          ranks=RANKS, steps=steps, batch=BATCH, seed=SEED, precision=precision, model=model)

    def test_losses_parameters_and_the_first_gradients_are_those_of_ddp(self):
        data = self.small_data(IMAGES)
        common = {"batch": BATCH, "seed": SEED, "lr": LR, "gamma": GAMMA}
        oracle = in_ddp({"long": dict(common, model="bn-cnn", dtype="float64", steps=STEPS), "first": dict(common, model="mnist-cnn", dtype="float32", steps=1)},
                        data, RANKS, self.folder / "pytorch")

        def tensors(case, kind):
            return {name.partition("/")[2]: values.ravel() for name, values in oracle[case].items() if name.startswith(kind + "/")}

        syncs = cli.sync_strategies()
        self.assertGreaterEqual(set(syncs), {"none", "per-parameter", "flat", "bucketed", "c10d"})
        for sync in syncs:
            with self.subTest(sync=sync):
                losses, parameters, _ = self.mine(data, sync)
                if sync == "none":
                    self.assertGreater(np.abs(losses / oracle["long"]["losses"] - 1).max(), 1e-6, "the comparison sees nothing")
                    continue
                np.testing.assert_allclose(losses, oracle["long"]["losses"], rtol=1e-9, atol=0)
                self.assertSameTensors(parameters, tensors("long", "parameters"), 1e-9)
        losses, parameters, _ = self.mine(data, "bucketed", "fp32", 1, LARGE_LR, "mnist-cnn")
        np.testing.assert_allclose(losses, oracle["first"]["losses"], rtol=1e-6)
        start = {name: p.detach().double().numpy().ravel() for name, p in make_twin("mnist-cnn", SEED, torch.float32).named_parameters()}
        self.assertSameTensors({name: (start[name] - values) / LARGE_LR for name, values in parameters.items()}, tensors("first", "gradients"), 1e-5)


if __name__ == "__main__":
    cli.main()
