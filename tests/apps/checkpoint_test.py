"""Training that is interrupted and resumed: losses that are equal bit by bit, the facts that a run stores about its checkpoints, and checkpoints that
are refused. Storms of kills and signals, full disks and damage: tests/slow/apps/checkpoint_storm_test.py."""

import os
import signal

import ranklab_cli as cli
from checkpoint_case import FILE, CheckpointCase, RefusedCase, SameLossesCase, np
from checkpoint_files import Checkpoint
from ranklab_cli import train


class SameLossesTest(SameLossesCase):
    def test_at_one_rank(self):
        self.check(1, "--optimizer", "adadelta", "--dropout", "on")

    def test_at_three_ranks_each_has_its_own_dropout(self):
        arrays = self.check(3, "--optimizer", "sgd", "--momentum", 0.9, "--dropout", "on", "--check-parameters", "step")
        self.assertEqual(len({arrays[f"ranks/{rank}/torch_cpu_generator"].tobytes() for rank in range(3)}), 3, "equal ones would show nothing")


class StoppedTest(CheckpointCase):
    WORDS = ("--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--warmup", 0, "--batch-size", 8, "--evaluate", "off")

    def test_by_a_signal_on_one_of_three_ranks(self):
        """The rank may be anywhere in its step. The job writes one message, stores the steps done and a checkpoint; the resumed run has the losses of an uninterrupted one."""
        job = self.start(*cli.mpirun_words(3), cli.RANKLAB, "train", *self.WORDS, "--steps", 10**8, "--checkpoint", "c", "--checkpoint-every", 20,
                         "--output", "r.h5")
        job.wait_until((self.folder / "c" / FILE).exists, 120)
        os.kill(job.ranks()[1], signal.SIGTERM)
        result = job.finish(120)
        self.assertCode(result, 128 + signal.SIGTERM)
        self.assertEqual(len([line for line in result.said if "stopped by SIGTERM" in line and "--resume" in line]), 1, str(result))
        (run,), done = self.runs(), self.completed()
        self.assertEqual((run.attrs["exit_code"], run.attrs["valid"], len(run.losses)), (128 + signal.SIGTERM, 1, done))
        self.assertIn(f"after {done} of", run.warnings[0])
        self.go(*self.WORDS, "--steps", done + 3, "--checkpoint", "c", "--resume", ranks=3, output="rest.h5")
        self.go(*self.WORDS, "--steps", done + 3, ranks=3, output="whole.h5")
        self.assertEqual(self.runs("rest.h5")[0].losses.tobytes(), self.runs("whole.h5")[0].losses[done:].tobytes())


class RecordTest(CheckpointCase):
    def test_what_the_run_says_of_its_checkpoints(self):
        # an epoch: 4 steps of 2,500 of the 10,000 samples
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
        self.assertEqual((len(second.losses), second.samples["step_time_s"].shape[0]), (7, 5), "two of the seven are warm-up again")
        epochs = second.tables["epochs"]
        self.assertEqual([epochs[key] for key in ("epoch", "steps", "steps_per_epoch", "samples")], [[2, 3, 4], [2, 4, 1], [4, 4, 4], [5000, 10000, 2500]])
        self.assertEqual(self.completed("deep/er/c"), 13)
        self.assertEqual([p.name for p in path.parent.iterdir()], [FILE])

    def test_beginnings(self):
        """--resume without a checkpoint starts at step 0 with a message; a run without --resume refuses a folder with a checkpoint; a run with no steps left makes none."""
        result = self.go("--steps", 3, "--warmup", 0, "--checkpoint", "c", "--resume")
        self.assertEqual(len([line for line in result.said if f"c/{FILE}" in line]), 1, str(result))
        old = (self.folder / "c" / FILE).read_bytes()
        self.assertSays(self.go("--steps", 2, "--warmup", 0, "--checkpoint", "c", code=2), 2, "--resume")
        self.assertEqual((self.folder / "c" / FILE).read_bytes(), old)
        self.assertSays(self.go("--steps", 3, "--warmup", 0, "--checkpoint", "c", "--resume", code=2), 2, "--steps")
        self.assertEqual(len(self.runs()), 1)


class RefusedCheckpointTest(RefusedCase):
    def test_damaged_and_foreign_ones(self):
        flipped = bytearray(self.good)
        flipped[len(flipped) // 2] ^= 0x10
        self.refused(3, f"c/{FILE}", "damaged", content=self.good[:-1], ranks=3)
        self.refused(3, f"c/{FILE}", "damaged", content=bytes(flipped))
        self.refused(3, f"c/{FILE}", content=(self.shared / "r.h5").read_bytes())
        self.refused(3, f"c/{FILE}", "schema 9", "reads 4", content=self.changed(lambda file: setattr(file, "schema", 9)))

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
        # An equal number in another spelling, and options that may change between runs.
        self.go("--steps", 5, "--warmup", 0, "--checkpoint", "c", "--resume", "--optimizer", "sgd", "--momentum", "9e-1", "--label", "other", "--backend", "self")
        self.assertEqual(len(self.runs()[-1].losses), 2)

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
