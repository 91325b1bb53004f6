"""A user's own network, TorchScript from a file."""

import subprocess
import sys
import unittest

import ranklab_cli as cli

try:
    import torch
except ImportError:
    torch = None

TOKENS = ("tokens.pt", "--input-shape", "16:int64", "--classes", 100)
SEQUENCE = ("sequence.pt", "--input-shape", "12x8", "--classes", 5)
VOLUMES = ("volumes.pt", "--input-shape", "2x8x8x8", "--target-shape", "same", "--batch-size", 2)


@unittest.skipIf(torch is None, "no torch in this Python")
class OwnModel(cli.Case):
    def setUp(self):
        super().setUp()
        example = cli.SOURCE / "docs/tutorials/export_torchscript.py"
        subprocess.run([sys.executable, example, self.folder], check=True, capture_output=True, timeout=120)

    def train(self, model, *options, ranks=1):
        words = ("train", "--model", self.folder / model[0], *model[1:], "--steps", 4, "--threads", 1,
                 "--output", self.folder / "r.h5", *options)
        return cli.ranklab(*words, ranks=ranks)

    def test_trains_verified(self):
        for model in (TOKENS, SEQUENCE, VOLUMES):
            for ranks in (1, 2, 3):
                result = self.train(model, ranks=ranks)
                self.assertCode(result, 0)
                self.assertIn("verified      yes", result.stdout)

    def test_two_networks_of_one_name_are_kept_apart(self):
        self.assertCode(self.train(SEQUENCE), 0)
        torch.jit.save(torch.jit.script(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(96, 5))),
                       self.folder / "sequence.pt")
        self.assertCode(self.train(SEQUENCE), 0)
        table = cli.ranklab("report", self.folder / "r.h5", "--group-by", "model")
        self.assertIn("training.structure", table.stdout)

    def test_bad_input_is_refused(self):
        torch.save({"a": torch.zeros(2)}, self.folder / "state.pt")
        (self.folder / "text.pt").write_text("no archive")
        frozen = torch.jit.freeze(torch.jit.script(torch.nn.Linear(8, 5)).eval())
        torch.jit.save(frozen, self.folder / "frozen.pt")
        shape = ("--input-shape", "8", "--classes", 5)
        cases = (
            (("state.pt", *shape), 3, "torch.jit.save(torch.jit.trace(model, example)"),
            (("text.pt", *shape), 3, "is not TorchScript"),
            (("missing.pt", *shape), 3, "is not a file that can be read"),
            (("frozen.pt", *shape), 2, "has no parameters to train"),
            (SEQUENCE[:1], 2, "needs --input-shape"),
            (SEQUENCE[:3], 2, "needs --classes, or --target-shape"),
            ((SEQUENCE[0], "--input-shape", "12xa", "--classes", 5), 2, "--input-shape 12xa: give sizes"),
            ((SEQUENCE[0], "--input-shape", "12x9", "--classes", 5), 2, "does not take a batch of samples of 12x9"),
            ((SEQUENCE[0], "--input-shape", "12x8", "--classes", 6), 2, "answers a sample with 5, and 6 are expected"),
            ((*SEQUENCE, "--loss", "mse"), 2, "--loss mse is of numbers; use --target-shape"),
            ((*SEQUENCE, "--width", 2), 2, "--width and --jit are for"),
        )
        for model, code, sentence in cases:
            with self.subTest(sentence):
                self.assertSays(self.train(model, ranks=2), code, sentence)
        self.assertSays(cli.ranklab("train", "--classes", 5, "--steps", 1), 2, "--classes is for --model FILE.pt")


if __name__ == "__main__":
    unittest.main()
