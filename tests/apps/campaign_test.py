"""`ranklab campaign`: what it reads and refuses, its plan, and a small run with mpirun. tests/slow/apps/campaign_test.py: jobs that are killed,
stopped and go on; tests/slow/cluster/campaign_test.py: Slurm."""

import json

import ranklab_cli as cli

HEAD = f"[campaign]\nname = small\nmpirun-options = {' '.join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound)}\n"
IO = "[files]\ncommand = io\nscaling = strong\nranks = 1,2\nrepeat = 1\nsize = 20\nfiles = 4\nstrategy = mpi-send\n"
TRAIN = "[t]\ncommand = train\nranks = 1,2\n"


class Campaign(cli.Case):
    def campaign(self, verb, *words, text=None, code=0):
        if text is not None: (self.folder / "small.ini").write_text(text)
        result = cli.ranklab("campaign", verb, "small.ini", *words, cwd=self.folder)
        self.assertCode(result, code)
        return result

    def test_a_plan_lists_the_points_and_starts_nothing(self):
        text = self.campaign("plan", text=HEAD + IO.replace("repeat = 1", "repeat = 2")).stdout
        for words in ("small: 4 jobs of 2 points", "files-1r", "files-2r"): self.assertIn(words, text)
        plan = json.loads(self.campaign("plan", "--json").stdout)
        self.assertEqual(plan["counts"]["open"], 4)
        self.assertEqual(sorted(job["id"] for job in plan["jobs"]), [f"files-{n}r-rep{k}" for n in (1, 2) for k in (1, 2)])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["small.ini"])

    def test_what_the_file_must_not_hold_is_named(self):
        one = IO.replace("1,2", "1")
        cases = {
            IO: ("[campaign]",),
            HEAD: ("workload",),
            HEAD + IO + "sise = 3\n": ("[files]", "--size"),
            HEAD + "partitoin = x\n" + IO: ("[campaign]", "partition"),
            HEAD + IO.replace("1,2", "1,two"): ("[files]", "ranks", "two"),
            HEAD + IO.replace("command = io\n", ""): ("[files]", "command"),
            HEAD + IO.replace("= io", "= compare"): ("[files]", "compare"),
            HEAD + "faster = files\n" + IO: ("faster", "than"),
            HEAD + "worth-it-above = 10\n" + IO: ("worth-it-above", "faster"),
            HEAD + "faster = a\nthan = b\n" + one.replace("[files]", "[a]") + one.replace("[files]", "[b]").replace("= mpi-send", "= binary,text-loop"): ("b",),
            HEAD + "faster = nothing\nthan = files\n" + IO: ("nothing", "files"),
            HEAD + IO + "output = x.h5\n": ("[files]", "output"),
            HEAD + IO + "time = soon\n": ("[files]", "time", "soon"),
            HEAD + IO + "size = 30\n": ("size", "twice"),
            HEAD + IO + IO: ("twice",),
            HEAD + IO.replace("size = 20", "size = 20|x"): ("[files]", "size"),
            HEAD.replace("= small", "= ../../etc") + IO: ("../../etc",),
            HEAD.replace("= small", "= $(touch pwned)") + IO: ("pwned",),
            HEAD + IO.replace("[files]", "[a;b]"): ("a;b",),
            "size = 3\n" + HEAD + IO: ("size",),
            HEAD + "launcher = pbs\n" + IO: ("launcher", "slurm"),
            HEAD + TRAIN + "scaling = strong\nbatch-size = 32\n": ("set global-batch-size",),
            HEAD + TRAIN + "scaling = weak\nglobal-batch-size = 32\n": ("set batch-size",),
        }
        for text, parts in cases.items():
            with self.subTest(text=text):
                result = self.campaign("plan", text=text, code=2)
                self.assertSays(result, 2, "small.ini", *parts)
                self.assertEqual(result.stdout, "")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["small.ini"])

    def test_every_shipped_campaign_has_a_plan(self):
        files = sorted((cli.SOURCE / "configs" / "campaigns").glob("*.ini"))
        self.assertGreaterEqual(len(files), 3)
        for result in cli.several(lambda file: cli.ranklab("campaign", "plan", file, cwd=self.folder), files): self.assertCode(result, 0)

    def test_from_a_plan_to_a_report(self):
        self.assertIn("done yet", self.campaign("collect", text=HEAD + IO, code=2).stderr)
        self.assertIn("2 runs added", self.campaign("run").stdout)
        self.assertEqual(json.loads(self.campaign("status", "--json").stdout)["counts"]["done"], 2)
        self.assertIn("2 were there already", self.campaign("collect").stdout)
        report = cli.ranklab("report", self.folder / "campaigns" / "small" / "results.h5", "--group-by", "ranks", "--format", "json")
        self.assertEqual([group["key"]["ranks"] for group in json.loads(report.stdout)["groups"]], ["1", "2"])
        self.assertSays(self.campaign("run", text=HEAD + IO.replace("size = 20", "size = 24"), code=2), 2, "--size 24")


if __name__ == "__main__":
    cli.main()
