"""Output and stored results at many ranks: above 64 ranks a summary per rank replaces its samples."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import h5py
import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab

WIDE_RUN = pathlib.Path(os.environ.get("RANKLAB_BIN", cli.BIN)).parent / "tests" / "wide_run"
SCREEN = 40  # lines


def report(file, *words, **how):
    return ranklab("report", file, *words, **how)


class SharedCase(Case):
    """Tests that share files made once."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)

    @classmethod
    def made(cls, *words, **how):
        result = cli.ranklab(*words, cwd=cls.shared, timeout=240, **how)
        assert result.code == 0, str(result)
        return result


class RealRanksTest(SharedCase):
    """One job of 65 processes: seconds of CPU time, mostly in MPI."""

    RANKS = 65

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.io = cls.made("io", "--strategy", "mpi-scatter", "--files", cls.RANKS, "--size", 4, "-i", 2, "--directory", "o", "--output", "r.h5",
                          ranks=cls.RANKS)

    def test_a_run_is_a_screen_and_names_ranks_by_ranges(self):
        self.assertCode(self.io, 0)
        lines = self.io.stdout.splitlines()
        self.assertLessEqual(len(lines), SCREEN, self.io.stdout)
        self.assertLessEqual(len(self.io.said), 5, self.io.stderr)
        cores = len(os.sched_getaffinity(0))
        self.assertRegex(self.io.stdout, rf"(?m)^# ranks: {self.RANKS} on 1 node\b")
        if cores < self.RANKS:
            self.assertRegex(self.io.stderr, rf"ranks 0-{self.RANKS - 1} .*\b{self.RANKS} threads\b")

    def test_the_report_has_the_slowest_first_and_counts_the_rest(self):
        text = report("r.h5", "--verbose", cwd=self.shared).stdout
        self.assertRegex(text, rf"(?m)^  where +{self.RANKS} ranks on 1 host\b")
        table = text[text.index("\nio_ranks\n"):]
        rows = re.findall(r"(?m)^ +(\d+) +\d", table[:table.index(f"{self.RANKS - 12} more rows")])
        rows = list(dict.fromkeys(rows))  # a wide table's columns come in blocks
        self.assertEqual(len(rows), 12, table)
        with h5py.File(self.shared / "r.h5") as file:
            (run,) = file["runs"].values()
            jobs = {int(row["rank"]): row["job_s"] for row in run["tables/io_ranks"][:]}
        self.assertEqual([int(rank) for rank in rows], sorted(jobs, key=lambda rank: -jobs[rank])[:12])

    def test_each_rank_has_its_summary_in_place_of_samples(self):
        with h5py.File(self.shared / "r.h5") as file:
            (run,) = file["runs"].values()
            slowest = run["samples/job_time_s"][:]
            self.assertEqual((slowest.shape, run["samples/peak_rss_bytes"].shape), ((2,), (1,)))
            rows = [row for row in run["tables/rank_summaries"][:] if row["measurement"] == b"job_time_s"]
        self.assertEqual([int(row["rank"]) for row in rows], list(range(self.RANKS)))
        self.assertTrue(all(row["n"] == 2 and row["min"] <= row["median"] <= row["max"] for row in rows))
        self.assertEqual(max(row["max"] for row in rows), slowest.max())

    def test_a_trace_says_what_is_missing(self):
        self.assertSays(report("r.h5", "--format", "chrome-trace", cwd=self.shared), 2, "64 ranks")


@needs_train
class WideRunTest(SharedCase):
    """A synthetic run of 1,024 ranks and 40 steps, stored by the code for real runs."""

    RANKS, STEPS = 1024, 40

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--memory-format", "contiguous", "--steps", 6,
                 "--output", "pattern.h5", ranks=2)
        made = subprocess.run([WIDE_RUN, "pattern.h5", "wide.h5", str(cls.RANKS), str(cls.STEPS)], cwd=cls.shared, stdout=subprocess.PIPE, check=True)
        cls.facts = json.loads(made.stdout)

    def test_the_text_is_bounded(self):
        text = report("wide.h5", cwd=self.shared).stdout
        self.assertLess(len(text.splitlines()), 200, text)
        self.assertRegex(text, "(?i)img/sec")

    def test_the_page_is_bounded(self):
        self.assertCode(report("wide.h5", "--format", "html", "--output", "wide.html", cwd=self.shared), 0)
        page = (self.shared / "wide.html").read_text()
        self.assertLess(len(page), 1 << 20)

    def test_exports_are_whole(self):
        (run,) = json.loads(report("wide.h5", "--format", "json", cwd=self.shared).stdout)["runs"]
        self.assertEqual(len(run["hosts"]), self.RANKS)
        self.assertEqual(run["tables"]["rank_summaries"]["measurement"].count("step_time_s"), self.RANKS)


if __name__ == "__main__":
    cli.main()
