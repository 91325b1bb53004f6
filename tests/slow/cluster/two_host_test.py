"""`srun ranklab train` on two hosts: stored facts, and the end of a job whose rank is killed. The hosts are namespaces of this machine
under a real Slurm (two_hosts.sh): each has its own network, name, /tmp and /dev/shm.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import hosts
from hosts import cli

try:
    import h5py
except ImportError:
    print("SKIPPED: h5py is not installed for this Python; ./bootstrap makes one that has it")
    sys.exit(77)

# Without --kill-on-bad-exit: srun does not end the job of a killed rank.
SRUN = ("srun", "-N2", "-n2", f"--mpi={cli.LAUNCHER.pmi}")


def runs_in(path):
    with h5py.File(path) as file:
        return [{"valid": int(run.attrs["valid"]), "exit_code": int(run.attrs["exit_code"]), "sync": json.loads(run.attrs["config_json"])["sync"],
                 "steps": run["samples/step_time_s"].shape if "samples/step_time_s" in run else (), "hosts": [host.decode() for host in run["hosts"]["host"]]} for run in file["runs"].values()]


class TwoHostTest(hosts.Case):
    def train(self, *words):
        return self.start(*SRUN, self.ranklab, "train", "--data", "synthetic", "--threads", "1", "--output", self.file, *map(str, words), env=self.env)

    def short_run(self, sync):
        result = self.train("--model", "template-softmax", "--sync", sync, "--steps", 10, "--warmup", 0, "--verbose").finish(60)
        self.assertCode(result, 0)
        return result

    def rank_on(self, host):
        """Returns the process of the rank on that host, or None."""
        pids = subprocess.run(["ip", "netns", "pids", f"ranklab-{host}"], capture_output=True, text=True, check=True).stdout.split()
        names = {pid: pathlib.Path(f"/proc/{pid}/comm") for pid in pids}
        return next((int(pid) for pid, name in names.items() if name.exists() and name.read_text().strip() == "ranklab-train"), None)

    def test_a_run_over_two_hosts_is_stored_with_both(self):
        syncs = [name for name in cli.sync_strategies() if name != "none"]
        for sync in syncs:
            result = self.short_run(sync)
            self.assertIn("# ranks: 2 on 2 nodes, ", result.stdout)
        self.assertEqual(runs_in(self.file), [{"valid": 1, "exit_code": 0, "sync": sync, "steps": (10, 2), "hosts": ["n1", "n2"]} for sync in syncs])

    def test_a_killed_rank_ends_the_job(self):
        """Kills rank 1 on n2, then rank 0 on n1, which writes the results. The other rank's watchdog ends the job."""
        self.short_run("flat")
        for rank, host in ((1, "n2"), (0, "n1")):
            with self.subTest(rank=rank):
                before = self.file.read_bytes()
                job = self.train("--model", "mnist-cnn", "--batch-size", 16, "--steps", 20000, "--stall-timeout", 5)
                job.wait_for_stderr("/20010 steps", 60)  # it trains
                os.kill(self.rank_on(host), signal.SIGKILL)
                killed = time.monotonic()
                result = job.finish(20)
                # With MPICH's MPI_Abort srun kills the step, and 137 is the code of the killed tasks.
                self.assertIn(result.code, (5,) if cli.LAUNCHER.is_open_mpi else (5, 137), str(result))
                self.assertLess(time.monotonic() - killed, 20)
                self.assertEqual(result.stderr.count(f"rank {1 - rank} on n{2 - rank}: no progress for 5 s while training"), 1, str(result))
                self.assertNotIn("Img/sec", result.stdout)
                self.assertEqual([self.rank_on("n1"), self.rank_on("n2")], [None, None], "a rank outlived the job")
                self.assertEqual(self.file.read_bytes(), before)
                self.short_run("flat")  # no lock is left
        self.assertEqual([run["valid"] for run in runs_in(self.file)], [1, 1, 1])


if __name__ == "__main__":
    hosts.main()
