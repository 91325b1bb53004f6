"""PyTorch's ZeroRedundancyOptimizer and fully_shard (gloo) as the oracles of `ranklab train --zero`: the same losses and final parameters
from the same weights and batches, with AdamW, accumulation and clipping."""

import ranklab_cli as cli
from torch_oracle import OracleCase, in_ddp, np

RANKS, BATCH, STEPS, ACCUMULATE, LR, CLIP = 3, 4, 30, 2, 1e-3, 0.5


class ShardingOracle(OracleCase):
    def test_losses_and_parameters_are_pytorchs(self):
        data = self.small_data(RANKS * BATCH * STEPS * ACCUMULATE)
        common = {"model": "mnist-cnn", "batch": BATCH, "steps": STEPS, "accumulate": ACCUMULATE, "lr": LR, "clip": CLIP, "seed": 1}
        oracle = in_ddp({shard: dict(common, shard=shard) for shard in ("zero-redundancy", "fully-shard")}, data, RANKS, self.folder / "pytorch")
        for stage, shard in ((1, "zero-redundancy"), (2, "fully-shard"), (3, "fully-shard")):
            with self.subTest(stage=stage):
                losses, parameters, _ = self.train(data, "--zero", stage, "--optimizer", "adamw", "--lr", LR, "--lr-schedule", "none", "--accumulate", ACCUMULATE,
                                                   "--clip-gradients", CLIP, "--bucket-cap-mb", 0.1, ranks=RANKS, steps=STEPS, batch=BATCH)
                np.testing.assert_allclose(losses, oracle[shard]["losses"], rtol=1e-9, atol=0)
                wanted = {name.partition("/")[2]: values.ravel() for name, values in oracle[shard].items() if name.startswith("parameters/")}
                self.assertSameTensors(parameters, wanted, 1e-9)


if __name__ == "__main__":
    cli.main()
