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

    def test_a_stopped_job_is_requeued_and_resumes(self):
        """SIGUSR1 to the job's steps, as Slurm sends it before the time limit. Both runs are stored, and together they have all steps."""
        steps = 400
        number = self.slurm("sbatch", "--parsable", "--output=job.log", "-N2", "jobscripts/cpu.slurm", "configs/mnist/mnist_smoke.ini",
                            "--model", "template-softmax", "--steps", str(steps), "--warmup", "0", "--evaluate", "off", "--overlap-steps", "0",
                            "--inject-delay", "0:forward:40", "--checkpoint", "c", "--checkpoint-every", "10", "--resume")
        self.until(lambda: (self.folder / "c" / "checkpoint.h5").exists(), number)
        self.slurm("scancel", "--signal=USR1", number)
        self.until(lambda: self.is_job(number, "PENDING"), number)
        # Slurm restarts a requeued job after two minutes. Sooner than 10 s it may kill the second life with the first.
        self.slurm("scontrol", "update", f"jobid={number}", "StartTime=now+10")
        self.until(lambda: self.is_job(number, "COMPLETED"), number)
        first, last = stored_runs(self.folder / "results" / "ranklab.h5")
        self.assertEqual((first.attrs["exit_code"], last.attrs["exit_code"]), (128 + signal.SIGUSR1, 0), self.log())
        made = [run.samples["step_time_s"].shape[0] for run in (first, last)]
        self.assertEqual((sum(made), made[0] > 0), (steps, True))

    def is_job(self, number, state):
        """True if the job was requeued once and has this state. Fails if it ended before."""
        shown = self.slurm("scontrol", "show", "job", number)
        self.assertTrue("Restarts=1 " in shown or "JobState=RUNNING " in shown or "JobState=COMPLETING " in shown, shown + self.log())
        return f"JobState={state} " in shown and "Restarts=1 " in shown

    def until(self, condition, number):
        end = time.monotonic() + 150 * cli.patience()
        while not condition():
            self.assertLess(time.monotonic(), end, self.slurm("scontrol", "show", "job", number) + self.log())
            time.sleep(0.2)


if __name__ == "__main__":
    hosts.main()
