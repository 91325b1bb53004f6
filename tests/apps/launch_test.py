"""Start and end of a job: the launch guard, threads, a killed rank, time limits, NaN losses. Findings of doctor: doctor_test.py; stopped
ranks: tests/slow/apps/stall_and_death_test.py."""

import os
import signal
import time

import ranklab_cli as cli
from ranklab_cli import Case, ranklab, train
from stored_runs import stored_runs

cli.need_train()


class LaunchGuardTest(Case):
    def test_two_singletons_both_refuse_and_say_why(self):
        jobs = [self.start(cli.RANKLAB, "train", "--steps", "3", "--output", "r.h5", env=cli.environment(SLURM_NTASKS=2, SLURM_PROCID=rank))
                for rank in range(2)]
        for job in jobs:
            self.assertSays(job.finish(), 5, "Slurm", "1 rank", f"srun --mpi={cli.LAUNCHER.pmi}", "--expect-ranks 1")
        self.assertEqual(self.names(), [])

    def test_one_process_alone_may_be_meant(self):
        env = cli.environment(SLURM_NTASKS=2, SLURM_PROCID=0)
        self.assertCode(train("--steps", 3, "--expect-ranks", 1, "--output", "none", env=env, cwd=self.folder), 0)
        # In a batch script outside srun Slurm sets SLURM_NTASKS, but the process is not a task.
        env = cli.environment(SLURM_NTASKS=2, SLURM_PROCID=None)
        self.assertCode(train("--steps", 3, "--output", "none", env=env, cwd=self.folder), 0)

    def test_expect_ranks(self):
        self.assertSays(train("--steps", 3, "--expect-ranks", 3, ranks=2, cwd=self.folder), 5, "--expect-ranks 3", "2 ranks")
        self.assertCode(train("--steps", 3, "--expect-ranks", 2, "--output", "none", ranks=2, cwd=self.folder), 0)
        self.assertEqual(self.names(), [])

    def test_ranks_of_different_commands_are_named(self):
        result = cli.run("mpirun", "-n", 1, cli.RANKLAB, "io", "--strategy", "binary", "--output", "none", ":", "-n", 1, cli.RANKLAB, "doctor", cwd=self.folder)
        self.assertCode(result, 2)
        for part in ("'ranklab io", "'ranklab doctor'"):
            self.assertIn(part, result.stderr)

    def test_threads(self):
        """--threads, else OMP_NUM_THREADS, else the cores of the rank."""
        for value, words, threads in (("3", (), 3), (" 2,1", (), 2), ("3", ("--threads", 1), 1)):
            result = ranklab("train", "--dry-run", *words, cwd=self.folder, env=cli.environment(OMP_NUM_THREADS=value))
            self.assertIn(f"# threads: {threads}", result.stdout.splitlines())
        for unusable in (None, "many"):
            result = cli.mpirun(2, cli.RANKLAB, "train", "--dry-run", options=cli.LAUNCHER.bound, cwd=self.folder, env=cli.environment(OMP_NUM_THREADS=unusable))
            self.assertIn("# threads: 1", result.stdout.splitlines())
            warned = [line for line in result.said if line.startswith("warning: ") and f"OMP_NUM_THREADS is '{unusable}'" in line]
            self.assertEqual(len(warned), int(unusable is not None), str(result))


class EndedEarlyTest(Case):
    def test_a_killed_rank_ends_the_job_and_nothing_stored_is_lost(self):
        self.assertCode(train("--steps", 3, "--output", "r.h5", cwd=self.folder), 0)
        before = (self.folder / "r.h5").read_bytes()
        job = self.start(*cli.mpirun_words(3), cli.RANKLAB, "train", "--model", "template-softmax", "--data", "synthetic", "--threads", "1", "--batch-size", "8",
                         "--steps", 10**8, "--evaluate", "off", "--checkpoint", "c", "--checkpoint-every", 20, "--output", "r.h5")
        job.wait_until((self.folder / "c/checkpoint.h5").exists, 120)  # it trains
        ranks = job.ranks()
        os.kill(ranks[1], signal.SIGKILL)
        result = job.finish(60)
        self.assertNotEqual(result.code, 0, str(result))
        self.assertEqual(cli.LAUNCHER.names_killed(result.stderr + result.stdout, 1, ranks[1]), 1, str(result))
        self.assertNotIn("Img/sec", result.stdout)
        deadline = time.monotonic() + 20 * cli.patience()
        while any(map(cli.alive, ranks.values())) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse([pid for pid in ranks.values() if cli.alive(pid)], "a rank outlived the job")
        self.assertEqual((self.folder / "r.h5").read_bytes(), before)
        self.assertCode(train("--steps", 3, "--output", "r.h5", cwd=self.folder), 0)  # no lock is left
        self.assertEqual([run.attrs["valid"] for run in stored_runs(self.folder / "r.h5")], [1, 1])

    def test_the_time_limit_ends_and_stores_the_run(self):
        result = train("--steps", 10**6, "--warmup", 0, "--time-limit", 0.3, "--output", "r.h5", ranks=3, cwd=self.folder)
        self.assertSays(result, 6, "time limit", "1000000 steps")
        (run,) = stored_runs(self.folder / "r.h5")
        self.assertEqual((run.attrs["exit_code"], run.attrs["valid"]), (6, 1))
        self.assertTrue(any("time limit" in warning for warning in run.warnings), run.warnings)
        self.assertTrue(0 < run.samples["step_time_s"].shape[0] < 10**6)
        self.assertIn("throughput_samples_per_s", run.rows)

    def test_a_loss_that_is_not_a_number(self):
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                output = self.folder / f"nan{ranks}.h5"
                result = train("--optimizer", "sgd", "--lr", "1e38", "--steps", 20, "--output", output, ranks=ranks, cwd=self.folder)
                self.assertSays(result, 3, "loss", "step", "rank", "--lr")
                (run,) = stored_runs(output)
                self.assertEqual((run.attrs["exit_code"], run.attrs["valid"]), (3, 0))
                self.assertNotIn("throughput_samples_per_s", run.rows)
                report = ranklab("report", output)
                for stdout in (result.stdout, report.stdout):
                    self.assertIn("INVALID", stdout)
                    self.assertNotIn("Img/sec", stdout)


if __name__ == "__main__":
    cli.main()
