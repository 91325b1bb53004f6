"""Training that is broken off and gone on with: the same losses, bit by bit; a checkpoint that is whole whenever the job
dies; and a sentence for every checkpoint that cannot be gone on with."""

import io
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

import ranklab_cli as cli
from checkpoint_files import HEADER, Checkpoint, parts, sealed
from ranklab_cli import Case, needs_train, train

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed for this Python")
    sys.exit(77)

FILE = "checkpoint.h5"


def completed(path):
    """The step of a checkpoint, after looking whether it is whole."""
    content = path.read_bytes()
    if sealed(*parts(content)) != content:
        raise AssertionError(f"{path} is not whole")
    read = Checkpoint(content)
    with h5py.File(io.BytesIO(content)) as file:  # says the same to other programs; by now there may be a newer one
        for name in file["parameters"]:
            if file["parameters"][name][()].tobytes() != read.arrays[f"parameters/{name}"].tobytes():
                raise AssertionError(f"{path}: {name} is not in HDF5 as in the index")
        if int(file.attrs["completed_steps"]) != read.steps or [tuple(row) for row in file["settings"][()].tolist()] != read.settings:
            raise AssertionError(f"{path}: HDF5 and the index disagree")
    return read.steps


class Stored:
    """What a run left in the results file."""

    def __init__(self, group):
        self.losses = np.concatenate([group[part]["train_loss"][()].ravel() for part in ("warmup", "samples")
                                      if part in group and "train_loss" in group[part]])
        self.counted = len(group["samples/train_loss"])
        self.samples = {name: data[()] for name, data in group["samples"].items()}
        self.exit_code = int(group.attrs["exit_code"])
        self.context = json.loads(group.attrs["context_json"])
        self.warnings = json.loads(group.attrs["warnings_json"])
        self.epochs = group["tables/epochs"][()]


def stored_runs(path):
    with h5py.File(path) as file:
        return [Stored(group) for group in file["runs"].values()]


def parameters(path):
    with h5py.File(path) as file:
        return {name: data[()].tobytes() for name, data in file.items()}


@needs_train
class CheckpointCase(Case):
    def go(self, *words, code=0, ranks=1, output="r.h5", **how):
        if "--evaluate" not in words:
            words += ("--evaluate", "off")
        result = train("--output", output, *words, ranks=ranks, cwd=self.folder, **how)
        self.assertCode(result, code)
        return result

    def last(self, output="r.h5"):
        return stored_runs(self.folder / output)[-1]

    def refused(self, code, *parts, words=(), ranks=1):
        """Before the work: one sentence, nothing stored."""
        words = words or ("--checkpoint", "c", "--resume")
        result = train("--steps", 9, "--warmup", 0, "--evaluate", "off", "--output", "refused.h5", *words, ranks=ranks, cwd=self.folder)
        self.assertSays(result, code, *parts)
        self.assertNotIn("Img/sec", result.stdout)
        self.assertFalse((self.folder / "refused.h5").exists() and stored_runs(self.folder / "refused.h5"))


class SameLossesTest(CheckpointCase):
    """53 samples do not divide by anything here: ranks differ in their last batches."""

    EPOCHS = 3

    def check(self, ranks, optimizer, folder):
        data = cli.make_idx(self.folder / folder / "data", 53, 20, seed=ranks)
        per_epoch = -(-(-(-53 // ranks)) // 4)
        words = ["--model", "mnist-cnn", "--data", "mnist", "--data-dir", data, "--batch-size", 4, "--sharding", "exact", "--dropout", "on",
                 "--shuffle", "on", "--warmup", 0, "--check-parameters", "step", *optimizer]

        def part(name, *more):
            self.go(*words, "--save-parameters", f"{folder}/{name}.p.h5", "--evaluate", "epoch", *more, ranks=ranks, output=f"{folder}/{name}.h5")

        part("whole", "--epochs", self.EPOCHS)
        (whole,) = stored_runs(self.folder / folder / "whole.h5")
        self.assertEqual(len(whole.losses), self.EPOCHS * per_epoch)
        # Broken in the first epoch, exactly at its end, and in the second.
        for length in (("--steps", per_epoch - 2), ("--steps", per_epoch), ("--steps", per_epoch + 2), ("--epochs", self.EPOCHS)):
            part("parts", *length, "--checkpoint", f"{folder}/c", "--resume")
        runs = stored_runs(self.folder / folder / "parts.h5")
        self.assertEqual([len(run.losses) for run in runs], [per_epoch - 2, 2, 2, self.EPOCHS * per_epoch - per_epoch - 2])
        self.assertEqual(np.concatenate([run.losses for run in runs]).tobytes(), whole.losses.tobytes())
        # The run of --steps that ends in the second epoch evaluates there too: the others must not feel it.
        self.assertEqual(runs[-1].samples["validation_loss"].tobytes(), whole.samples["validation_loss"][1:].tobytes())
        self.assertEqual(parameters(self.folder / folder / "parts.p.h5"), parameters(self.folder / folder / "whole.p.h5"))
        self.assertEqual(len(set(whole.losses)), len(whole.losses), "losses that repeat would show nothing")

    def test_at_one_rank(self):
        self.check(1, ["--optimizer", "adadelta"], "a")
        self.check(1, ["--optimizer", "sgd", "--momentum", 0.9, "--precision", "fp64"], "s")

    def test_replicas_go_on_with_their_own_random_numbers(self):
        self.check(1, ["--optimizer", "sgd", "--mode", "dp", "--replicas", 2], "d")

    def test_at_two_ranks(self):
        self.check(2, ["--optimizer", "adadelta"], "a")
        self.check(2, ["--optimizer", "sgd", "--momentum", 0.9], "s")

    def test_at_three_ranks(self):
        self.check(3, ["--optimizer", "adadelta", "--sync", "per-parameter"], "a")
        self.check(3, ["--optimizer", "sgd", "--momentum", 0.9], "s")

    def test_the_dropout_of_each_rank_goes_on(self):
        """Without each rank's own generator the losses after the break would differ: this test can fail."""
        words = ["--model", "mnist-cnn", "--batch-size", 4, "--warmup", 0]
        self.go(*words, "--steps", 6, ranks=2, output="whole.h5")
        self.go(*words, "--steps", 3, "--checkpoint", "c", ranks=2)
        swapped = Checkpoint((self.folder / "c" / FILE).read_bytes())
        names = [f"ranks/{rank}/torch_cpu_generator" for rank in (0, 1)]
        first, second = (swapped.arrays[name] for name in names)
        self.assertNotEqual(first.tobytes(), second.tobytes())
        swapped.arrays.update(zip(names, (second, first)))
        self.go(*words, "--steps", 6, "--checkpoint", "c", "--resume", ranks=2, output="right.h5")
        (self.folder / "c" / FILE).write_bytes(swapped.content())
        self.go(*words, "--steps", 6, "--checkpoint", "c", "--resume", ranks=2, output="swapped.h5")
        whole, right, swapped = (self.last(name).losses for name in ("whole.h5", "right.h5", "swapped.h5"))
        self.assertEqual(right.tobytes(), whole[3:].tobytes())
        self.assertNotEqual(swapped.tobytes(), whole[3:].tobytes())


class OwnBuffersTest(CheckpointCase):
    """BatchNorm's running statistics: rank 0's for all, or with --no-broadcast-buffers each rank's own."""

    MODELS = {"bn-cnn": (), "resnet18": ("--width", 32, "--image-size", 32)}

    def check(self, ranks, model, *flags):
        words = ["--model", model, "--data", "synthetic", *self.MODELS[model], "--batch-size", 4, "--train-samples", 16 * ranks, "--validation-samples", 10,
                 "--warmup", 0, "--evaluate", "epoch", *flags]
        folder = "-".join((model, str(ranks), *flags)).replace("--", "")

        def part(name, *more):
            self.go(*words, "--save-parameters", f"{folder}/{name}.p.h5", *more, ranks=ranks, output=f"{folder}/{name}.h5", timeout=240)

        (self.folder / folder).mkdir()
        part("whole", "--epochs", 2)
        for length in (("--steps", 3), ("--epochs", 2)):
            part("parts", *length, "--checkpoint", f"{folder}/c", "--resume")
        (whole,), parts = stored_runs(self.folder / folder / "whole.h5"), stored_runs(self.folder / folder / "parts.h5")
        self.assertEqual(np.concatenate([run.losses for run in parts]).tobytes(), whole.losses.tobytes())
        self.assertEqual(parts[-1].samples["validation_loss"].tobytes(), whole.samples["validation_loss"].tobytes(), "the buffers are in it")
        self.assertEqual(parameters(self.folder / folder / "parts.p.h5"), parameters(self.folder / folder / "whole.p.h5"))
        with h5py.File(self.folder / folder / "c" / FILE) as file:
            own = [file[f"ranks/{rank}/buffers"][()].tobytes() if flags else None for rank in range(ranks)]
            self.assertEqual("buffers" in file["ranks/0"], bool(flags))
        return own

    def test_each_ranks_own_go_on(self):
        own = self.check(2, "bn-cnn", "--no-broadcast-buffers")
        self.assertNotEqual(own[0], own[1], "equal ones would show nothing")
        self.check(3, "bn-cnn", "--no-broadcast-buffers")
        self.check(2, "resnet18", "--no-broadcast-buffers")

    def test_rank_0s_go_on(self):
        self.check(2, "bn-cnn")
        self.check(3, "resnet18")

    def test_another_number_of_bytes_is_refused(self):
        words = ("--model", "bn-cnn", "--batch-size", 4, "--momentum", 0.9, "--no-broadcast-buffers", "--checkpoint", "c")
        self.go(*words, "--steps", 3, "--warmup", 0, ranks=2)
        short = Checkpoint((self.folder / "c" / FILE).read_bytes())
        short.arrays["ranks/1/buffers"] = short.arrays["ranks/1/buffers"][:-1]
        (self.folder / "c" / FILE).write_bytes(short.content())
        result = self.go(*words, "--steps", 9, "--warmup", 0, "--resume", ranks=2, code=3, output="none")
        self.assertIn("bytes of a rank's buffers", result.stderr)


class StoppedTest(CheckpointCase):
    """SIGTERM and Ctrl-C, on whichever rank, wherever the run is: a sentence, the run of what was done, and a checkpoint."""

    ENDLESS = ("--steps", 100000000, "--warmup", 0, "--batch-size", 8)

    def begin(self, *words, ranks=1, output="r.h5"):
        model = () if "--model" in words else ("--model", "template-softmax")
        command = [cli.RANKLAB, "train", *model, "--data", "synthetic", "--threads", 1, "--output", output, *words]
        return self.start(*(command if ranks == 1 else [*cli.mpirun_words(ranks), *command]))

    def pids(self, job, ranks):
        """{rank: pid}, once all have begun."""
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

    def test_between_steps(self):
        for ranks, rank, number in ((1, 0, signal.SIGTERM), (2, 1, signal.SIGTERM), (3, 0, signal.SIGINT)):
            with self.subTest(ranks=ranks, rank=rank):
                folder, output = f"c{ranks}", f"r{ranks}.h5"
                words = ("--evaluate", "off", "--checkpoint", folder, "--resume")
                job = self.begin(*self.ENDLESS, *words, "--checkpoint-every", 40, ranks=ranks, output=output)
                pid = self.pids(job, ranks)[rank]
                job.wait_until(self.has_saved(40, folder), 240)
                self.stop(job, pid, number, ("of 100000000 steps", "--resume goes on from there"))
                run = self.last(output)
                done = completed(self.folder / folder / FILE)
                self.assertEqual((run.exit_code, len(run.losses)), (128 + number, done))
                self.assertIn(f"after {done} of", run.warnings[0])
                self.go("--steps", done + 5, "--warmup", 0, "--batch-size", 8, *words, ranks=ranks, output=output)
                self.go("--steps", done + 5, "--warmup", 0, "--batch-size", 8, ranks=ranks, output=f"whole{ranks}.h5")
                self.assertEqual(self.last(output).losses.tobytes(), self.last(f"whole{ranks}.h5").losses[done:].tobytes())

    def test_in_the_evaluation_before_which_the_work_is_saved(self):
        """Test samples one by one, for minutes: the checkpoint is there before, and nobody waits for its end."""
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
                    self.stop(job, pid, parts=(f"after {steps} of {9 * steps} steps",))
                    run = self.last()
                    self.assertEqual((len(run.losses), len(run.samples["validation_loss"])), (steps, 0))
                    self.assertEqual(run.epochs["steps"].tolist(), [steps])

    def test_while_the_overlap_is_measured(self):
        job = self.begin("--steps", 30, "--warmup", 0, "--batch-size", 8, "--evaluate", "off", "--overlap-steps", 1000000, "--checkpoint", "c", ranks=2)
        pid = self.pids(job, 2)[0]
        job.wait_until(self.has_saved(30), 240)
        self.stop(job, pid, parts=("after all 30 steps, before the overlap was measured",))
        self.assertEqual(len(self.last().losses), 30)

    def compute_for(self, job, pid, seconds):
        """Until that process has used so much of a processor: however slow the machine is, it trains by then."""
        ticks = os.sysconf("SC_CLK_TCK")
        used = lambda: sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])) / ticks
        job.wait_until(lambda: used() > seconds, 300)

    def test_among_the_trials_of_an_ablation(self):
        job = self.begin("--ablation", "--steps", 3, "--repetitions", 10000, "--batch-size", 8, ranks=2)
        pids = self.pids(job, 2)
        self.compute_for(job, pids[1], 4)
        self.stop(job, pids[1], parts=("during the trials", "complete rounds"))
        self.assertEqual(self.last_raw("tables")["ablation"]["steps"].tolist(), [3] * 5)

    def test_an_ablation_without_a_whole_round_has_no_numbers(self):
        job = self.begin("--ablation", "--steps", 100000000, "--batch-size", 8)
        self.compute_for(job, job.process.pid, 4)
        self.stop(job, job.process.pid, parts=("during the trials", "there are no numbers"))
        with h5py.File(self.folder / "r.h5") as file:
            (run,) = file["runs"].values()
            self.assertEqual((run.attrs["valid"], run.attrs["exit_code"], len(run["measurements"])), (0, 143, 0))

    def last_raw(self, group):
        with h5py.File(self.folder / "r.h5") as file:
            return {name: data[()] for name, data in list(file["runs"].values())[-1][group].items()}

    def test_of_several_runs_the_others_are_not_begun(self):
        job = self.begin(*self.ENDLESS, "--evaluate", "off", "--repetitions", 3)
        self.compute_for(job, job.process.pid, 4)
        os.kill(job.process.pid, signal.SIGTERM)
        result = job.finish(120)
        self.assertCode(result, 143)
        self.assertIn("the runs that were left are not made", result.stderr)
        (run,) = stored_runs(self.folder / "r.h5")
        self.assertEqual(run.exit_code, 143)

    def test_long_steps_are_asked_after_each(self):
        """Not after 25 of them: with steps of 0.4 s a limit of 1 s is seen after the third at the latest."""
        for ranks in (1, 2):
            result = self.go("--steps", 1000, "--warmup", 0, "--inject-delay", f"{ranks - 1}:forward:400", "--time-limit", 1, ranks=ranks, code=6)
            self.assertLessEqual(len(self.last().losses), 4, str(result))

    def test_no_checkpoint_is_promised_that_was_not_written(self):
        """There is an earlier one, but not of where the run was stopped."""
        job = self.begin(*self.ENDLESS, "--evaluate", "off", "--checkpoint", "c", "--checkpoint-every", 40)
        job.wait_until(self.has_saved(40), 240)
        (self.folder / "c").rename(self.folder / "elsewhere")
        (self.folder / "c").touch()
        self.stop(job, job.process.pid)
        warnings = self.last().warnings
        self.assertIn("of 100000000 steps: the numbers cover what was done", warnings[0])
        self.assertNotIn("--resume", warnings[0])
        self.assertTrue(any("was not written" in warning for warning in warnings), warnings)

    def test_beyond_the_least_steps_of_a_target(self):
        words = ("--target-ci", "0.0001%", "--time-limit", 1000, "--steps", 20, "--warmup", 2, "--evaluate", "off", "--batch-size", 8)
        job = self.begin(*words)
        self.compute_for(job, job.process.pid, 6)
        self.stop(job, job.process.pid, parts=("steps, of which --target-ci wanted 22 at least",))

    def test_a_target_whose_time_is_over_in_an_evaluation(self):
        """As where it is over between two steps: the target was not reached in its time, and no step is missing."""
        self.go("--model", "mnist-cnn", "--target-ci", "0.0001%", "--time-limit", 3, "--steps", 2, "--warmup", 0, "--train-samples", 16, "--batch-size", 4,
                "--evaluate", "epoch", "--validation-samples", 60000, "--eval-batch-size", 1, code=7)
        self.assertFalse(any("the time limit ended the run" in warning for warning in self.last().warnings), self.last().warnings)

    def test_an_evaluation_that_nobody_wanted_has_no_excuse(self):
        self.go("--steps", 100000000, "--warmup", 0, "--evaluate", "off", "--time-limit", 0.5, code=6)
        verdicts = {row["check"].decode(): row["detail"].decode() for row in self.last_raw("tables")["verification"]}
        self.assertEqual(verdicts["test samples counted once"], "no evaluation was made")

    def test_no_evaluation_once_the_time_limit_is_hit(self):
        for validation, words in ((2000, ("--steps", 100000000)), (60000, ("--model", "mnist-cnn", "--eval-batch-size", 1, "--steps", 1))):
            shutil.rmtree(self.folder / "c", ignore_errors=True)
            self.go("--warmup", 0, "--evaluate", "epoch", "--validation-samples", validation, "--time-limit", 2, "--checkpoint", "c", *words, ranks=2, code=6)
            run = self.last()
            self.assertIn("the time limit", run.warnings[0])
            self.assertEqual(len(run.losses), completed(self.folder / "c" / FILE))
            verdicts = {row["check"].decode(): row["detail"].decode() for row in self.last_raw("tables")["verification"]}
            if len(run.samples["validation_loss"]) == 0:
                self.assertEqual(verdicts["test samples counted once"], "no evaluation was made: the time limit had come")
        self.assertIn("after all 1 steps, before the evaluation was made", run.warnings[0])


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
                runs = stored_runs(self.folder / output)
                self.assertEqual(sorted(len(run.losses) for run in runs), sorted([done, 20]))
                rest = next(run for run in runs if run.context["checkpoint"]["resumed_from_step"] == str(done))
                self.assertEqual(rest.losses.tobytes(), self.last(f"whole{ranks}.h5").losses[done:].tobytes())

    def test_the_time_limit_counts_all_steps(self):
        words = ["--warmup", 0, "--checkpoint", "c", "--resume"]
        self.go(*words, "--steps", 7)
        result = self.go(*words, "--steps", 500000, "--time-limit", 0.3, code=6)
        self.assertIn(f"after {completed(self.folder / 'c' / FILE)} of 500000 steps", result.stderr)


class BeginningTest(CheckpointCase):
    def test_options_that_do_not_go_together(self):
        self.refused(2, "--checkpoint DIR", "--resume", words=("--resume",))
        self.refused(2, "--checkpoint DIR", "--checkpoint-every", words=("--checkpoint-every", 3))
        self.refused(2, "--checkpoint-every", words=("--checkpoint", "c", "--checkpoint-every", 0))
        self.refused(2, "--checkpoint", words=("--checkpoint", ""))
        self.refused(2, "--sync none", "drift", words=("--checkpoint", "c", "--sync", "none"), ranks=2)
        self.assertFalse((self.folder / "c").exists())


class RefusedCheckpointTest(CheckpointCase):
    """template-softmax, SGD with momentum at one rank, as the checkpoint to be changed."""

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        result = train("--steps", 3, "--warmup", 0, "--evaluate", "off", "--output", "none", "--checkpoint", cls.shared / "c", *cls.WORDS)
        if result.code != 0:
            raise AssertionError(str(result))
        cls.good = (cls.shared / "c" / FILE).read_bytes()

    WORDS = ("--optimizer", "sgd", "--momentum", "0.9")
    RESUME = ("--checkpoint", "c", "--resume", *WORDS)

    def put(self, content):
        (self.folder / "c").mkdir(exist_ok=True)
        (self.folder / "c" / FILE).write_bytes(content)

    def put_changed(self, change):
        """A checkpoint whose checksum is right and whose contents `change(file)` made wrong."""
        checkpoint = Checkpoint(self.good)
        change(checkpoint)
        self.put(checkpoint.content())

    def test_damaged_and_cut(self):
        flipped = bytearray(self.good)
        flipped[len(flipped) // 2] ^= 0x10
        for content in (self.good[:-1], self.good[: len(self.good) // 2], self.good[:HEADER], self.good[:100], self.good + b"\0", bytes(flipped)):
            self.put(content)
            self.refused(3, f"c/{FILE}", "damaged or cut short", words=self.RESUME)
            self.assertEqual((self.folder / "c" / FILE).read_bytes(), content, "the file was changed")
        self.put(self.good[:-1])
        self.refused(3, f"c/{FILE}", "damaged or cut short", words=self.RESUME, ranks=2)

    def test_foreign_files(self):
        self.go("--steps", 3, output="results.h5")
        for content in (b"", b"a diary\n", (self.folder / "results.h5").read_bytes(), self.good[HEADER:], bytes(4096)):
            self.put(content)
            self.refused(3, f"c/{FILE}", "no checkpoint", words=self.RESUME)
        self.put(sealed(b"not HDF5 at all", b"and no index"))
        self.refused(3, f"c/{FILE}", "damaged", words=self.RESUME)

    def test_whatever_hdf5_says_is_not_looked_at(self):
        """The structures that HDF5 1.10 dies of: each byte that is no array's, made 255, under a right checksum."""
        data, index = parts(self.good)
        broken = bytearray(b"\xff" * len(data))
        read = Checkpoint(self.good)
        for name, values in read.arrays.items():
            at = read.offsets[name]
            broken[at : at + values.nbytes] = values.tobytes()
        self.put(sealed(bytes(broken), index))
        self.go("--steps", 9, "--warmup", 0, *self.RESUME)
        self.assertEqual(len(self.last().losses), 6)

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
            "a negative claim": lambda file: file.claims.__setitem__(f"parameters/{last}", (-1, -1)),
        }
        for what, change in changes.items():
            with self.subTest(what):
                self.put_changed(change)
                self.refused(3, f"c/{FILE}", words=self.RESUME)
        self.put_changed(lambda file: file.settings.clear())
        self.refused(2, f"c/{FILE}", "no --model", words=self.RESUME)  # of another run, as far as it says
        self.put_changed(changes["the shape"])
        self.refused(3, f"c/{FILE}", last, "another model", words=self.RESUME)

    def test_a_text_that_is_not_fit_for_a_terminal(self):
        self.put_changed(lambda file: file.settings.__setitem__(0, (file.settings[0][0], b"\x1b[31m\xff")))
        self.refused(2, "--model", words=self.RESUME)


class PlacesTest(CheckpointCase):
    def test_what_is_no_folder(self):
        (self.folder / "file").write_text("a file")
        self.refused(2, "file", "--checkpoint", words=("--checkpoint", "file"))
        (self.folder / "c" / FILE).mkdir(parents=True)
        self.refused(2, f"c/{FILE}", "--checkpoint", words=("--checkpoint", "c"))

    def test_a_disk_that_is_full_later_loses_neither_run_nor_checkpoint(self):
        # 14.4 MB a checkpoint: one has room, the next beside it has not.
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                place = self.mount_small_tmpfs(20 << 20, f"small{ranks}")
                words = ["--model", "mnist-cnn", "--batch-size", 4, "--warmup", 0, "--checkpoint", place]
                self.go(*words, "--steps", 3, "--checkpoint-every", 1, code=5, ranks=ranks, output=f"r{ranks}.h5")
                run = self.last(f"r{ranks}.h5")
                self.assertEqual((len(run.losses), run.exit_code, run.context["checkpoint"]["written"]), (3, 5, "1"))
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
        """kill -9 of all processes at any moment, again and again, while a checkpoint is written after every step."""
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
