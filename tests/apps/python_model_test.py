"""A user's own network in a Python file: it trains as its TorchScript does, with the module's own modes, loss and shapes."""

import json
import unittest

import ranklab_cli as cli

cli.need_train()
(h5py, np, torch) = cli.modules("h5py", "numpy", "torch")

import own_networks  # noqa: E402

SHAPE = ("--input-shape", "8", "--classes", "5")
NET = """
import torch
from torch import nn


class Net(nn.Linear):
    def forward(self, x):
        print("training" if self.training else "evaluating", self.training)
        return nn.functional.linear(x, self.weight, self.bias)


def model():
    return Net(8, 5)


def small():
    return nn.Sequential(nn.Linear(8, 3), nn.Dropout(0.5), nn.BatchNorm1d(3), nn.Linear(3, 5))
"""


class PythonModel(cli.Case):
    def write(self, name, text):
        (self.folder / name).write_text(text)

    def train(self, *words, ranks=1, env=None):
        return cli.ranklab("train", *words, "--steps", 4, "--warmup", 0, "--batch-size", 4, "--threads", 1, "--output", "r.h5", ranks=ranks, cwd=self.folder, env=env)

    def assertVerified(self, *words, ranks=1):
        (self.folder / "r.h5").unlink(missing_ok=True)
        result = self.train(*words, ranks=ranks)
        self.assertCode(result, 0)
        self.assertIn("verified      yes", result.stdout)

    def verified(self, *words, ranks=1):
        """Returns the losses of a run."""
        self.assertVerified(*words, ranks=ranks)
        with h5py.File(self.folder / "r.h5") as file:
            (run,) = file["runs"].values()
            return run["samples/train_loss"][()].ravel()

    def test_equals_torchscript(self):
        for name in ("two-inputs", "language"):
            own_networks.export(name, self.folder)
            self.write(f"{name}.py", own_networks.python_file(name))
            words = own_networks.options(name)[2:]
            with self.subTest(name):
                np.testing.assert_allclose(*(self.verified("--model", f"{name}.{kind}", *words, ranks=2) for kind in ("pt", "py")), rtol=1e-5)

    def test_takes_the_options_of_other_networks(self):
        self.write("net.py", NET)
        for more in ("--precision bf16", "--accumulate 2 --sync c10d", "--compress fp16", "--checkpoint c", "--ablation"):
            with self.subTest(more):
                self.assertVerified("--model", "net.py:small", *SHAPE, *more.split(), ranks=2)
        self.assertIn("# parameters: 53\n", self.train("--model", "net.py:small", *SHAPE, "--dry-run").stdout)

    def test_modes_are_the_modules_and_what_it_prints_is_not_mixed_with_json(self):
        self.write("net.py", NET)
        result = self.train("--model", "net.py", *SHAPE, "--evaluate", "end", "--json", "--quiet")
        self.assertCode(result, 0)
        self.assertEqual(len(json.loads(result.stdout)["runs"]), 1)
        for said in ("training True", "evaluating False"):
            self.assertIn(said, result.stderr)

    def test_own_loss_and_shapes(self):
        self.write("net.py", NET + "\ninputs = (8,)\ntarget = (5,)\n")
        self.write("twice.py", NET + "\ninputs = [(8,)]\ntarget = '5'\n\n\ndef loss(output, target):\n    return 2 * nn.functional.mse_loss(output, target)\n")
        once = self.verified("--model", "net.py", "--lr", 0.02, "--optimizer", "sgd", ranks=2)
        np.testing.assert_allclose(self.verified("--model", "twice.py", "--lr", 0.01, "--optimizer", "sgd", ranks=2), 2 * once, rtol=1e-5)
        np.testing.assert_allclose(self.verified("--model", "twice.py", "--lr", 0.02, "--optimizer", "sgd", "--loss", "mse", ranks=2), once, rtol=1e-6)

    def test_errors_are_sentences_with_the_line(self):
        self.write("net.py", NET)
        self.assertSays(self.train("--model", "net.py:small", "--input-shape", 9, "--classes", 5, ranks=2), 2, "mat1 and mat2", "--input-shape")
        self.write("syntax.py", "\ndef model(:\n")
        self.assertSays(self.train("--model", "syntax.py", *SHAPE, ranks=2), 3, "syntax.py, line 2: SyntaxError")
        self.assertSays(self.train("--model", "net.py:large", *SHAPE), 3, "net.py has no function large")
        self.assertSays(self.train("--model", "net.py", *SHAPE, "--mode", "dp"), 2, "--mode ddp")

    def test_another_torch_is_refused(self):
        self.write("net.py", NET)
        other = self.folder / "other" / "torch"
        other.mkdir(parents=True)
        (other / "__init__.py").write_text("raise SystemError('it was imported')\n")
        (other / "version.py").write_text("__version__ = '2.0.1+cpu'\n")
        result = self.train("--model", "net.py", *SHAPE, ranks=2, env=cli.environment(PYTHONPATH=other.parent))
        self.assertSays(result, 5, "has torch 2.0.1+cpu", f"LibTorch {torch.__version__.split('+')[0]}")


if __name__ == "__main__":
    unittest.main()
