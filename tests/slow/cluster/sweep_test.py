"""`ranklab sweep` inside an allocation of two hosts: srun places ranks by --placement, and a kill loses no stored run."""

import collections
import os
import signal
import subprocess

import hosts
from hosts import cli
from stored_runs import stored_runs


class SweepTest(hosts.Case):
    def sweep(self, *words, label="s", code=0):
        job = self.start("salloc", "-N2", "-n8", self.ranklab, "sweep", *words, "--output", self.file, "--label", label, env=self.env)
        result = job.finish(240)
        self.assertCode(result, code)
        return result

    def runs(self, label="s"):
        return [run for run in stored_runs(self.file) if run.rows and run.attrs["label"] == label]

    def test_train_over_two_hosts(self):
        words = ("train", "--model", "template-softmax", "--data", "synthetic", "--steps", "20", "--batch-size", "8", "--threads", "1", "--ranks", "1,2,4")
        for placement, on in (("cyclic", ["n1", "n2", "n1", "n2"]), ("block", ["n1"] * 4)):
            result = self.sweep(*words, "--repeat", "2", "--placement", placement, label=placement)
            self.assertIn("weak scaling", result.stdout)
            runs = self.runs(placement)
            self.assertEqual(collections.Counter(len(run.hosts) for run in runs), {1: 2, 2: 2, 4: 2})
            self.assertEqual({tuple(host["host"] for host in run.hosts) for run in runs if len(run.hosts) == 4}, {tuple(on)})

    def test_io_and_comm_killed_and_started_again(self):
        for words in (("io", "--strategy", "mpi-scatter,hdf5-parallel-collective", "-n", "8", "-s", "20", "--ranks", "1,2"),
                      ("comm", "--sizes", "1K,64K", "-n", "5", "--ranks", "2,3")):
            line = (*words, "--repeat", "2", "--placement", "cyclic", "--output", self.file, "--label", words[0])
            job = self.start("salloc", "-N2", "-n8", self.ranklab, "sweep", *line, env=self.env)
            job.wait_for_stderr("[1/4]", 120)
            os.kill(int(subprocess.run(["pgrep", "-P", str(job.process.pid), "ranklab-sweep"], capture_output=True, text=True).stdout), signal.SIGKILL)
            job.finish(60)
            self.sweep(*words, "--repeat", "2", "--placement", "cyclic", label=words[0])
            counts = collections.Counter((run.config.get("strategy"), len(run.hosts)) for run in self.runs(words[0]))
            self.assertEqual(set(counts.values()), {2}, counts)


if __name__ == "__main__":
    hosts.main()
