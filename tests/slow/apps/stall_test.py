"""What the watchdog ends and what it lets be. Every phase is made longer than --stall-timeout, by means that a machine has too: much work,
a slow rank, a slow disk. A healthy job is never ended; one with a stopped rank always is, whatever the others wait in.
"""

import os
import shutil
import signal
import subprocess
import time
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab, train

CC = shutil.which("cc") or shutil.which("gcc")
MPICC = shutil.which("mpicc")
SLOW = 2200  # ms, of a --stall-timeout of 1 s
LIMIT = ("--stall-timeout", 1)


@unittest.skipUnless(CC, "there is no C compiler to make a slow disk with")
class SlowDisk(Case):
    """A call on a file that does not come back for long: what is unknown is not taken for a stall."""

    @classmethod
    def setUpClass(cls):
        cls.library = cli.BIN / "libslow_files.so"
        source = cli.SOURCE / "tests" / "support" / "slow_files.c"
        subprocess.run([CC, "-shared", "-fPIC", "-O1", "-o", cls.library, source, "-ldl", "-lpthread"], check=True)

    def slow(self, calls, name, most=1, rank=None):
        return cli.environment(LD_PRELOAD=self.library, SLOW_FILES_CALLS=calls, SLOW_FILES_NAME=name, SLOW_FILES_MS=SLOW, SLOW_FILES_MOST=most,
                               SLOW_FILES_RANK=rank)

    def healthy(self, result):
        self.assertCode(result, 0)
        self.assertGreater(result.seconds, SLOW / 1000, "nothing was slow")
        self.assertNotIn("no progress", result.stderr)

    def io(self, strategy, env, *words, ranks=1):
        place = self.folder / f"{strategy}-{ranks}"
        self.healthy(ranklab("io", "--strategy", strategy, "-n", 2, "--size", 30, "--directory", place, "--output", "none", *LIMIT, *words,
                             ranks=ranks, cwd=self.folder, env=env))

    def test_writing_and_syncing_files(self):
        self.io("binary", self.slow("fsync", "data0"), "-e")
        self.io("binary", self.slow("open", "data0", rank=1), ranks=2)

    def test_a_worker_process_writes(self):
        self.io("process-queue", self.slow("open", "data00001"))

    def test_one_file_of_all_ranks(self):
        self.io("hdf5-parallel-collective", self.slow("fsync", "data.h5", rank=0), "-e", ranks=2)
        self.io("hdf5-parallel-collective", self.slow("close", "data.h5", rank=1), ranks=3)
        self.io("hdf5-parallel-independent", self.slow("open", "data.h5", rank=1), ranks=2)

    def test_reading_back(self):
        self.io("hdf5-serial", self.slow("open", "data.h5"), "-R", ranks=2)

    def test_ceilings(self):
        self.io("binary", self.slow("open", "ranklab-ceiling-"), "--ceilings", "on", ranks=2)

    def test_a_run_is_stored(self):
        for ranks in (1, 2):
            self.healthy(ranklab("io", "--strategy", "binary", "-n", 2, "--size", 30, "--output", "r.h5", *LIMIT, ranks=ranks, cwd=self.folder,
                                 env=self.slow("fsync rename", ".h5", most=2)))
            self.assertTrue((self.folder / "r.h5").exists())

    def test_data_sets(self):
        def data(*words, ranks=1, env=None):
            return ranklab("data", *words, *LIMIT, ranks=ranks, cwd=self.folder, env=env)

        self.healthy(data("make", "cosmology", "v.h5", "--edge", 16, ranks=2, env=self.slow("open", "v.h5", rank=0)))
        self.healthy(data("make", "mnist", "m", "--train", 20, "--test", 10, ranks=2, env=self.slow("fsync", "/m/", rank=1)))
        self.healthy(data("verify", "v.h5", ranks=3, env=self.slow("open", "v.h5", rank=0)))
        self.healthy(data("convert", "v.h5", "v", env=self.slow("open", "v_data", most=1)))

    @needs_train
    def test_a_checkpoint(self):
        self.healthy(train("--steps", 3, "--warmup", 0, "--checkpoint", "c", "--output", "none", *LIMIT, ranks=2, cwd=self.folder,
                           env=self.slow("fsync", "/c/")))
        self.assertTrue(list((self.folder / "c").iterdir()))

    @needs_train
    def test_data_are_read(self):
        cli.make_idx(self.folder / "data")
        self.healthy(train("--data", "mnist", "--data-dir", "data", "--steps", 3, "--warmup", 0, "--output", "none", *LIMIT, ranks=3,
                           cwd=self.folder, env=self.slow("open", "train-images", rank=0)))


@needs_train
class SlowWork(Case):
    """A rank that works for long keeps the job alive, its own and those that wait for it."""

    def healthy(self, *words, ranks):
        result = train("--output", "none", *LIMIT, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertNotIn("no progress", result.stderr)
        return result

    def test_an_evaluation_longer_than_the_limit(self):
        """The command that ended with 5, at each number of ranks."""
        for ranks in (1, 2, 3):
            with self.subTest(ranks=ranks):
                result = self.healthy("--steps", 2, "--validation-samples", 12000, "--batch-size", 1, ranks=ranks)
                self.assertIn("test accuracy", result.stdout)

    def test_a_slow_rank_is_waited_for(self):
        for sync in cli.sync_strategies():
            with self.subTest(sync=sync):
                self.healthy("--steps", 1, "--warmup", 0, "--evaluate", "off", "--sync", sync, "--inject-delay", f"1:forward:{SLOW}",
                             "--overlap-steps", 0, ranks=2)

    def test_an_overlap_probe_and_an_ablation(self):
        self.healthy("--steps", 1, "--warmup", 0, "--evaluate", "off", "--inject-delay", "1:backward:600", "--overlap-steps", 2, ranks=2)
        self.healthy("--steps", 1, "--warmup", 0, "--inject-delay", "0:data:400", "--ablation", "--repetitions", 1, ranks=2)


class StoppedRank(Case):
    """Ranks that turn round and round in MPI burn processor time, and are at no work."""

    def stop(self, command, ready, stopped=1, ranks=2, limit=2, **how):
        """The job's end after a rank was stopped, once ready(job) holds."""
        job = self.start(*cli.mpirun_words(ranks), cli.RANKLAB, *command, "--stall-timeout", limit, "--output", "none", **how)
        job.wait_until(lambda: ready(job))
        found = job.ranks()
        os.kill(found[stopped], signal.SIGSTOP)
        result = job.finish(60)
        self.assertCode(result, 5)
        said = [line for line in result.said if f"no progress for {limit} s on any rank" in line]
        self.assertEqual(len(said), 1, str(result))
        self.assertIn(f"rank {stopped} on {os.uname().nodename} does not answer", said[0])
        deadline = time.monotonic() + 20  # the launcher kills a stopped rank a moment later
        while any(map(cli.alive, found.values())) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertFalse([pid for pid in found.values() if cli.alive(pid)], "a rank outlived the job")
        return said[0]

    @needs_train
    def test_while_gradients_are_summed(self):
        for number, sync in enumerate(cli.sync_strategies()):
            with self.subTest(sync=sync):
                said = self.stop(("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--steps", 10000000, "--warmup", 0,
                                  "--evaluate", "off", "--sync", sync), self.has_made_steps, stopped=number % 2)
                self.assertIn("training", said)

    @needs_train
    def test_while_another_evaluates(self):
        self.stop(("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--steps", 2, "--warmup", 0, "--batch-size", 1,
                   "--validation-samples", 60000), self.has_two_ranks, ranks=3, stopped=2)

    def test_while_a_file_is_written_together(self):
        for strategy in ("hdf5-parallel-collective", "hdf5-parallel-independent", "mpi-scatter", "mpi-send"):
            with self.subTest(strategy=strategy):
                place = self.folder / strategy
                self.stop(("io", "--strategy", strategy, "-n", 1000, "--size", 64, "--layout", "single", "--directory", place),
                          lambda job: len(job.ranks()) == 2 and any(place.glob("data*")))

    def test_longer_than_the_lines_of_progress_are_apart(self):
        """Who has written all its own and waits tells nothing new: it wrote a line each 2 ms, which looked like work."""
        place = self.folder / "output"
        self.stop(("io", "--strategy", "hdf5-parallel-independent", "-n", 1000, "--size", 64, "--layout", "single", "--directory", place),
                  lambda job: len(job.ranks()) == 2 and any(place.glob("data*")), limit=7)

    def test_a_worker_process(self):
        job = self.start(cli.RANKLAB, "io", "--strategy", "process-queue", "-n", 100000, "--size", 40, "--stall-timeout", 1, "--output", "none")
        worker = job.wait_until(lambda: any(self.folder.rglob("data*")) and cli.descendants(job.process.pid))[0]
        os.kill(worker, signal.SIGSTOP)
        result = job.finish(60)
        self.assertSays(result, 5, "no progress for 1 s", "process-queue", "--stall-timeout")

    def test_before_any_work(self):
        """As soon as the ranks know each other, whatever they are at."""
        started = lambda job: len(job.ranks()) == 2 and b"# ranks" in os.pread(job._stdout.fileno(), 1 << 20, 0)
        self.stop(("io", "--strategy", "hdf5-parallel-collective", "-n", 100000, "--size", 64), started, stopped=0)

    def has_two_ranks(self, job):
        return len(job.ranks()) > 1 and b"# model" in os.pread(job._stdout.fileno(), 1 << 20, 0)

    def has_made_steps(self, job):
        return b" steps " in os.pread(job._stderr.fileno(), 1 << 20, 0) and len(job.ranks()) > 1


@unittest.skipUnless(MPICC, "mpicc is not installed")
class StoppedAtTheEnd(Case):
    """MPI_Finalize waits for all ranks, after the watchdog and the lifeline have ended."""

    def test_a_rank_that_is_stopped_in_it(self):
        library = self.folder / "libstops.so"
        source = cli.SOURCE / "tests" / "support" / "lying_mpi.c"
        subprocess.run([MPICC, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        for stopped in (0, 1):
            env = cli.environment(LD_PRELOAD=library, LYING_MPI_STOPS_AT_END=stopped)
            job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", "binary", "-n", 2, "--size", 20, "--output", "r.h5",
                             *LIMIT, env=env)
            job.wait_for_stdout("Next: ")  # it is stored
            result = job.finish(60)
            # Hydra ends the stopped one by a signal, and may give that one's code.
            code = 5 if cli.LAUNCHER.is_open_mpi or result.code != 1 else 1
            self.assertSays(result, code, f"rank {1 - stopped} on", "MPI did not finish within 10 s", "--stall-timeout")


class LongLimit(Case):
    def test_a_limit_of_three_hundred_years_is_one(self):
        for limit in ("1e10", "1e15"):
            result = ranklab("io", "--strategy", "binary", "-n", 2, "--size", 20, "--output", "none", "--stall-timeout", limit, cwd=self.folder)
            self.assertCode(result, 0)
            self.assertEqual(result.said, [])


if __name__ == "__main__":
    cli.main()
