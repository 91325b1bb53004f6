"""Training that is interrupted at random moments and resumed: signals, kills, time limits, full disks; and damaged checkpoints."""

import os
import pathlib
import random
import shutil
import signal
import time

import ranklab_cli as cli
from checkpoint_case import FILE, CheckpointCase, RefusedCase, SameLossesCase, completed, np
from checkpoint_files import CHECKSUM, Checkpoint, sealed


class MoreSameLossesTest(SameLossesCase):
    def test_replicas_go_on_with_their_own_random_numbers(self):
        self.check(1, "--optimizer", "sgd", "--mode", "dp", "--replicas", 2, "--dropout", "on")

    def test_per_parameter(self):
        self.check(3, "--optimizer", "adadelta", "--sync", "per-parameter")

    def test_rank_0s_buffers_go_on_for_all(self):
        self.check(2, model="bn-cnn")


class StoppedTest(CheckpointCase):
    """SIGTERM to any rank at any moment: one message, a stored run of the steps done, and a checkpoint."""

    ENDLESS = ("--steps", 100000000, "--warmup", 0, "--batch-size", 8)

    def begin(self, *words, ranks=1, output="r.h5"):
        model = () if "--model" in words else ("--model", "template-softmax")
        command = [cli.RANKLAB, "train", *model, "--data", "synthetic", "--threads", 1, "--output", output, *words]
        return self.start(*(command if ranks == 1 else [*cli.mpirun_words(ranks), *command]))

    def pids(self, job, ranks):
        """Waits until all ranks run, and returns {rank: pid}."""
        if ranks == 1:
            return {0: job.process.pid}
        return job.wait_until(lambda: (lambda found: found if len(found) == ranks else None)(job.ranks()), 60)

    def has_saved(self, step=1, folder="c"):
        path = self.folder / folder / FILE
        return lambda: path.exists() and completed(path) >= step

    def stop(self, job, pid, number=signal.SIGTERM, parts=("stopped by SIGTERM",)):
        os.kill(pid, number)
        result = job.finish(120)
        self.assertCode(result, 128 + number)
        said = [line for line in result.said if "stopped by" in line]
        self.assertEqual(len(said), 1, str(result))
        for part in parts:
            self.assertIn(part, said[0])
        return result

    def test_in_the_evaluation_before_which_the_work_is_saved(self):
        """The evaluation takes minutes. The checkpoint is written before it, and a signal ends it."""
        words = ("--model", "mnist-cnn", "--train-samples", 16, "--validation-samples", 60000, "--eval-batch-size", 1, "--batch-size", 4, "--epochs", 9,
                 "--warmup", 0, "--checkpoint", "c")
        for ranks in (1, 2):
            for every in ((), ("--checkpoint-every", 1000)):
                with self.subTest(ranks=ranks, every=every):
                    shutil.rmtree(self.folder / "c", ignore_errors=True)
                    steps = 16 // 4 // ranks
                    job = self.begin(*words, *every, ranks=ranks)
                    pid = self.pids(job, ranks)[ranks - 1]
                    job.wait_until(self.has_saved(steps), 240)
                    self.stop(job, pid, parts=(f"{steps} of {9 * steps} steps",))
                    run = self.last()
                    self.assertEqual((len(run.losses), len(run.samples["validation_loss"])), (steps, 0))
                    self.assertEqual(run.tables["epochs"]["steps"], [steps])

    def test_while_the_overlap_is_measured(self):
        job = self.begin("--steps", 30, "--warmup", 0, "--batch-size", 8, "--evaluate", "off", "--overlap-steps", 1000000, "--checkpoint", "c", ranks=2)
        pid = self.pids(job, 2)[0]
        job.wait_until(self.has_saved(30), 240)
        self.stop(job, pid, parts=("all 30 steps", "overlap"))
        self.assertEqual(len(self.last().losses), 30)

    def compute_for(self, job, pid, seconds):
        """Waits until the process has used `seconds` of CPU time, so that it trains on a slow machine, too."""
        ticks = os.sysconf("SC_CLK_TCK")
        used = lambda: sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])) / ticks
        job.wait_until(lambda: used() > seconds, 300)

    def test_among_the_trials_of_an_ablation(self):
        job = self.begin("--ablation", "--steps", 3, "--repetitions", 10000, "--batch-size", 8, ranks=2)
        pids = self.pids(job, 2)
        self.compute_for(job, pids[1], 4)
        self.stop(job, pids[1], parts=("trials",))
        self.assertEqual(self.last().tables["ablation"]["steps"], [3] * 5)

    def test_long_steps_are_asked_after_each(self):
        """Steps of 0.4 s are checked one by one, not every 25: a limit of 1 s ends the run after the third step."""
        for ranks in (1, 2):
            result = self.go("--steps", 1000, "--warmup", 0, "--inject-delay", f"{ranks - 1}:forward:400", "--time-limit", 1, ranks=ranks, code=6)
            self.assertLessEqual(len(self.last().losses), 4, str(result))

    def test_no_checkpoint_is_promised_that_was_not_written(self):
        """An earlier checkpoint exists; the last one cannot be written."""
        job = self.begin(*self.ENDLESS, "--evaluate", "off", "--checkpoint", "c", "--checkpoint-every", 40)
        job.wait_until(self.has_saved(40), 240)
        (self.folder / "c").rename(self.folder / "elsewhere")
        (self.folder / "c").touch()
        self.stop(job, job.process.pid)
        warnings = self.last().warnings
        self.assertIn("100000000", warnings[0])
        self.assertNotIn("--resume", warnings[0])
        self.assertTrue(any("was not written" in warning for warning in warnings), warnings)

    def test_a_target_whose_time_is_over_in_an_evaluation(self):
        """The run is not converged (exit 7); no planned step is missing (exit 6)."""
        self.go("--model", "mnist-cnn", "--target-ci", "0.0001%", "--time-limit", 3, "--steps", 2, "--warmup", 0, "--train-samples", 16, "--batch-size", 4,
                "--evaluate", "epoch", "--validation-samples", 60000, "--eval-batch-size", 1, code=7)
        self.assertFalse(any("the time limit ended the run" in warning for warning in self.last().warnings), self.last().warnings)

    def test_no_evaluation_once_the_time_limit_is_hit(self):
        for validation, words in ((2000, ("--steps", 100000000)), (60000, ("--model", "mnist-cnn", "--eval-batch-size", 1, "--steps", 1))):
            shutil.rmtree(self.folder / "c", ignore_errors=True)
            self.go("--warmup", 0, "--evaluate", "epoch", "--validation-samples", validation, "--time-limit", 2, "--checkpoint", "c", *words, ranks=2, code=6)
            run = self.last()
            self.assertIn("time limit", run.warnings[0])
            self.assertEqual(len(run.losses), completed(self.folder / "c" / FILE))
            if len(run.samples["validation_loss"]) == 0:
                self.assertIn("time limit", run.verification["test samples counted once"][1])
        self.assertRegex(run.warnings[0], "all 1 steps.*evaluation")


class TimeLimitTest(CheckpointCase):
    def test_the_time_limit_and_then_the_rest(self):
        words = ["--batch-size", 8, "--warmup", 0, "--checkpoint", "c", "--checkpoint-every", 1000000, "--resume"]
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                shutil.rmtree(self.folder / "c", ignore_errors=True)
                output = f"limit{ranks}.h5"
                self.go(*words, "--steps", 500000, "--time-limit", 0.5, code=6, ranks=ranks, output=output)
                done = completed(self.folder / "c" / FILE)
                self.assertEqual(len(self.last(output).losses), done)
                self.go(*words, "--steps", done + 20, ranks=ranks, output=output)
                self.go("--batch-size", 8, "--warmup", 0, "--steps", done + 20, ranks=ranks, output=f"whole{ranks}.h5")
                runs = self.runs(output)
                self.assertEqual(sorted(len(run.losses) for run in runs), sorted([done, 20]))
                rest = next(run for run in runs if run.context["checkpoint"]["resumed_from_step"] == str(done))
                self.assertEqual(rest.losses.tobytes(), self.last(f"whole{ranks}.h5").losses[done:].tobytes())


class MoreRefusedTest(RefusedCase):
    def test_damaged_cut_and_foreign_ones(self):
        for content in (self.good[: len(self.good) // 2], self.good[:-CHECKSUM], self.good[:100], self.good + b"\0", b"", b"a diary\n", bytes(4096)):
            self.refused(3, f"c/{FILE}", content=content)
        self.refused(3, f"c/{FILE}", content=sealed(b"not HDF5 at all"))

    def test_contents_that_do_not_fit(self):
        def put(name, values):
            return lambda file: file.arrays.__setitem__(name, values)

        names = [name for name in Checkpoint(self.good).arrays if name.startswith("parameters/")]
        first, last = names[0], names[-1].split("/")[1]
        generator = "ranks/0/torch_cpu_generator"
        good = Checkpoint(self.good).arrays
        changes = {
            "the shape": put(f"parameters/{last}", np.zeros((3, 3), "f4")),
            "the type": put(f"parameters/{last}", good[f"parameters/{last}"].astype("f8")),
            "one is missing": lambda file: file.arrays.__delitem__(first),
            "one too many": put("parameters/zzz", np.zeros(3, "f4")),
            "a buffer": put("buffers/zzz", np.zeros(3, "f4")),
            "no parameters": lambda file: [file.arrays.__delitem__(name) for name in names],
            "a step": lambda file: setattr(file, "steps", -3),
            "optimizer's shape": put(f"optimizer/momentum_buffer/{last}", np.zeros((2, 2), "f4")),
            "optimizer's kind": lambda file: file.move("optimizer/momentum_buffer", "optimizer/other"),
            "optimizer's name": lambda file: file.move(f"optimizer/momentum_buffer/{last}", "optimizer/momentum_buffer/other"),
            "no rank": lambda file: file.move("ranks/0", "ranks/1"),
            "no generator": lambda file: file.move(generator, "ranks/0/other"),
            "a generator more": put("ranks/0/other", good[generator]),
            "a generator's size": put(generator, np.zeros(100, "u1")),
            "a generator's bytes": put(generator, np.full(good[generator].shape, 255, "u1")),
            "a huge claim": lambda file: file.claims.__setitem__(f"parameters/{last}", (1 << 40,)),
        }
        for what, change in changes.items():
            with self.subTest(what):
                self.refused(3, f"c/{FILE}", content=self.changed(change))
        self.refused(3, f"c/{FILE}", last, content=self.changed(changes["the shape"]))


class PlacesTest(CheckpointCase):
    def test_a_disk_that_is_full_later_loses_neither_run_nor_checkpoint(self):
        # A checkpoint has 14.4 MB: a second one does not fit beside the first.
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                place = self.mount_small_tmpfs(20 << 20, f"small{ranks}")
                words = ["--model", "mnist-cnn", "--batch-size", 4, "--warmup", 0, "--checkpoint", place]
                self.go(*words, "--steps", 3, "--checkpoint-every", 1, code=5, ranks=ranks, output=f"r{ranks}.h5")
                run = self.last(f"r{ranks}.h5")
                self.assertEqual((len(run.losses), run.attrs["exit_code"], run.context["checkpoint"]["written"]), (3, 5, "1"))
                for step in (2, 3):
                    self.assertTrue(any(f"after step {step}" in warning and "no room" in warning for warning in run.warnings), run.warnings)
                self.assertEqual(completed(place / FILE), 1)
                self.assertEqual([p.name for p in place.iterdir()], [FILE], "half a file is left behind")
                shutil.move(place / FILE, self.folder / f"c{ranks}" / FILE if (self.folder / f"c{ranks}").mkdir() is None else None)
                self.go(*words[:-1], f"c{ranks}", "--steps", 3, "--resume", ranks=ranks, output=f"rest{ranks}.h5")
                self.assertEqual(self.last(f"rest{ranks}.h5").losses.tobytes(), run.losses[1:].tobytes())


class KilledTest(CheckpointCase):
    ROUNDS = 8

    def check(self, ranks):
        """Kills all processes at random moments, several times, while a checkpoint is written after every step."""
        source = random.Random(ranks)
        words = ["train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--batch-size", 8, "--warmup", 0, "--evaluate", "off",
                 "--checkpoint", "c"]
        path = self.folder / "c" / FILE
        step = 0
        for _ in range(self.ROUNDS):
            command = [cli.RANKLAB, *words, "--resume", "--checkpoint-every", 1, "--steps", 1000000, "--output", "none"]
            job = self.start(*(command if ranks == 1 else [*cli.mpirun_words(ranks), *command]))
            before = step
            job.wait_until(lambda: path.exists() and completed(path) > before)
            time.sleep(source.uniform(0, 0.03))
            job.kill()
            step = completed(path)
            self.assertGreater(step, before)
        self.go(*words[1:], "--resume", "--steps", step + 5, ranks=ranks)
        self.go("--batch-size", 8, "--warmup", 0, "--steps", step + 5, ranks=ranks, output="whole.h5")
        self.assertEqual(self.last().losses.tobytes(), self.last("whole.h5").losses[step:].tobytes())
        self.assertEqual([p.name for p in path.parent.iterdir()], [FILE], "what killed writers left is gone")

    def test_one_rank(self):
        self.check(1)

    def test_two_ranks(self):
        self.check(2)


if __name__ == "__main__":
    cli.main()
