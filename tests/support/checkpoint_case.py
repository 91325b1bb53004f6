"""Bases of the tests of checkpoints in both suites: interrupted and resumed jobs, their stored runs, and changed checkpoints."""

import pathlib
import shutil
import tempfile

import ranklab_cli as cli
from checkpoint_files import CHECKSUM, Checkpoint, sealed
from ranklab_cli import train
from stored_runs import RunCase, stored_runs

cli.need_train()
(np,) = cli.modules("numpy")
FILE = "checkpoint.h5"


def completed(path):
    """Returns the step of a checkpoint; asserts that it is complete."""
    content = path.read_bytes()
    assert sealed(content[:-CHECKSUM]) == content, f"{path} is not whole"
    return Checkpoint(content).steps


class CheckpointCase(RunCase):
    def go(self, *words, code=0, ranks=1, output="r.h5", **how):
        if "--evaluate" not in words:
            words += ("--evaluate", "off")
        result = train("--output", output, *words, ranks=ranks, cwd=self.folder, **how)
        self.assertCode(result, code)
        return result

    def runs(self, output="r.h5"):
        return stored_runs(self.folder / output)

    def last(self, output="r.h5"):
        return self.runs(output)[-1]

    def completed(self, folder="c"):
        return completed(self.folder / folder / FILE)


class SameLossesCase(CheckpointCase):
    """22 samples divide by no number of ranks: the ranks' last batches differ."""

    EPOCHS = 3

    def check(self, ranks, *more, model="mnist-cnn"):
        data = cli.make_idx(self.folder / "data", 22, 10)
        per_epoch = -(-(-(-22 // ranks)) // 4)
        words = ["--model", model, "--data", "mnist", "--data-dir", data, "--batch-size", 4, "--sharding", "exact", "--shuffle", "on", "--warmup", 0,
                 "--evaluate", "epoch", "--lr-schedule", "cosine", "--lr-total-steps", self.EPOCHS * per_epoch, *more]
        self.go(*words, "--epochs", self.EPOCHS, "--save-parameters", "whole.p.h5", ranks=ranks, output="whole.h5")
        (whole,) = self.runs("whole.h5")
        self.assertEqual(len(whole.losses), self.EPOCHS * per_epoch)
        self.assertEqual(len(set(whole.losses)), len(whole.losses), "losses that repeat would show nothing")
        # Interrupted in the second epoch; at one rank in the first, too.
        breaks = [per_epoch - 1, per_epoch + 1] if ranks == 1 else [per_epoch + 1]
        for steps in (*breaks, self.EPOCHS * per_epoch):
            self.go(*words, "--steps", steps, "--checkpoint", "c", "--resume", "--save-parameters", "parts.p.h5", ranks=ranks)
        runs = self.runs()
        self.assertEqual([len(run.losses) for run in runs], np.diff([0, *breaks, self.EPOCHS * per_epoch]).tolist())
        self.assertEqual(np.concatenate([run.losses for run in runs]).tobytes(), whole.losses.tobytes())
        self.assertEqual(np.concatenate([run.samples["learning_rate"].ravel() for run in runs]).tobytes(), whole.samples["learning_rate"].tobytes())
        self.assertEqual(runs[-1].samples["validation_loss"].tobytes(), whole.samples["validation_loss"][1:].tobytes())
        one, other = (self.parameters(self.folder / f"{name}.p.h5") for name in ("parts", "whole"))
        self.assertEqual({name: values.tobytes() for name, values in one.items()}, {name: values.tobytes() for name, values in other.items()})
        return Checkpoint((self.folder / "c" / FILE).read_bytes()).arrays


class RefusedCase(CheckpointCase):
    """Changes the checkpoint of template-softmax with SGD and momentum at one rank."""

    WORDS = ("--optimizer", "sgd", "--momentum", "0.9")
    RESUME = ("--checkpoint", "c", "--resume", *WORDS)

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        result = train("--steps", 3, "--warmup", 0, "--evaluate", "off", "--output", cls.shared / "r.h5", "--checkpoint", cls.shared / "c", *cls.WORDS)
        if result.code != 0:
            raise AssertionError(str(result))
        cls.good = (cls.shared / "c" / FILE).read_bytes()

    def refused(self, code, *said, words=RESUME, ranks=1, content=None):
        """Checks for one message, no stored run and an unchanged checkpoint."""
        path = self.folder / "c" / FILE
        if content is not None:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        before = path.read_bytes()
        result = train("--steps", 9, "--warmup", 0, "--evaluate", "off", "--output", "r.h5", *words, ranks=ranks, cwd=self.folder)
        self.assertSays(result, code, *said)
        self.assertEqual(path.read_bytes(), before)
        self.assertFalse((self.folder / "r.h5").exists() and self.runs())

    def changed(self, change):
        """Returns a checkpoint changed by `change(file)`, with a valid checksum."""
        checkpoint = Checkpoint(self.good)
        change(checkpoint)
        return checkpoint.content()
