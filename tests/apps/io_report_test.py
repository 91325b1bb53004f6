"""The ladder's table and figures in `ranklab report` of `ranklab io` runs."""

import json
import re
import shutil

import ranklab_cli as cli


class Report(cli.Case):
    def stored(self, *words):
        result = cli.ranklab("io", "-n", 4, "-s", 20, "--output", "r.h5", *words, cwd=self.folder)
        self.assertCode(result, 0)
        return self.folder / "r.h5"

    def test_several_strategies_are_a_table_two_pictures_and_a_line(self):
        file = self.stored("--strategy", "text-loop,process-pool", "--workers", 2, "-i", 6, "--ceilings", "off")
        *runs, summary = json.loads(cli.ranklab("report", file, "--format", "json").stdout)["runs"]
        self.assertEqual([run["config"].get("workers") for run in (*runs, summary)], [2] * 3)
        for run in runs:
            self.assertEqual(run["storage"]["directory"], str(self.folder / "output" / run["config"]["strategy"]))
            self.assertEqual(run["storage"]["fsync"], "no")
            self.assertNotEqual(run["storage"]["cache"], "")
        text = cli.ranklab("report", file).stdout
        self.assertRegex(text, r"(?m)^  process-pool, 2 workers +[0-9.]+ [mu]?s +[0-9.]+ \.\. [0-9.]+ ")
        wide = cli.ranklab("report", file, "--verbose").stdout
        self.assertRegex(wide, r"(?m)^  text-loop .*\b1\.000\b")
        self.assertRegex(wide, r"(?m)^  process-pool, 2 workers .* yes$")
        self.assertLessEqual(max(len(line) for line in text.splitlines() if not line.startswith(("  next", "  typed", "  stored", "  ranklab "))), 80)
        listed = re.sub(r" +", " ", re.sub(r"\n {20,}", " ", cli.ranklab("results", "list", file).stdout))
        for part in ("io process-pool by 2", "io text-loop and 1"):
            self.assertIn(part, listed)
        plots = cli.ranklab("report", file, "--plots", "plots", cwd=self.folder)
        if shutil.which("gnuplot") is None:
            self.assertSays(plots, 5, "gnuplot")
            return
        self.assertCode(plots, 0)
        pictures = {path.stem: path.read_text() for path in (self.folder / "plots").glob("*.svg")}
        self.assertIn("ladder", pictures)
        for part in ("text-loop", "process-pool, 2 workers", "</svg>"):
            self.assertIn(part, pictures["ladder"])

    def test_one_rung_has_no_scaling_and_no_image_rates(self):
        file = self.stored("--strategy", "binary", "--label", "one")
        text = cli.ranklab("report", file).stdout
        self.assertRegex(text, r"write +[0-9.]+ MiB/s, [0-9.]+ MB/s, n = 1")
        self.assertNotIn("mg/sec", text)


if __name__ == "__main__":
    cli.main()
