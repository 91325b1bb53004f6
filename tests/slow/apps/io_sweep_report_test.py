"""Tables and pictures that `ranklab report` makes of ladders of `ranklab io` at several ranks."""

import json
import re
import shutil

import ranklab_cli as cli


class Report(cli.Case):
    def stored(self, *words, ranks=1):
        result = cli.ranklab("io", "-n", 4, "-s", 20, "--output", "r.h5", *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        return self.folder / "r.h5"

    def plots(self, file, *words):
        return cli.ranklab("report", file, "--plots", "plots", *words, cwd=self.folder)

    def assertDrawn(self, result, pictures):
        if shutil.which("gnuplot") is None:
            self.assertSays(result, 5, "gnuplot is not here")
            return
        self.assertCode(result, 0)
        self.assertEqual({path.stem for path in (self.folder / "plots").glob("*.svg")}, set(pictures))
        for name, texts in pictures.items():
            picture = (self.folder / "plots" / f"{name}.svg").read_text()
            self.assertIn("</svg>", picture)
            for text in texts:
                self.assertIn(text, picture)
        *figures, beside = re.sub(r"\n +", " ", result.stdout).splitlines()
        self.assertEqual({re.match(r"plots/(\w+)\.svg  +\S", line)[1] for line in figures}, set(pictures), "each with its title")
        files = [path for path in (self.folder / "plots").iterdir() if path.suffix != ".svg"]
        self.assertRegex(beside, rf"^and {len(files)} files beside them: .*\(\.csv \.dat \.gp ")
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)

    def test_ladders_at_two_widths_are_a_table_and_pictures(self):
        for ranks in (1, 2):
            file = self.stored("--strategy", "text-loop,mpi-send", "-i", 6, "--ceilings", "off", ranks=ranks)
        text = cli.ranklab("report", file).stdout
        # In blocks of 80 columns, so that what stands on one line depends on how long the numbers are.
        row = r"mpi-send, 2 ranks( \[\d\])? +"
        self.assertRegex(text, r"text-loop +(.* )?1\.000 x")
        self.assertRegex(text, row + r"6 +[0-9.]+ +[0-9.]+ \.\. [0-9.]+")
        for cell in (r"[0-9.]+ x", r"[0-9.]+ \([0-9.]+\)", r"(warm \d+ %|mixed \d+ %|memory \(tmpfs\)|unknown|cold)", r"yes\n"):
            self.assertRegex(text, row + "(.* )?" + cell)
        self.assertLessEqual(max(len(line) for line in text[text.index("ladder\n"):text.index("not tried:")].splitlines()), 80)
        self.assertIn("best way to write here: ", text)
        self.assertIn("not tried: strategies text-vectorized, binary", text)
        self.assertRegex(text, r"speedup: over text-loop, [0-9.]+ s\n")
        result = self.plots(file)
        self.assertDrawn(result, {"ladder": ["text-loop", "mpi-send"],
                                  "ladder_speedup": ["Speedup over text-loop", "the base is text-loop with"],
                                  "io_scaling": ["mpi-send over ranks", "linear", "Base: "], "io_efficiency": ["mpi-send over ranks"]})
        rows = [line.split() for line in (self.folder / "plots" / "io_scaling.dat").read_text().splitlines() if line and line[0] != "#"]
        x, speedup, low, high = map(float, rows[1])
        self.assertEqual([float(row[0]) for row in rows[:2]], [1, 2])
        one, two = (run for run in json.loads(cli.ranklab("report", file, "--format", "json").stdout)["runs"] if run["config"].get("strategy") == "mpi-send")
        time = [next(m for m in run["measurements"] if m["name"] == "job_time_s") for run in (one, two)]
        self.assertEqual(x, 2)
        self.assertAlmostEqual(speedup, time[0]["median"] / time[1]["median"], places=9)
        self.assertLessEqual(time[0]["ci95_low"] / time[1]["ci95_high"], low)
        self.assertLessEqual(high, time[0]["ci95_high"] / time[1]["ci95_low"])
        self.assertLess(low, high)


if __name__ == "__main__":
    cli.main()
