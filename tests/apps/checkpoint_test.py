"""Training that is broken off and gone on with: the same losses, bit by bit; what a run says of its checkpoints; and which are refused. Storms
of kills and signals, full disks and every kind of damage: tests/slow/apps/checkpoint_storm_test.py."""

import os
import pathlib
import shutil
import signal
import tempfile

import ranklab_cli as cli
from checkpoint_files import Checkpoint, parts, sealed
from ranklab_cli import Case, train
from stored_runs import stored_runs

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")
FILE = "checkpoint.h5"


def losses(run):
    return np.concatenate([part["train_loss"].ravel() for part in (run.warmup, run.samples) if "train_loss" in part])


def parameters(path):
    with h5py.File(path) as file:
        return {name: data[()].tobytes() for name, data in file.items()}


class CheckpointCase(Case):
    def go(self, *words, code=0, ranks=1, output="r.h5", **how):
        if "--evaluate" not in words:
            words += ("--evaluate", "off")
        result = train("--output", output, *words, ranks=ranks, cwd=self.folder, **how)
        self.assertCode(result, code)
        return result

    def runs(self, output="r.h5"):
        return stored_runs(self.folder / output)

    def completed(self, folder="c"):
        """The step of a checkpoint, after looking whether it is whole and whether HDF5 reads the same."""
        content = (self.folder / folder / FILE).read_bytes()
        self.assertEqual(sealed(*parts(content)), content)
        read = Checkpoint(content)
        with h5py.File(self.folder / folder / FILE) as file:
            self.assertEqual(int(file.attrs["completed_steps"]), read.steps)
            for name, data in file["parameters"].items():
                self.assertEqual(data[()].tobytes(), read.arrays[f"parameters/{name}"].tobytes())
        return read.steps


class SameLossesTest(CheckpointCase):
    """22 samples do not divide by anything here: ranks differ in their last batches."""

    EPOCHS = 3

    def check(self, ranks, *more, model="mnist-cnn"):
        data = cli.make_idx(self.folder / "data", 22, 10)
        per_epoch = -(-(-(-22 // ranks)) // 4)
        words = ["--model", model, "--data", "mnist", "--data-dir", data, "--batch-size", 4, "--sharding", "exact", "--shuffle", "on", "--warmup", 0,
                 "--evaluate", "epoch", "--lr-schedule", "cosine", "--lr-total-steps", self.EPOCHS * per_epoch, *more]
        self.go(*words, "--epochs", self.EPOCHS, "--save-parameters", "whole.p.h5", ranks=ranks, output="whole.h5")
        (whole,) = self.runs("whole.h5")
        self.assertEqual(len(losses(whole)), self.EPOCHS * per_epoch)
        self.assertEqual(len(set(losses(whole))), len(losses(whole)), "losses that repeat would show nothing")
        # Broken in the first epoch at one rank, and in the second.
        breaks = [per_epoch - 1, per_epoch + 1] if ranks == 1 else [per_epoch + 1]
        for steps in (*breaks, self.EPOCHS * per_epoch):
            self.go(*words, "--steps", steps, "--checkpoint", "c", "--resume", "--save-parameters", "parts.p.h5", ranks=ranks)
        runs = self.runs()
        self.assertEqual([len(losses(run)) for run in runs], np.diff([0, *breaks, self.EPOCHS * per_epoch]).tolist())
        self.assertEqual(np.concatenate([losses(run) for run in runs]).tobytes(), losses(whole).tobytes())
        self.assertEqual(np.concatenate([run.samples["learning_rate"].ravel() for run in runs]).tobytes(), whole.samples["learning_rate"].tobytes())
        self.assertEqual(runs[-1].samples["validation_loss"].tobytes(), whole.samples["validation_loss"][1:].tobytes())
        self.assertEqual(parameters(self.folder / "parts.p.h5"), parameters(self.folder / "whole.p.h5"))
        return Checkpoint((self.folder / "c" / FILE).read_bytes()).arrays

    def test_at_one_rank(self):
        self.check(1, "--optimizer", "adadelta", "--dropout", "on")

    def test_at_three_ranks_each_has_its_own_dropout(self):
        arrays = self.check(3, "--optimizer", "sgd", "--momentum", 0.9, "--dropout", "on", "--check-parameters", "step")
        self.assertEqual(len({arrays[f"ranks/{rank}/torch_cpu_generator"].tobytes() for rank in range(3)}), 3, "equal ones would show nothing")

    def test_at_two_ranks_each_has_its_own_buffers(self):
        arrays = self.check(2, "--no-broadcast-buffers", model="bn-cnn")
        self.assertNotEqual(*(arrays[f"ranks/{rank}/buffers"].tobytes() for rank in range(2)))


class StoppedTest(CheckpointCase):
    WORDS = ("--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--warmup", 0, "--batch-size", 8, "--evaluate", "off")

    def test_by_a_signal_on_one_of_three_ranks(self):
        """Wherever it is: a sentence, the run of what was done, a checkpoint, and the same losses from there on."""
        job = self.start(*cli.mpirun_words(3), cli.RANKLAB, "train", *self.WORDS, "--steps", 10**8, "--checkpoint", "c", "--checkpoint-every", 20,
                         "--output", "r.h5")
        job.wait_until((self.folder / "c" / FILE).exists, 120)
        os.kill(job.ranks()[1], signal.SIGTERM)
        result = job.finish(120)
        self.assertCode(result, 128 + signal.SIGTERM)
        self.assertEqual(len([line for line in result.said if "stopped by SIGTERM" in line and "--resume" in line]), 1, str(result))
        (run,), done = self.runs(), self.completed()
        self.assertEqual((run.attrs["exit_code"], run.attrs["valid"], len(losses(run))), (128 + signal.SIGTERM, 1, done))
        self.assertIn(f"after {done} of", run.warnings[0])
        self.go(*self.WORDS, "--steps", done + 3, "--checkpoint", "c", "--resume", ranks=3, output="rest.h5")
        self.go(*self.WORDS, "--steps", done + 3, ranks=3, output="whole.h5")
        self.assertEqual(losses(self.runs("rest.h5")[0]).tobytes(), losses(self.runs("whole.h5")[0])[done:].tobytes())


class RecordTest(CheckpointCase):
    def test_what_the_run_says_of_its_checkpoints(self):
        # 10,000 samples, 2,500 at each of the 4 steps of an epoch
        words = ["--batch-size", 2500, "--checkpoint", "deep/er/c"]
        self.go(*words, "--steps", 6, "--warmup", 0)
        (first,) = self.runs()
        path = self.folder / "deep/er/c" / FILE
        self.assertEqual({key: first.context["checkpoint"][key] for key in ("resumed_from_step", "written", "last_step", "bytes")},
                         {"resumed_from_step": "0", "written": "2", "last_step": "6", "bytes": str(path.stat().st_size)})
        self.assertEqual(first.samples["checkpoint_time_s"].shape, (2,))
        self.go(*words, "--steps", 11, "--warmup", 2, "--resume", "--checkpoint-every", 5, output="second.h5")
        (second,) = self.runs("second.h5")
        self.assertEqual([second.context["checkpoint"][key] for key in ("resumed_from_step", "written")], ["6", "2"], "after step 10, and at the end")
        self.assertEqual((len(losses(second)), second.samples["step_time_s"].shape[0]), (7, 5), "two of the seven are warm-up again")
        epochs = second.tables["epochs"]
        self.assertEqual([epochs[key] for key in ("epoch", "steps", "steps_per_epoch", "samples")], [[2, 3, 4], [2, 4, 1], [4, 4, 4], [5000, 10000, 2500]])
        self.assertEqual(self.completed("deep/er/c"), 13)
        self.assertEqual([p.name for p in path.parent.iterdir()], [FILE])

    def test_beginnings(self):
        """Without a checkpoint --resume begins anew and says so; where it is forgotten the old one is kept; where all is done nothing is made."""
        result = self.go("--steps", 3, "--warmup", 0, "--checkpoint", "c", "--resume")
        self.assertEqual(len([line for line in result.said if f"c/{FILE}" in line]), 1, str(result))
        old = (self.folder / "c" / FILE).read_bytes()
        result = self.go("--steps", 2, "--warmup", 0, "--checkpoint", "c", "--checkpoint-every", 1)
        self.assertIn("--resume", result.stderr)
        self.assertEqual((self.folder / "c" / "checkpoint.previous.h5").read_bytes(), old)
        self.assertEqual(self.completed(), 2)
        self.assertSays(self.go("--steps", 2, "--warmup", 0, "--checkpoint", "c", "--resume", code=2), 2, "2 planned steps", "--steps")
        self.assertEqual(len(self.runs()), 2)


class RefusedCheckpointTest(CheckpointCase):
    """template-softmax, SGD with momentum at one rank, as the checkpoint to be changed."""

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
        """Before the work: one sentence, nothing stored, the checkpoint as it was."""
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
        """A checkpoint whose checksum is right and whose contents `change(file)` made wrong."""
        checkpoint = Checkpoint(self.good)
        change(checkpoint)
        return checkpoint.content()

    def test_damaged_and_foreign_ones(self):
        flipped = bytearray(self.good)
        flipped[len(flipped) // 2] ^= 0x10
        self.refused(3, f"c/{FILE}", "damaged", content=self.good[:-1], ranks=3)
        self.refused(3, f"c/{FILE}", "damaged", content=bytes(flipped))
        self.refused(3, f"c/{FILE}", "no checkpoint", content=(self.shared / "r.h5").read_bytes())
        self.refused(3, f"c/{FILE}", "schema 3", "reads 2", content=sealed(*parts(self.good), "schema 3: "))

    def test_contents_that_do_not_fit(self):
        last = [name for name in Checkpoint(self.good).arrays if name.startswith("parameters/")][-1].split("/")[1]
        generator = "ranks/0/torch_cpu_generator"
        for change in (lambda file: file.arrays.__setitem__(f"parameters/{last}", np.zeros((3, 3), "f4")),
                       lambda file: file.move("optimizer/momentum_buffer", "optimizer/other"),
                       lambda file: file.arrays.__setitem__(generator, np.full(file.arrays[generator].shape, 255, "u1")),
                       lambda file: file.claims.__setitem__(f"parameters/{last}", (1 << 40,))):
            self.refused(3, f"c/{FILE}", content=self.changed(change))
        self.refused(2, f"c/{FILE}", "--model", content=self.changed(lambda file: file.settings.clear()))

    def test_other_settings_are_named_with_both_values(self):
        self.refused(2, "--optimizer sgd (now adadelta)", "--momentum 0.9 (now 0)", "--lr 0.05 (now 0.5)", "--seed 1 (now 2)", "--precision fp32 (now fp64)",
                     "(now cosine)", "--global-batch-size", "--shuffle", content=self.good,
                     words=("--checkpoint", "c", "--resume", "--optimizer", "adadelta", "--lr", 0.5, "--seed", 2, "--precision", "fp64", "--lr-schedule", "cosine",
                            "--global-batch-size", 8, "--shuffle", "off"))
        self.refused(2, "ranks 1 (now 2)", ranks=2)
        # The same number in other words, and what may change at a break.
        self.go("--steps", 5, "--warmup", 0, "--checkpoint", "c", "--resume", "--optimizer", "sgd", "--momentum", "9e-1", "--label", "other", "--backend", "self")
        self.assertEqual(len(losses(self.runs()[-1])), 2)

    def test_places(self):
        place = self.folder / "protected"
        place.mkdir()
        self.make_read_only(place)
        result = train("--steps", 3, "--output", "r.h5", "--checkpoint", "protected/c", ranks=2, cwd=self.folder)
        self.assertSays(result, 5, "protected/c", "--checkpoint")
        small = self.mount_small_tmpfs(128 << 10)
        self.assertSays(train("--steps", 3, "--output", "r.h5", "--checkpoint", small, cwd=self.folder), 5, small, "no room", "--checkpoint")
        self.assertEqual(list(small.iterdir()), [], "nothing is left on the full disk")


if __name__ == "__main__":
    cli.main()
