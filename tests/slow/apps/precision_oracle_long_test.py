"""PyTorch's torch.autocast and torch.amp.GradScaler as the oracle of whole runs over ten steps, for two networks. The short form:
tests/oracle/precision_oracle_test.py."""

import ranklab_cli as cli
from torch_oracle import OracleCase, np, torch

STEPS, BATCH = 10, 16


class PrecisionOracle(OracleCase):
    def test_losses_are_those_of_autocast(self):
        data = self.small_data(STEPS * BATCH)
        for model in ("mnist-cnn", "bn-cnn"):
            for precision, dtype, bound in (("bf16", torch.bfloat16, 2e-2), ("fp16", torch.float16, 3e-3)):
                with self.subTest(model=model, precision=precision):
                    losses, whole = (self.train(data, "--shuffle", "off", "--optimizer", "sgd", "--lr", 0.02, "--lr-schedule", "none", steps=STEPS, batch=BATCH,
                                                model=model, precision=one)[0] for one in (precision, "fp32"))
                    expected = self.autocast(data, model, dtype, STEPS, BATCH)
                    np.testing.assert_allclose(losses, expected, rtol=bound)
                    # The first forward pass is the same operations on the same numbers.
                    np.testing.assert_allclose(losses[0], expected[0], rtol=1e-5)
                    # The bound means something only where 16 bits are seen at all.
                    self.assertNotAlmostEqual(losses[0], whole[0], places=6)


if __name__ == "__main__":
    cli.main()
