"""Figures of `ranklab report` for ladders of `ranklab io` at 1 and 2 ranks."""

import csv
import json
import shutil

import ranklab_cli as cli


class Report(cli.Case):
    def stored(self, *words, ranks=1):
        result = cli.ranklab("io", "-n", 4, "-s", 20, "--output", "r.h5", *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        return self.folder / "r.h5"

    def plots(self, file, *words):
        return cli.ranklab("report", file, "--plots", "plots", *words, cwd=self.folder)

    def test_ladders_at_two_rank_counts_are_one_ladder_and_a_curve(self):
        for ranks in (1, 2):
            file = self.stored("--strategy", "text-loop,mpi-send", "-i", 6, "--ceilings", "off", ranks=ranks)
        result = self.plots(file)
        if shutil.which("gnuplot") is None:
            return self.assertSays(result, 5, "gnuplot")
        self.assertCode(result, 0)
        pictures = {path.stem: path.read_text() for path in (self.folder / "plots").glob("*.svg")}
        self.assertEqual(set(pictures), {"ladder", "io_scaling", "io_scaling_efficiency"})
        self.assertIn("mpi-send", pictures["ladder"])
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        rows = list(csv.DictReader((self.folder / "plots" / "io_scaling.csv").open()))
        self.assertEqual([float(row["ranks"]) for row in rows], [1, 2])
        one, two = (run for run in json.loads(cli.ranklab("report", file, "--format", "json").stdout)["runs"] if run["config"].get("strategy") == "mpi-send")
        time = [next(m for m in run["measurements"] if m["name"] == "job_time_s")["median"] for run in (one, two)]
        self.assertAlmostEqual(float(rows[1]["speedup"]), time[0] / time[1], places=9)


if __name__ == "__main__":
    cli.main()
