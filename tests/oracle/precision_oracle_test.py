"""PyTorch's torch.autocast and torch.amp.GradScaler as the oracle of whole runs: `ranklab train --precision bf16` and `fp16` make the losses
that the same network in Python makes. In 16 bits, where two ways to one number may differ in its last bit: the bound is a few of these."""

import pathlib
import sys

try:
    import h5py
    import numpy as np
    import torch
    import torch.nn.functional as F
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed for this Python; ./bootstrap makes one that has it")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ranklab_cli as cli  # noqa: E402
from twins import make_twin, normalised, read_idx  # noqa: E402

if not cli.HAS_TRAIN:
    print(f"SKIPPED: there is no ranklab-train in {cli.BIN}")
    sys.exit(77)

STEPS, BATCH = 10, 16


class PrecisionOracle(cli.Case):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)

    def mine(self, data, model, *words):
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        result = cli.ranklab("train", "--model", model, "--memory-format", "contiguous", "--data", "mnist", "--data-dir", data, "--steps", STEPS, "--warmup", 0, "--batch-size", BATCH,
                             "--shuffle", "off", "--dropout", "off", "--optimizer", "sgd", "--lr", 0.02, "--lr-schedule", "none", "--evaluate", "off", "--threads", 1,
                             "--output", output, *words, cwd=self.folder, timeout=200)
        self.assertCode(result, 0)
        with h5py.File(output) as file:
            (run,) = file["runs"].values()
            return run["samples/train_loss"][()].ravel()

    def oracle(self, data, model, dtype):
        images, labels = read_idx(data, "train")
        net = make_twin(model, 1, torch.float32)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
        scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16)
        losses = []
        for step in range(STEPS):
            part = slice(step * BATCH, (step + 1) * BATCH)
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=dtype, enabled=dtype is not None):
                loss = F.nll_loss(net(normalised(images[part], torch.float32)), labels[part])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        return np.array(losses)

    def test_losses_are_those_of_autocast(self):
        data = cli.make_idx(self.folder / "data", STEPS * BATCH, 20)
        for model in ("mnist-cnn", "bn-cnn"):
            for precision, dtype, bound in (("bf16", torch.bfloat16, 2e-2), ("fp16", torch.float16, 3e-3)):
                with self.subTest(model=model, precision=precision):
                    losses = self.mine(data, model, "--precision", precision)
                    expected = self.oracle(data, model, dtype)
                    np.testing.assert_allclose(losses, expected, rtol=bound)
                    # The first forward pass is the same operations on the same numbers.
                    np.testing.assert_allclose(losses[0], expected[0], rtol=1e-5)
                    # The bound means something only where 16 bits are seen at all.
                    self.assertNotAlmostEqual(losses[0], self.mine(data, model, "--precision", "fp32")[0], places=6)


if __name__ == "__main__":
    cli.main()
