"""A finished run is stored, or lies in a file whose path is printed; its answer is printed in any case: with the results
file locked by others, without a reader, ended by a signal, at one rank and several."""

import fcntl
import json
import os
import re
import signal
import subprocess
import time

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

(h5py,) = cli.modules("h5py")

ANSWER = "job_time_s"  # of the table that `io` prints with --verbose
SMALL = ("io", "--verbose", "--strategy", "binary", "--files", 2, "--size", 4, "--output", "r.h5")
JSON = ("io", "--json", *SMALL[2:])


def command(*words, ranks=1):
    words = (cli.RANKLAB, *words)
    return words if ranks == 1 else (*cli.mpirun_words(ranks), *words)


class DeliveryCase(Case):
    def hold_lock(self):
        """The results file's lock, as another job's process would hold it."""
        self.lock = open(self.folder / "r.h5.lock", "w")
        self.addCleanup(self.lock.close)
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def drop_lock(self):
        self.lock.close()

    def runs_in(self, path):
        with h5py.File(path) as file:
            return {name: dict(group.attrs) for name, group in file["runs"].items()}

    def stored(self):
        return self.runs_in(self.folder / "r.h5") if (self.folder / "r.h5").exists() else {}

    def pending(self):
        return sorted(self.folder.glob("r.h5.*.pending.h5"))

    def assertRescued(self, result):
        """The one run is alone on the disk, its path and what to do are printed; that is done here."""
        told = re.search(r"it is in (\S+\.h5) \(ranklab report reads it, `ranklab results merge r.h5 \1` adds", result.stderr)
        self.assertIsNotNone(told, str(result))
        self.assertIsAlone(told.group(1))

    def assertIsAlone(self, place):
        self.assertEqual(len(self.runs_in(place)), 1)
        self.assertIn(ANSWER, ranklab("report", place).stdout)
        before = len(self.stored())
        merged = ranklab("results", "merge", "r.h5", place, cwd=self.folder)
        self.assertCode(merged, 0)
        self.assertIn("removed ", merged.stdout)
        self.assertEqual(len(self.stored()), before + 1)
        self.assertEqual(self.pending(), [])


class LockTest(DeliveryCase):
    def test_a_lock_that_others_keep(self):
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                self.hold_lock()
                job = self.start(*command(*SMALL, "--lock-timeout", 1, ranks=ranks))
                result = job.finish()
                self.drop_lock()
                self.assertCode(result, 5)
                self.assertIn(ANSWER, result.stdout)
                self.assertNotIn("Stored as", result.stdout)
                self.assertRegex(result.stderr, rf"waiting for process {os.getpid()} \(\S+\), which holds \S+r\.h5\.lock")
                self.assertRescued(result)

    def test_a_lock_that_is_held_for_longer_than_the_stall_time(self):
        """It says whom it waits for, and stores when they are done: nobody ends the job."""
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                before = len(self.stored())
                self.hold_lock()
                job = self.start(*command(*SMALL, "--stall-timeout", 4, ranks=ranks))
                job.wait_for_stderr("waiting for process")
                time.sleep(9)  # more than two stall times
                self.assertIsNone(job.process.poll())
                self.drop_lock()
                result = job.finish()
                self.assertCode(result, 0)
                self.assertIn("Stored as", result.stdout)
                self.assertEqual(len(self.stored()), before + 1)
                self.assertEqual(self.pending(), [])

    def test_results_commands_do_not_wait_for_ever_either(self):
        self.assertCode(ranklab(*SMALL, cwd=self.folder), 0)
        self.hold_lock()
        for words in (("merge", "r.h5", "r.h5"), ("prune", "r.h5", "--keep-last", 0, "--yes")):
            result = ranklab("results", *words, "--lock-timeout", 0.2, cwd=self.folder)
            self.assertCode(result, 5)
            self.assertIn("has held", result.stderr)


class SignalTest(DeliveryCase):
    def wait_at_lock(self, ranks=1):
        self.hold_lock()
        job = self.start(*command(*SMALL, ranks=ranks))
        job.wait_for_stderr("waiting for process")
        return job

    def test_sigterm_while_the_lock_is_waited_for(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                job = self.wait_at_lock()
                os.kill(job.process.pid, number)
                result = job.finish()
                self.assertCode(result, 128 + number)
                self.assertIn(ANSWER, result.stdout)
                self.drop_lock()
                self.assertRescued(result)

    def test_sigterm_to_the_launcher(self):
        """It lets no more words of its ranks through: the place was said before."""
        job = self.wait_at_lock(ranks=2)
        os.kill(job.process.pid, signal.SIGTERM)
        result = job.finish()
        if cli.LAUNCHER.is_open_mpi:  # Hydra's own code may be 0 once it has passed a signal on
            self.assertNotEqual(result.code, 0)
        self.assertIn(ANSWER, result.stdout)
        self.drop_lock()
        told = re.search(r"the run is in (\S+\.h5) meanwhile", result.stderr)
        self.assertIsNotNone(told, str(result))
        self.assertIsAlone(told.group(1))

    def test_kill_9_leaves_a_file_that_the_next_run_names(self):
        job = self.wait_at_lock()
        os.kill(job.process.pid, signal.SIGKILL)
        self.assertIn(ANSWER, job.finish().stdout)
        self.drop_lock()
        (left,) = self.pending()
        self.assertEqual(len(self.runs_in(left)), 1)
        following = ranklab(*SMALL, cwd=self.folder)
        self.assertCode(following, 0)
        # Nobody can tell that it has ended where it was started on another host, whose lock may not reach here.
        told = re.search(r"warning: .*1 run\(s\) lie beside r.h5, and no job of this host will store them: `ranklab (results merge .*)` "
                         r"adds them to it, once no other host works on them", following.stderr)
        self.assertIsNotNone(told, str(following))
        merged = cli.run("sh", "-c", f"exec {cli.RANKLAB} {told.group(1)}", cwd=self.folder)  # a shell: it is a pattern
        self.assertCode(merged, 0)
        self.assertEqual(len(self.stored()), 2)
        self.assertEqual(self.pending(), [])
        self.assertNotIn("warning", ranklab(*SMALL, cwd=self.folder).stderr)

    def test_a_run_that_waits_is_not_merged_by_others(self):
        job = self.wait_at_lock()
        (place,) = self.pending()
        result = ranklab("results", "merge", "other.h5", place, cwd=self.folder)
        self.assertSays(result, 2, place.name, "still works")
        self.assertCode(ranklab(*SMALL[:-1], "left.h5", cwd=self.folder), 0)
        result = ranklab("results", "merge", "other.h5", place, "left.h5", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertIn("left out: ", result.stdout)
        self.assertEqual(len(self.runs_in(self.folder / "other.h5")), 1)
        self.assertEqual(self.pending(), [place])
        os.kill(job.process.pid, signal.SIGKILL)
        job.finish()


class StdoutTest(DeliveryCase):
    def check(self, redirection):
        result = cli.run("bash", "-c", f'"$0" "$@" {redirection}; exit ${{PIPESTATUS[0]}}', cli.RANKLAB, *SMALL, cwd=self.folder)
        self.assertCode(result, 5)
        self.assertRegex(result.stderr, r"stdout; .*; the run is stored as \S+ in r\.h5")
        self.assertEqual(self.pending(), [])

    def test_it_is_stored_though_the_answer_cannot_be_printed(self):
        for number, redirection in enumerate((">/dev/full", ">&-", "| true", "| head -c 10 >/dev/null"), 1):
            with self.subTest(redirection=redirection):
                self.check(redirection)
                self.assertEqual(len(self.stored()), number)

    def test_json_that_nobody_reads_does_not_hold_back_the_storing(self):
        words = (*JSON, "--repetitions", 3000, "--ceilings", "off")
        job = subprocess.Popen([str(word) for word in (cli.RANKLAB, *words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=self.folder, env=cli.environment())
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        said = next(line for line in job.stderr if "Stored as" in line)
        self.assertEqual(self.pending(), [])
        (name,) = self.stored()
        self.assertIn(f"Stored as {name} in r.h5", said)
        self.assertIsNone(job.poll(), "it waits for the reader")
        data, _ = job.communicate(timeout=60)
        self.assertGreater(len(data), 1 << 16, "more than a pipe holds")
        self.assertEqual([run["id"] for run in json.loads(data)["runs"]], [name])

    def test_json_of_several_runs_that_cannot_be_printed(self):
        result = cli.run("bash", "-c", '"$0" "$@" >/dev/full', cli.RANKLAB, *JSON, "--strategy", "text-loop,binary", cwd=self.folder)
        self.assertCode(result, 5)
        self.assertEqual(len(self.stored()), 3)
        self.assertRegex(result.stderr, r"stdout; .*; 3 run\(s\) are stored in r\.h5")

    def test_without_any_stream_the_file_is_a_results_file(self):
        """What is printed must not go into the file that took a stream's number."""
        result = cli.run("bash", "-c", '"$0" "$@" <&- >&- 2>&-', cli.RANKLAB, *SMALL, cwd=self.folder)
        self.assertCode(result, 5)
        self.assertCode(ranklab("results", "check", "r.h5", cwd=self.folder), 0)
        self.assertEqual(len(self.stored()), 1)


class KeptTest(DeliveryCase):
    """A long run secures what it has while it works."""

    LONG = ("io", "--files", 2, "--size", 4, "--output", "r.h5", "--repetitions", 10000000, "--ceilings", "off")

    def long_run(self, *words, ranks=1, count=1):
        job = self.start(*command(*self.LONG, *words, ranks=ranks))
        job.wait_until(lambda: len(self.pending()) >= count, 60)
        return job

    def assertPartial(self, path):
        (attributes,) = self.runs_in(path).values()
        self.assertEqual(attributes["valid"], 0)
        self.assertIn("NOT COMPLETE", str(attributes["warnings_json"]))
        with h5py.File(path) as file:
            (run,) = file["runs"].values()
            self.assertGreater(run["samples/job_time_s"].shape[0], 1)

    def test_kill_9(self):
        job = self.long_run("--strategy", "binary")
        os.kill(job.process.pid, signal.SIGKILL)
        job.finish()
        (place,) = self.pending()
        self.assertPartial(place)

    def assertStopped(self, result, number, runs=1):
        """Each run is stored with its whole repetitions, and says who stopped it."""
        name = {signal.SIGINT: "Ctrl-C (SIGINT)"}.get(number, number.name)
        self.assertCode(result, 128 + number)
        self.assertEqual(self.pending(), [], str(result))
        with h5py.File(self.folder / "r.h5") as file:
            groups = [group for group in file["runs"].values() if "samples/job_time_s" in group]
            self.assertEqual(len(groups), runs)
            for group in groups:
                self.assertEqual((group.attrs["valid"], group.attrs["exit_code"]), (1, 128 + number))
                made = group["samples/job_time_s"].shape[0]
                self.assertGreater(made, 1)
                said = f"stopped by {name} after {made} of 10000000 repetitions"
                self.assertIn(said, str(group.attrs["warnings_json"]))
                self.assertIn(said, result.stderr)
        self.assertEqual(len([line for line in result.said if "stopped by " in line]), runs, str(result))

    def test_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                job = self.long_run("--strategy", "binary")
                os.kill(job.process.pid, number)
                self.assertStopped(job.finish(), number)
                (self.folder / "r.h5").unlink()

    def test_a_rank_that_is_killed(self):
        job = self.long_run("--strategy", "binary", "--verbose", ranks=2)
        os.kill(job.ranks()[1], signal.SIGKILL)
        result = job.finish()
        self.assertNotEqual(result.code, 0)
        (place,) = self.pending()
        self.assertPartial(place)
        self.assertIn(f"is kept in {place} until the run is stored", result.stderr)

    def test_one_of_several_ranks_is_told_to_stop(self):
        """Whichever it is, and wherever: all leave together, and what is whole is kept."""
        for number, rung in enumerate(("mpi-send", "mpi-scatter", "hdf5-parallel-independent", "hdf5-parallel-collective", "binary")):
            for rank in (0, 1):
                with self.subTest(rung=rung, rank=rank):
                    job = self.long_run("--strategy", rung, ranks=2 + number % 2)
                    os.kill(job.ranks()[rank], signal.SIGTERM)
                    result = job.finish()
                    self.assertStopped(result, signal.SIGTERM)
                    self.assertNotIn("did not reach the end", result.stderr)
                    (self.folder / "r.h5").unlink()

    def test_runs_that_take_turns(self):
        job = self.long_run("--strategy", "text-loop,binary", "--order", "interleaved", count=2)
        os.kill(job.process.pid, signal.SIGTERM)
        self.assertStopped(job.finish(), signal.SIGTERM, runs=2)
        self.assertEqual(len(self.stored()), 3, "the comparison of both")

    def test_runs_that_come_after_are_not_made(self):
        job = self.long_run("--strategy", "text-loop,binary,hdf5-serial", "--order", "sequential")
        os.kill(job.process.pid, signal.SIGINT)
        result = job.finish()
        self.assertCode(result, 130)
        (run,) = self.stored().values()
        self.assertEqual(run["exit_code"], 130)
        self.assertIn("the runs that were left are not made", result.stderr)


@cli.needs_train
class KeptTrainingTest(DeliveryCase):
    """What a training has measured is on the disk before it does what takes long and makes no steps."""

    # A second evaluation, of samples one by one for minutes, is the last there is to do.
    LAST_EVALUATION = ("--model", "mnist-cnn", "--train-samples", 16, "--validation-samples", 60000, "--eval-batch-size", 1, "--batch-size", 4,
                       "--warmup", 0, "--epochs", 2, "--evaluate", "end")
    STEPS = 2 * 16 // 4 // 2  # at two ranks

    def begin(self, *words):
        job = self.start(*command("train", "--data", "synthetic", "--threads", 1, "--output", "r.h5", *words, ranks=2))
        job.wait_until(lambda: self.pending(), 120)
        return job, job.ranks()

    def end(self, job):
        """The launcher ends before its ranks do: until rank 0 has let go of what it kept."""
        result = job.finish(60)
        self.assertNotEqual(result.code, 0, str(result))
        (place,) = self.pending()
        deadline = time.monotonic() + 20 * cli.patience()
        with open(place) as file:
            while time.monotonic() < deadline:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return result
                except BlockingIOError:
                    time.sleep(0.05)
        self.fail(f"{place} is still in use\n{result}")

    def assertKept(self, measurement, rows, *parts):
        """One run waits, marked; it comes home."""
        (place,) = self.pending()
        (attributes,) = self.runs_in(place).values()
        self.assertEqual(attributes["valid"], 0)
        for part in ("NOT COMPLETE", *parts):
            self.assertIn(part, str(attributes["warnings_json"]))
        self.assertCode(ranklab("results", "merge", "r.h5", place, cwd=self.folder), 0)
        self.assertEqual(self.pending(), [])
        with h5py.File(self.folder / "r.h5") as file:
            (run,) = file["runs"].values()
            self.assertEqual(run[f"samples/{measurement}"].shape[0], rows)

    def test_a_rank_is_killed_in_the_last_evaluation(self):
        for words, saved in (((), False), (("--checkpoint", "c", "--checkpoint-every", self.STEPS), True)):
            with self.subTest(words=words):
                job, ranks = self.begin(*self.LAST_EVALUATION, *words)
                if saved:  # it is kept before that is written, and again after it
                    job.wait_until(lambda: list((self.folder / "c").glob("*.h5")), 60)
                os.kill(ranks[1], signal.SIGKILL)
                self.end(job)
                self.assertKept("step_time_s", self.STEPS, f"after all {self.STEPS} steps, before the ")
                (self.folder / "r.h5").unlink()

    def test_a_rank_is_stopped_in_the_last_evaluation(self):
        job, ranks = self.begin(*self.LAST_EVALUATION, "--stall-timeout", 2)
        os.kill(ranks[1], signal.SIGSTOP)
        result = self.end(job)
        self.assertCode(result, 5)
        (place,) = self.pending()
        self.assertIn(f"it is in {place}", result.stderr)
        self.assertKept("step_time_s", self.STEPS, f"after all {self.STEPS} steps, before the evaluation was made")

    def test_evaluations_between_epochs(self):
        """Kept now and then: whole epochs, the last one not evaluated yet."""
        job, ranks = self.begin("--model", "template-softmax", "--train-samples", 64, "--validation-samples", 64, "--batch-size", 8, "--warmup", 0,
                                "--epochs", 1000000)
        os.kill(ranks[0], signal.SIGKILL)
        self.end(job)
        (place,) = self.pending()
        with h5py.File(place) as file:
            (run,) = file["runs"].values()
            epochs = run["tables/epochs"][()]
            self.assertEqual(run["samples/step_time_s"].shape[0], epochs["steps"].sum())
            self.assertEqual(run["samples/validation_loss"].shape[0], len(epochs) - 1)
        self.assertKept("step_time_s", epochs["steps"].sum(), f"after {epochs['steps'].sum()} of 4000000 steps")

    def test_the_rounds_of_an_ablation(self):
        job, ranks = self.begin("--model", "template-softmax", "--ablation", "--steps", 3, "--repetitions", 10000, "--batch-size", 8)
        os.kill(ranks[1], signal.SIGKILL)
        self.end(job)
        (place,) = self.pending()
        with h5py.File(place) as file:
            (run,) = file["runs"].values()
            trials = run["measurements"][()]
        self.assertIn(b"throughput_full_samples_per_s", trials["name"].tolist())

    def test_a_whole_run_leaves_nothing_beside_it(self):
        result = cli.train("--steps", 4, "--warmup", 0, "--checkpoint", "c", "--output", "r.h5", ranks=2, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertEqual(self.pending(), [])
        (run,) = self.stored().values()
        self.assertEqual(run["valid"], 1)
        self.assertNotIn("kept", str(run["warnings_json"]))


class FailingVariantTest(DeliveryCase):
    TOO_MANY_THREADS = ("--threads", len(os.sched_getaffinity(0)) + 1)  # every run warns of that

    def test_the_runs_before_it_are_compared_all_the_same(self):
        """The third rung finds a folder where its file must be."""
        blocker = self.folder / "output" / "hdf5-serial" / "data.h5"
        blocker.mkdir(parents=True)
        (blocker / "in").write_text("the way")
        result = ranklab(*SMALL[:3], "text-vectorized,binary,hdf5-serial", *SMALL[4:], *self.TOO_MANY_THREADS, cwd=self.folder)
        self.assertNotEqual(result.code, 0)
        stored = self.stored().values()
        self.assertEqual(len(stored), 3, str(result))
        (summary,) = [run for run in stored if run["valid"] == 0]
        self.assertIn("2 of 3 runs", str(summary["warnings_json"]))
        self.assertIn("over previous", result.stdout)
        first, *others = json.loads(summary["warnings_json"])
        self.assertTrue(first.startswith("the run is NOT COMPLETE: "), first)
        self.assertSaidOnce(others, runs=2)

    def test_what_every_run_warns_of_is_said_once(self):
        result = ranklab(*SMALL[:3], "text-vectorized,binary", *SMALL[4:], *self.TOO_MANY_THREADS, cwd=self.folder)
        self.assertCode(result, 0)
        (summary,) = [run for run in self.stored().values() if "of 2 runs" in str(run["warnings_json"])]
        self.assertSaidOnce(json.loads(summary["warnings_json"]), runs=2)

    def assertSaidOnce(self, warnings, runs):
        threads = [warning for warning in warnings if "use fewer threads" in warning]
        self.assertEqual(len(threads), 1, warnings)
        self.assertTrue(threads[0].endswith(f" ({runs} of {runs} runs)"), threads)


if __name__ == "__main__":
    cli.main()
