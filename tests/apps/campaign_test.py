"""`ranklab campaign`: the files that it reads and refuses, its plan, and a small run with mpirun. The plan of a file: tests/unit/campaign; Slurm:
tests/slow/cluster/campaign_test.py."""

import json
import os

import ranklab_cli as cli

HEAD = f"[campaign]\nname = small\nlauncher-options = {' '.join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound)}\n"
IO = "[files]\ncommand = io\nscaling = strong\nranks = 1,2\nrepeat = 1\nsize = 20\nfiles = 4\nstrategy = mpi-send\n"


class Campaign(cli.Case):
    def campaign(self, verb, *words, text=None, code=0):
        if text is not None: (self.folder / "small.ini").write_text(text)
        result = cli.ranklab("campaign", verb, "small.ini", *words, cwd=self.folder)
        self.assertCode(result, code)
        return result

    def test_a_plan_lists_the_jobs_and_starts_nothing(self):
        self.assertIn("files", self.campaign("plan", text=HEAD + IO).stdout)
        plan = json.loads(self.campaign("plan", "--json").stdout)
        self.assertEqual([(job["id"], job["runs"], job["done"]) for job in plan["jobs"]], [("files", 2, 0)])
        self.assertEqual(len(self.campaign("run", "--dry-run").stdout.splitlines()), 2)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["small.ini"])

    def test_what_the_file_must_not_hold_is_named(self):
        cases = {
            IO: ("[campaign]",),
            HEAD: ("sweep",),
            HEAD + IO + "sise = 3\n": ("[files]", "--size"),
            HEAD + "partitoin = x\n" + IO: ("[campaign]", "partition"),
            HEAD + IO.replace("1,2", "1,two"): ("[files]", "ranks", "two"),
            HEAD + IO.replace("= io", "= compare"): ("[files]", "compare"),
            HEAD + IO + "size = 30\n": ("size", "twice"),
            HEAD + IO + IO: ("twice",),
            HEAD.replace("= small", "= $(touch pwned)") + IO: ("pwned",),
            HEAD + "launcher = pbs\n" + IO: ("launcher", "slurm"),
        }
        for text, parts in cases.items():
            with self.subTest(text=text):
                self.assertSays(self.campaign("plan", text=text, code=2), 2, "small.ini", *parts)

    def test_every_shipped_campaign_has_a_plan(self):
        files = sorted((cli.SOURCE / "configs" / "campaigns").glob("*.ini"))
        self.assertGreaterEqual(len(files), 3)
        for result in cli.several(lambda file: cli.ranklab("campaign", "plan", file, cwd=self.folder), files): self.assertCode(result, 0)

    def test_a_queue_that_does_not_answer_is_no_plan_for_what_is_next(self):
        (self.folder / "squeue").write_text("#!/bin/sh\nexit 1\n")
        (self.folder / "squeue").chmod(0o755)
        (self.folder / "small.ini").write_text("\ufeff" + HEAD + "launcher = slurm\n" + IO)  # with a byte-order mark
        env = cli.environment(PATH=f"{self.folder}:{os.environ['PATH']}")
        for words in ((), ("--json",)):
            result = cli.ranklab("campaign", "status", "small.ini", *words, cwd=self.folder, env=env)
            self.assertSays(result, 5, "squeue")
            self.assertNotIn("Next", result.stdout)

    def test_from_a_plan_to_a_table(self):
        for result in (self.campaign("run", text=HEAD + IO), self.campaign("collect")):
            self.assertIn("speedup", result.stdout)
            self.assertIn("  page ", result.stdout)
        self.assertIn("mpi-send", (self.folder / "campaigns/small/page.html").read_text())
        self.assertRegex(self.campaign("status").stdout, r"files .* 2 +2 +done")
        self.assertRegex(" ".join(self.campaign("resume").said), r"^2 of 2 runs are stored\S* [^\n]*$")
        self.assertEqual(json.loads(self.campaign("status", "--json", text=HEAD + IO.replace("size = 20", "size = 24")).stdout)["jobs"][0]["done"], 0)

    def test_a_section_is_worth_it_or_not(self):
        """Compared with the best point of all other sections of its command."""
        questions = IO.replace("[files]", "[more]").replace("files = 4", "files = 400") + "worth = 1\n"
        said = self.campaign("run", text=HEAD + IO + questions).stdout
        self.assertRegex(" ".join(said.split()), r" worth it undecided: label = small-more, .* is 0\.\d+ times")
        self.assertIn("Is small-more at least 1 times as fast as the other sections?", (self.folder / "campaigns/small/page.html").read_text())
        self.assertSays(self.campaign("plan", text=HEAD + IO + "worth = -1\n", code=2), 2, "[files]", "worth")


if __name__ == "__main__":
    cli.main()
