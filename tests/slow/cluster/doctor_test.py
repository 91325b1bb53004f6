"""ranklab doctor under a real Slurm on two hosts: no findings for a healthy launch, and each fault with its remedy."""

import json

import hosts
from hosts import cli

DOCTOR = ("doctor", "--threads", "1", "--json")


class DoctorTest(hosts.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.env["RANKLAB_SYSTEM_ROOT"] = "/nonexistent"

    def srun(self, *words, mpi=cli.LAUNCHER.pmi, output=None):
        return cli.run("srun", "--label", f"--mpi={mpi}", *words, self.ranklab, *DOCTOR, "--output", output or self.file, cwd=self.folder, env=self.env)

    def batch(self, ranks, *words):
        """Runs a batch script that calls mpirun."""
        out = self.folder / "out"
        script = f"mpirun {' '.join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound)} -n {ranks} {self.ranklab} {' '.join(DOCTOR)} --output none"
        self.assertCode(cli.run("sbatch", "--wait", "--exclusive", "-o", out, *words, "--wrap", script, cwd=self.folder, env=self.env), 0)
        return json.loads(out.read_text())

    def seen(self, result, code=0):
        """Returns the answer of task 0: without PMI each task answers."""
        self.assertCode(result, code)
        text = "".join(line.partition(": ")[2] for line in result.stdout.splitlines(True) if line.startswith("0: "))
        self.assertSchema("doctor", text)
        return json.loads(text)

    def ids(self, seen):
        return [found["id"] for found in seen["findings"]]

    def test_nothing_is_named_on_a_healthy_launch(self):
        for words, count in ((("-N1", "-n1"), 1), (("-N2", "-n2"), 2), (("-N2", "-n4", "--ntasks-per-node=2"), 4)):
            with self.subTest(words=words):
                seen = self.seen(self.srun("--exclusive", *words))
                self.assertEqual((seen["verdict"], self.ids(seen)), ("nothing found", []), seen["findings"])
                self.assertEqual(len(seen["ranks"]), count)
        self.assertEqual(list(self.folder.iterdir()), [], "the mark stayed")
        seen = self.batch(2, "-N1", "-n2")
        self.assertEqual(self.ids(seen), [], seen["findings"])

    def test_a_results_folder_of_one_host(self):
        seen = self.seen(self.srun("--exclusive", "-N2", "-n2", output="/tmp/results/r.h5"))
        self.assertEqual(self.ids(seen), ["local-results-folder"])
        self.assertRegex(seen["findings"][0]["what"], "/tmp.*n1.*n2")
        self.assertIn("--output", seen["findings"][0]["remedy"])

    def test_srun_without_pmi(self):
        seen = self.seen(self.srun("--exclusive", "-N2", "-n2", mpi="none"), 5)
        self.assertIn("ranks-not-connected", self.ids(seen))
        self.assertIn(f"srun --mpi={cli.LAUNCHER.pmi}", seen["findings"][0]["remedy"])


if __name__ == "__main__":
    hosts.main()
