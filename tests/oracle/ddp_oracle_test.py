"""PyTorch's DistributedDataParallel as the oracle of `ranklab train` on several ranks: from the same seed and data, every gradient
synchronisation that promises equal ranks gives DDP's losses, gradients and final parameters.

241 images divide neither by 2 nor by 3, so the shares are padded, and 20 steps cross epoch boundaries. PyTorch trains once for
each number of ranks; every strategy is compared with that.
"""

import json
import pathlib
import shutil
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import torch
    import torch.distributed
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed for this Python; ./bootstrap makes one that has it")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import ranklab_cli as cli  # noqa: E402
from twins import FASHION_MNIST, make_twin, read_idx, write_idx  # noqa: E402

if not cli.HAS_TRAIN:
    print(f"SKIPPED: there is no ranklab-train in {cli.BIN}")
    sys.exit(77)
if not torch.distributed.is_gloo_available():
    print("SKIPPED: this PyTorch has no gloo")
    sys.exit(77)

MODELS = ("mnist-cnn", "bn-cnn")
RANKS = (2, 3)
IMAGES, BATCH, STEPS, LR, GAMMA, SEED = 241, 12, 20, 0.05, 0.7, 5
# One step of so large a rate leaves its gradient in the parameters: what rounding the difference loses is 2^-24 of the gradient's
# own scale, not of the weights'. A power of two, so that dividing by it loses nothing.
LARGE_LR = 1024.0
# BatchNorm's backward takes large sums from each other: in fp32, DDP's own gradients of bn-cnn are 2.5e-5 from those in fp64.
FP32_GRADIENT = {"mnist-cnn": 1e-5, "bn-cnn": 1e-4}


class DdpOracleTest(cli.Case):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-ddp-"))
        cls.addClassCleanup(shutil.rmtree, cls.scratch, ignore_errors=True)
        cls.data = cls.make_data(cls.scratch / "data")
        cls.oracle = {ranks: cls.pytorch(ranks) for ranks in RANKS}
        cls.equal_syncs = [name for name in cli.sync_strategies() if name != "none"]

    @staticmethod
    def make_data(folder):
        """The first real images where they are installed; random ones with the labels' brightness elsewhere."""
        if not FASHION_MNIST.exists():
            return cli.make_idx(folder, IMAGES, 40)
        for stem, n in (("train", IMAGES), ("t10k", 40)):
            images, labels = read_idx(FASHION_MNIST, stem)
            write_idx(folder, stem, images[:n], labels[:n])
        return folder

    @classmethod
    def pytorch(cls, ranks):
        """{case: what pytorch_ddp.py found}."""
        output = cls.scratch / f"ranks{ranks}"
        output.mkdir()
        common = {"batch": BATCH, "seed": SEED, "lr": LR, "gamma": GAMMA}
        cases = {f"{model}-{dtype}": dict(common, model=model, dtype=dtype, steps=steps) for model in MODELS
                 for dtype, steps in (("float64", STEPS), ("float32", 1))}
        command = [sys.executable, "-B", HERE / "pytorch_ddp.py", "--data-dir", cls.data, "--rendezvous", output / "rendezvous",
                   "--cases", json.dumps(cases), "--output", output]
        # The loopback interface by name: gloo would else look this machine's own name up.
        jobs = [cli.Job(command, env=cli.environment(RANK=rank, WORLD_SIZE=ranks, GLOO_SOCKET_IFNAME="lo")) for rank in range(ranks)]
        try:
            for job in jobs:
                result = job.finish(180)
                if result.code != 0:
                    raise AssertionError(f"PyTorch's DDP failed:\n{result}")
        finally:
            for job in jobs:
                job.kill()
        return {name: dict(np.load(output / f"{name}.npz")) for name in cases}

    def train(self, model, ranks, sync, precision, steps, lr):
        """(losses of every step, {parameter: values}) of `ranklab train`."""
        stem = self.folder / f"{model}-{ranks}-{sync}-{precision}"
        result = cli.ranklab("train", "--model", model, "--memory-format", "contiguous", "--mode", "ddp", "--sync", sync, "--data", "mnist", "--data-dir", self.data,
                             "--optimizer", "sgd", "--lr", lr, "--lr-schedule", "step", "--gamma", GAMMA, "--batch-size", BATCH, "--seed", SEED,
                             "--steps", steps, "--warmup", 0, "--precision", precision, "--dropout", "off", "--evaluate", "off", "--threads", 1,
                             "--output", f"{stem}.h5", "--save-parameters", f"{stem}-parameters.h5", ranks=ranks, cwd=self.folder, timeout=150)
        self.assertCode(result, 0)
        with h5py.File(f"{stem}.h5") as file:
            (run,) = file["runs"].values()
            losses = run["samples/train_loss"][()].ravel()
        with h5py.File(f"{stem}-parameters.h5") as file:
            return losses, {name: file[name][()].ravel() for name in file}

    def for_each(self, precision, steps, lr, check):
        """check(model, ranks, what ranklab made) for every model, number of ranks and strategy, as a subtest."""
        cases = [(model, ranks, sync) for model in MODELS for ranks in RANKS for sync in self.equal_syncs]

        def attempt(case):
            try:
                return self.train(*case, precision, steps, lr)
            except AssertionError as error:
                return error

        for (model, ranks, sync), made in zip(cases, cli.several(attempt, cases)):
            with self.subTest(model=model, ranks=ranks, sync=sync):
                if isinstance(made, AssertionError):
                    raise made
                check(model, ranks, made)

    def assertSameTensors(self, mine, oracle, kind, relative):
        expected = {name.partition("/")[2]: values.ravel() for name, values in oracle.items() if name.startswith(kind + "/")}
        self.assertEqual(set(mine), set(expected))
        for name, values in expected.items():
            # Relative to the tensor's scale: an element that happens to be near 0 has no digits of its own.
            np.testing.assert_allclose(mine[name], values, rtol=0, atol=relative * np.abs(values).max(), err_msg=name)

    def assertSameTraining(self, made, oracle):
        losses, parameters = made
        self.assertEqual(len(losses), STEPS)
        np.testing.assert_allclose(losses, oracle["losses"], rtol=1e-9, atol=0)
        self.assertSameTensors(parameters, oracle, "parameters", 1e-9)

    def test_twenty_steps_in_fp64_are_those_of_ddp(self):
        self.assertGreaterEqual(len(self.equal_syncs), 2, self.equal_syncs)
        self.for_each("fp64", STEPS, LR, lambda model, ranks, made: self.assertSameTraining(made, self.oracle[ranks][f"{model}-float64"]))

    def test_the_first_gradients_in_fp32_are_those_of_ddp(self):
        def check(model, ranks, made):
            losses, parameters = made
            oracle = self.oracle[ranks][f"{model}-float32"]
            np.testing.assert_allclose(losses, oracle["losses"], rtol=1e-6)
            start = {name: p.detach().double().numpy().ravel() for name, p in make_twin(model, SEED, torch.float32).named_parameters()}
            gradients = {name: (start[name] - values) / LARGE_LR for name, values in parameters.items()}
            self.assertSameTensors(gradients, oracle, "gradients", FP32_GRADIENT[model])

        self.for_each("fp32", 1, LARGE_LR, check)

    def test_ranks_that_do_not_synchronise_are_told_apart(self):
        """Or the comparison would see nothing."""
        made = self.train("mnist-cnn", 2, "none", "fp64", STEPS, LR)
        with self.assertRaises(AssertionError):
            self.assertSameTraining(made, self.oracle[2]["mnist-cnn-float64"])


if __name__ == "__main__":
    cli.main()
