"""train, io and comm once on two hosts by srun: both hosts take part, results are verified, one file has all runs."""

import hosts
from stored_runs import stored_runs


class Smoke(hosts.Case):
    def measure(self, *words):
        result = self.start("srun", "-N2", "-n2", f"--mpi={hosts.cli.LAUNCHER.pmi}", self.ranklab, *words, "--output", self.file, env=self.env).finish(120)
        self.assertCode(result, 0)

    def test_train_io_and_comm(self):
        self.measure("train", "--model", "template-softmax", "--data", "synthetic", "--threads", "1", "--steps", "5")
        self.measure("io", "--strategy", "mpi-scatter,hdf5-parallel-collective", "-n", "6", "-s", "20")
        self.measure("comm", "--sizes", "1K,64K", "-n", "5", "-w", "2")
        runs = [run for run in stored_runs(self.file) if run.rows]  # io's summary run has no measurements
        self.assertEqual({run.attrs["command"] for run in runs}, {"train", "io", "comm"})
        for run in runs:
            with self.subTest(run.attrs["argv"]):
                self.assertEqual((run.attrs["valid"], run.attrs["exit_code"]), (1, 0))
                self.assertEqual([host["host"] for host in run.hosts], ["n1", "n2"])
                self.assertNotIn("failed", [result for result, _ in run.verification.values()])


if __name__ == "__main__":
    hosts.main()
