"""`report --why` on two hosts with a slow link: communication is the limit, and the advised larger batch increases samples/s."""

import json

import hosts
from hosts import cli


class Why(hosts.Case):
    def train(self, batch):
        """Returns (diagnosis of the run, samples/s)."""
        result = self.start("srun", "-N2", "-n2", f"--mpi={cli.LAUNCHER.pmi}", self.ranklab, "train", "--model", "mnist-cnn", "--data", "synthetic", "--batch-size", batch,
                            "--steps", "40", "--threads", "1", "--output", self.file, env=self.env).finish(120)
        self.assertCode(result, 0)
        shown = {words: cli.ranklab("report", self.file, *words) for words in (("--why", "--format", "json"), ("--last", 1, "--format", "json"))}
        why, run = (json.loads(one.stdout) for one in shown.values())
        (rate,) = [m["median"] for m in run["runs"][0]["measurements"] if m["name"] == "throughput_samples_per_s"]
        return why, rate

    def test_a_slow_link_is_named_and_its_advice_helps(self):
        hosts.subprocess.run([hosts.TWO_HOSTS, "shape", self.shared / "hosts", "300mbit"], check=True)
        found, before = self.train("16")
        self.assertEqual((found["bound"], found["cause"]), ("communication", "transfer"), found)
        option, batch = found["advice"][0]["option"].split()
        self.assertEqual(option, "--batch-size")
        _, after = self.train(batch)
        self.assertGreater(after, before)


if __name__ == "__main__":
    hosts.main()
