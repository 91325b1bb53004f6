"""A rank that is suspended, killed or signalled, in each program: the job ends and leaves no process."""

import os
import signal
import subprocess
import time

import ranklab_cli as cli
from ranklab_cli import Case

MPICC = cli.shutil.which("mpicc")
RANKS = 3
LIMIT = ("--stall-timeout", 5, "--output", "none")
TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--steps", 1000000, "--evaluate", "off")
IO = ("io", "--strategy", "mpi-scatter", "-n", 100000, "-s", 64)
COMM = ("comm", "--op", "allreduce", "-b", "1K", "-e", "1M", "-f", 2, "-n", 1000000)
COMMANDS = (*((TRAIN, (*TRAIN, "--zero", 1), (*TRAIN, "--zero", 3)) if cli.HAS_TRAIN else ()), IO, COMM, (*COMM, "--nonblocking"))


class StallAndDeath(Case):
    def begin(self, command):
        """Starts a job, and returns it with its ranks' processes once it measures."""
        job = self.start(*cli.mpirun_words(RANKS), cli.RANKLAB, *command, *LIMIT)
        job.wait_until(lambda: len(job.ranks()) == RANKS and b"# ranks" in os.pread(job._stdout.fileno(), 1 << 20, 0), 60)
        ranks = job.ranks()
        time.sleep(1)
        self.assertIsNone(job.process.poll())
        return job, ranks

    def end(self, job, ranks, limit):
        begin = time.monotonic()
        result = job.finish(60)
        self.assertLess(time.monotonic() - begin, limit * cli.patience(), str(result))
        deadline = time.monotonic() + 10  # the launcher kills a suspended rank later
        while any(map(cli.alive, ranks.values())) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse([pid for pid in ranks.values() if cli.alive(pid)], "a rank outlived the job")
        return result

    def test_a_stopped_rank(self):
        for stopped in (0, 1):
            for command in COMMANDS:
                with self.subTest(command=command, stopped=stopped):
                    job, ranks = self.begin(command)
                    os.kill(ranks[stopped], signal.SIGSTOP)
                    result = self.end(job, ranks, 15)
                    self.assertCode(result, 5)
                    said = [line for line in result.said if "no progress for 5 s while " in line]
                    self.assertTrue(said, str(result))
                    self.assertRegex(said[0], rf"^rank [0-2] on {os.uname().nodename}: .*; job aborted \(--stall-timeout\)$")
                    self.assertNotIn(f"rank {stopped} on", said[0])

    def test_a_stopped_rank_while_one_rank_works_alone(self):
        job, ranks = self.begin(("io", "--strategy", "binary", "-n", 1000000, "-s", 64))
        os.kill(ranks[0], signal.SIGSTOP)
        result = self.end(job, ranks, 15)
        self.assertCode(result, 5)
        self.assertTrue(any("no progress for 5 s while " in line for line in result.said), str(result))

    def test_a_killed_rank(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                job, ranks = self.begin(command)
                os.kill(ranks[1], signal.SIGKILL)
                self.assertNotEqual(self.end(job, ranks, 20).code, 0)

    def test_a_signal_to_one_rank_at_its_start(self):
        for command in COMMANDS:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(command=command, signal=number):
                    job = self.start(*cli.mpirun_words(RANKS), cli.RANKLAB, *command, *LIMIT)
                    job.wait_until(lambda: len(job.ranks()) == RANKS, 60)
                    ranks = job.ranks()
                    os.kill(ranks[1], number)
                    self.assertNotEqual(self.end(job, ranks, 25).code, 0)

    def test_a_rank_that_is_stopped_at_its_start(self):
        job = self.start(*cli.mpirun_words(RANKS), cli.RANKLAB, *IO, *LIMIT)
        job.wait_until(lambda: len(job.ranks()) == RANKS, 60)
        ranks = job.ranks()
        os.kill(ranks[1], signal.SIGSTOP)
        self.assertNotEqual(self.end(job, ranks, 25).code, 0)

    @cli.unittest.skipUnless(MPICC, "mpicc is not installed")
    def test_a_rank_that_is_stopped_in_MPI_Finalize(self):
        """The run is stored, and the other ranks exit with its code."""
        library = self.folder / "libstops.so"
        subprocess.run([MPICC, "-shared", "-fPIC", "-O1", "-o", library, cli.SOURCE / "tests" / "support" / "lying_mpi.c"], check=True)
        env = cli.environment(LD_PRELOAD=library, LYING_MPI_STOPS_AT_END=1)
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", "binary", "-n", 2, "-s", 20, "--output", "r.h5", env=env)
        job.wait_for_stdout("  stored  ")
        ranks = job.ranks()
        result = self.end(job, ranks, 30)
        self.assertIn("MPI_Finalize", result.stderr)

    def test_work_that_takes_long_and_moves_is_no_stall(self):
        result = cli.ranklab("io", "--strategy", "binary", "-n", 1000000, "-s", 30, "--time-limit", 6, "--stall-timeout", 3, "--output", "none",
                             ranks=1, cwd=self.folder)
        self.assertCode(result, 6)


if __name__ == "__main__":
    cli.main()
