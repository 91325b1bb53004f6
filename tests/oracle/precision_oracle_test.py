"""PyTorch's torch.autocast and torch.amp.GradScaler as the oracle of whole runs: `ranklab train --precision bf16` and `fp16` have the
losses of PyTorch's network, within a few units of the last of 16 bits."""

import ranklab_cli as cli
from torch_oracle import OracleCase, np, torch

STEPS, BATCH = 4, 8


class PrecisionOracle(OracleCase):
    def test_losses_are_those_of_autocast(self):
        data = self.small_data(STEPS * BATCH)
        for precision, dtype, bound in (("bf16", torch.bfloat16, 2e-2), ("fp16", torch.float16, 3e-3)):
            losses, whole = (self.train(data, "--shuffle", "off", "--optimizer", "sgd", "--lr", 0.02, "--lr-schedule", "none", steps=STEPS, batch=BATCH,
                                        model="bn-cnn", precision=one)[0] for one in (precision, "fp32"))
            expected = self.autocast(data, "bn-cnn", dtype, STEPS, BATCH)
            np.testing.assert_allclose(losses, expected, rtol=bound)
            np.testing.assert_allclose(losses[0], expected[0], rtol=1e-5, err_msg="the same operations on the same numbers")
            self.assertNotAlmostEqual(losses[0], whole[0], places=6, msg="16 bits are not seen")


if __name__ == "__main__":
    cli.main()
