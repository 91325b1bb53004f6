"""`ranklab report --proposal` and `--against-published` on synthetic runs at 1, 2, 4 and 8 ranks, 4 per node."""

import csv
import io
import re

import ranklab_cli as cli
import results_files as files
from pages import Page

EFFICIENCY = {1: 1.0, 2: 0.95, 4: 0.88, 8: 0.6}  # efficiency over 1 rank; 8 ranks are 1.36 times as fast as 4
NOISE = (1, 1.004, 0.997, 1.002, 0.999, 1.001)


def runs(ranks, weak, first_minute, repeats):
    config = {"model": "mnist-cnn", "mode": "single" if ranks == 1 else "ddp", "threads": 1, "seed": 1,
              "batch-size": 64 if weak else 64 // ranks, "global-batch-size": 64 * ranks if weak else 64}
    time = 0.4 / EFFICIENCY.get(ranks, 0.9) / (1 if weak else ranks)
    return files.step_times([time * noise for noise in NOISE[:repeats]], first_minute=first_minute, config=config,
                            hosts=[(rank, rank % 4, f"node{rank // 4}", str(rank % 4), "cpu") for rank in range(ranks)])


class Proposal(cli.Case):
    def made(self, repeats=6):
        sizes = [(ranks, weak) for weak in (False, True) for ranks in EFFICIENCY if ranks > 1 or not weak]
        return files.write(self.folder / "r.h5", [run for i, (ranks, weak) in enumerate(sizes) for run in runs(ranks, weak, 10 * i, repeats)])

    def proposal(self, file, *words):
        result = cli.ranklab("report", file, "--proposal", *words, cwd=self.folder)
        self.assertCode(result, 0)
        return result.stdout

    def test_both_figures_stand_in_each_format(self):
        file = self.made()
        for form, heading in (("markdown", "## Strong scaling"), ("latex", "\\subsection{Strong scaling"), ("html", 'id="strong-scaling"')):
            with self.subTest(form):
                text = self.proposal(file, "--centre", "csc", "--format", form)
                for said in (heading, "Code and configuration", "Machine", "efficiency over the base", "speedup per doubling",
                             "4 ranks on 1 node", "asks for 1.5"):
                    self.assertIn(said, text)
        page = Page(text)  # the default
        self.assertEqual(Page(self.proposal(file)).ids, page.ids)
        self.assertFalse({"script", "link", "iframe"} & page.tags)
        for value in (0.88, 0.6):
            self.assertTrue(any(abs(float(number) - value) < 0.01 for number in re.findall(r'<data value="([^"]+)"', text)), value)

    def test_the_threshold_is_that_of_the_centre_s_own_figure(self):
        """A speedup per doubling of 1.5 and an efficiency of 75 % both end at 4 ranks. Without a threshold the largest measured count is named."""
        file = self.made()
        for centre, said in (("csc", "above the threshold is 4 ranks on 1 node: speedup per doubling 1.8"),
                             ("nci", "above the threshold is 4 ranks on 1 node: efficiency over the base 0.88"),
                             ("nersc", "measured is 8 ranks on 2 nodes: efficiency over the base 0.60"), (None, "measured is 8 ranks on 2 nodes")):
            text = self.proposal(file, "--format", "latex", *(("--centre", centre) if centre else ()))
            self.assertIn(said, text)

    def test_node_hours_are_those_of_the_planned_steps(self):
        """A step at 4 ranks on one node takes 0.4 s / 0.88 (weak scaling, first) and a quarter of that (strong scaling)."""
        text = self.proposal(self.made(), "--centre", "nci", "--planned-steps", 1_000_000, "--format", "latex")
        hours = [float(value) for value in re.findall(r"1000000 steps at 4 ranks on 1 node take ([\d.]+) node-hours \(", text)]
        self.assertEqual(len(hours), 2, text)
        for found, step_s in zip(hours, (0.4 / 0.88, 0.4 / 0.88 / 4)):
            self.assertAlmostEqual(found / (1e6 * step_s / 3600), 1, 2)

    def test_a_missing_value_is_no_failed_test_and_the_text_keeps_the_notes(self):
        """2, 3 and 4 ranks share two CPUs: no row has a speedup per doubling, and no point has a place among published ones."""
        crowd = [one for i, ranks in enumerate((2, 3, 4)) for one in runs(ranks, False, 10 * i, 3)]
        for one in crowd: one["hosts"] = [(rank, rank, "node0", "0-1", "cpu") for rank in range(len(one["hosts"]))]
        text = self.proposal(files.write(self.folder / "c.h5", crowd), "--centre", "csc", "--format", "latex").split("Text}")[1]
        self.assertIn("no scale above 2 ranks on 1 node has", text)
        self.assertRegex(text, r"oversubscribed: 4 compute threads on 2 CPUs \(4 ranks\)")
        result = cli.ranklab("report", "c.h5", "--against-published", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertIn("2 points oversubscribed", result.stderr)

    def test_single_runs_have_no_interval_and_it_is_said(self):
        text = self.proposal(self.made(1), "--centre", "csc", "--planned-steps", 1000, "--format", "latex")
        self.assertRegex(text, r"4 ranks on 1 node\b.*\b1\.85\b.*CSC")
        self.assertRegex(text, r"1000 steps at 4 ranks on 1 node take [\d.]+ node-hours \([^)]*\b6 runs\b")

    def test_a_curve_has_its_place_among_published_ones(self):
        file = self.made()
        result = cli.ranklab("report", file, "--against-published", "--format", "csv", cwd=self.folder)
        self.assertCode(result, 0)
        rows = {(row["kind"], int(row["ranks"])): row for row in csv.DictReader(io.StringIO(result.stdout))}
        self.assertEqual(len(rows), 6)
        self.assertEqual(rows["strong", 2]["place"], "too few published")
        weak = rows["weak", 8]
        self.assertEqual((weak["nodes"], weak["place"]), ("2", "below most"))
        self.assertGreaterEqual(int(weak["published_curves"]), 5)
        self.assertLess(float(weak["published_p10"]), float(weak["published_p90"]))
        self.assertCode(cli.ranklab("report", file, "--against-published", cwd=self.folder), 0)

    def test_what_cannot_be_is_refused(self):
        file = self.made()
        for words, said in ((("--proposal", "--format", "csv"), "--format"), (("--centre", "csc"), "--proposal"), (("--planned-steps", 5), "--proposal"),
                            (("--proposal", "--centre", "cern"), "csc, nci"), (("--proposal", "--where", "ranks=1"), "no scaling over ranks"),
                            (("--against-published", "--where", "ranks=1"), "no scaling over ranks"), (("--against-published", "--format", "html"), "--format")):
            result = cli.ranklab("report", file, *words, cwd=self.folder)
            self.assertCode(result, 2)
            self.assertIn(said, result.stderr)


if __name__ == "__main__":
    cli.main()
