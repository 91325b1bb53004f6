"""The job scripts under Slurm on two hosts: cpu.slurm and sweep.slurm run to their end; a job at its time limit stores its samples, is
requeued and resumes from its checkpoint.
"""

import shutil
import signal
import subprocess
import time

import hosts
from hosts import cli
from stored_runs import stored_runs


class JobScriptsTest(hosts.Case):
    def setUp(self):
        super().setUp()
        for name in ("configs", "jobscripts"):
            shutil.copytree(cli.SOURCE / name, self.folder / name)  # each host has its own /tmp
        self.env = cli.environment(**{**self.env, "RANKLAB_BIN": self.ranklab.parent})

    def slurm(self, *words):
        return subprocess.run(words, env=self.env, cwd=self.folder, capture_output=True, text=True, check=True).stdout.strip()

    def log(self):
        path = self.folder / "job.log"
        return path.read_text()[-4000:] if path.exists() else "(there is no log)"

    def assertRuns(self, *words):
        result = self.start("sbatch", "--wait", "--output=job.log", *words, env=self.env).finish(240)
        self.assertEqual(result.code, 0, f"{result}\n{self.log()}")
        return stored_runs(self.folder / "results" / "ranklab.h5")

    def test_a_config_and_a_command_on_two_hosts(self):
        self.assertRuns("-N2", "jobscripts/cpu.slurm", "configs/mnist/mnist_smoke.ini", "--steps", "3", "--evaluate", "off")
        runs = self.assertRuns("-N2", "jobscripts/cpu.slurm", "comm", "-e", "64", "-n", "3", "-w", "1")
        self.assertEqual([run.attrs["command"] for run in runs], ["train", "comm"])
        for run in runs:
            self.assertEqual(([host["host"] for host in run.hosts], run.attrs["valid"]), (["n1", "n2"], 1))

    def test_a_sweep_in_one_job(self):
        runs = self.assertRuns("-N2", "jobscripts/sweep.slurm", "io", "--strategy", "mpi-scatter", "--ranks", "1,2", "--repeat", "1", "-n", "5", "-s", "10")
        self.assertEqual(sorted(len(run.hosts) for run in runs if run.rows), [1, 2], self.log())

    def test_a_job_whose_time_is_up_goes_on_in_its_next_life(self):
        """By Slurm's own warning, at a limit of a minute. Both parts are stored, and together they are all steps."""
        steps = 1500
        number = self.slurm("sbatch", "--parsable", "--output=job.log", "-N2", "--time=1", "--signal=USR1@15", "jobscripts/cpu.slurm",
                            "configs/mnist/mnist_smoke.ini", "--model", "template-softmax", "--steps", str(steps), "--warmup", "0", "--evaluate", "off",
                            "--inject-delay", "0:forward:40", "--overlap-steps", "0", "--checkpoint", "c", "--resume")
        self.until(number, "PENDING", restarts=1)
        self.assertIn("SIGUSR1", self.log())
        # Not after two minutes, and to its end. Slurm kills a second life that begins while the first one is cleared away.
        self.slurm("scontrol", "update", f"jobid={number}", "StartTime=now+10", "TimeLimit=30")
        self.until(number, "COMPLETED", restarts=1)
        first, last = stored_runs(self.folder / "results" / "ranklab.h5")
        self.assertEqual((first.attrs["exit_code"], last.attrs["exit_code"]), (128 + signal.SIGUSR1, 0), self.log())
        made = [run.samples["step_time_s"].shape[0] for run in (first, last)]
        self.assertEqual((sum(made), made[0] > 0), (steps, True))

    def until(self, number, state, restarts):
        end = time.monotonic() + 150 * cli.patience()
        while f"JobState={state} " not in (said := self.slurm("scontrol", "show", "job", number)) or f"Restarts={restarts} " not in said:
            self.assertLess(time.monotonic(), end, said + self.log())
            time.sleep(0.5)


if __name__ == "__main__":
    hosts.main()
