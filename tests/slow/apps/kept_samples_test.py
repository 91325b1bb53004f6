"""What is printed and stored at many ranks: lines on the screen, what --keep-samples keeps, and sentences in place of what it did not."""

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
KEPT = ("all", "ranks", "summary")
NOT_KNOWN = "not known: this run kept nothing of each rank (--keep-samples summary)"


def flat(text):
    return " ".join(text.split())


def report(file, *words, **how):
    return ranklab("report", file, *words, **how)


class SharedCase(Case):
    """Its tests look at what was made once."""

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
    """One job of 64 processes: seconds of CPU, most of it MPI's own."""

    RANKS = 64

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.io = cls.made("io", "--strategy", "mpi-scatter", "--files", cls.RANKS, "--size", 4, "--directory", "o", "--output", "r.h5",
                          ranks=cls.RANKS)

    def test_a_run_is_a_screen_and_names_ranks_by_ranges(self):
        self.assertCode(self.io, 0)
        lines = self.io.stdout.splitlines()
        self.assertLessEqual(len(lines), SCREEN, self.io.stdout)
        self.assertLessEqual(len(self.io.said), 5, self.io.stderr)
        cores = len(os.sched_getaffinity(0))
        self.assertRegex(self.io.stdout, rf"(?m)^# ranks: {self.RANKS} on 1 node, each 1 thread on ")
        if cores < self.RANKS:
            self.assertIn(f"ranks 0-{self.RANKS - 1} run {self.RANKS} threads on ", self.io.stderr)

    def test_the_report_has_the_five_slowest_and_counts_the_rest(self):
        text = report("r.h5", cwd=self.shared).stdout
        self.assertIn(f"(ranks 0-{self.RANKS - 1})", text)
        table = text[text.index("ranks: the 5 with the most job s"):]
        rows = re.findall(r"(?m)^ +(\d+) +\d", table[:table.index("more rows")])
        rows = list(dict.fromkeys(rows))  # the columns of a wide table come in blocks
        self.assertEqual(len(rows), 5, table)
        self.assertIn(f"and {self.RANKS - 5} more rows", table)
        with h5py.File(self.shared / "r.h5") as file:
            (run,) = file["runs"].values()
            jobs = {int(row["rank"]): row["job_s"] for row in run["tables/io_ranks"][:]}
        self.assertEqual([int(rank) for rank in rows], sorted(jobs, key=lambda rank: -jobs[rank])[:5])


class SixteenRanksTest(Case):
    def test_doctor_shows_eight_ranks_and_all_when_asked(self):
        shown = [ranklab("doctor", "--threads", 1, "--output", "none", *more, ranks=16, cwd=self.folder) for more in ((), ("--verbose",))]
        self.assertLessEqual(len(shown[0].stdout.splitlines()), SCREEN)
        self.assertIn("# ... and 8 more ranks", shown[0].stdout)
        self.assertEqual([len(re.findall(r"(?m)^ +\d+ +\d+  \S", result.stdout)) for result in shown], [8, 16])

    def test_comm_has_a_line_of_ranks_that_are_alike(self):
        words = ("comm", "--sizes", "64", "-n", 5, "-w", 1, "--place", "out-of-place", "--output", "r.h5")
        text = ranklab(*words, ranks=16, cwd=self.folder, timeout=120).stdout
        self.assertRegex(text, r"(?m)^#  Ranks 0-15 on +\S+ device cpu$")
        self.assertEqual(len(re.findall(r"(?m)^#  Rank", text)), 1)
        tables = {}
        for kept in KEPT:
            self.assertCode(ranklab(*words, "--keep-samples", kept, ranks=2, cwd=self.folder), 0)
            with h5py.File(self.folder / "r.h5") as file:
                tables[kept] = set(list(file["runs"].values())[-1]["tables"])
        self.assertEqual(tables["all"] - tables["summary"], {"clocks"})
        self.assertEqual(tables["summary"] - tables["all"], set())
        self.assertEqual(tables["all"], tables["ranks"])


class KeepSamplesTest(SharedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for kept in KEPT:
            cls.made("io", "--strategy", "mpi-scatter", "--files", 9, "--size", 4, "-i", 7, "--directory", "o", "--output", f"{kept}.h5",
                     "--keep-samples", kept, ranks=3)

    def stored(self, kept):
        (run,) = h5py.File(self.shared / f"{kept}.h5")["runs"].values()
        return run

    def test_what_is_stored(self):
        job = {kept: self.stored(kept)["samples/job_time_s"].shape for kept in KEPT}
        self.assertEqual(job, {"all": (7, 3), "ranks": (7,), "summary": (7,)})
        memory = {kept: self.stored(kept)["samples/peak_rss_bytes"].size for kept in KEPT}
        self.assertEqual(memory, {"all": 3, "ranks": 3, "summary": 1})
        tables = {kept: set(self.stored(kept)["tables"]) for kept in KEPT}
        self.assertEqual(tables["ranks"] - tables["all"], {"rank_summaries"})
        self.assertEqual(tables["all"] - tables["summary"], {"io_ranks", "chunks"})
        self.assertEqual(tables["summary"] - tables["all"], set())

    def test_the_numbers_are_of_the_same_maxima(self):
        for kept in KEPT:
            run = self.stored(kept)
            samples = run["samples/job_time_s"][:].reshape(7, -1).max(axis=1)
            row = next(row for row in run["measurements"][:] if row["name"] == b"job_time_s")
            self.assertEqual((row["n"], row["min"], row["max"]), (7, samples.min(), samples.max()))
            self.assertEqual(row["median"], sorted(samples)[3])

    def test_each_rank_has_its_summary(self):
        rows = self.stored("ranks")["tables/rank_summaries"][:]
        jobs = [row for row in rows if row["measurement"] == b"job_time_s"]
        self.assertEqual([int(row["rank"]) for row in jobs], [0, 1, 2])
        self.assertTrue(all(row["n"] == 7 and row["min"] <= row["median"] <= row["max"] for row in jobs))
        largest = self.stored("ranks")["samples/job_time_s"][:].max()
        self.assertEqual(max(row["max"] for row in jobs), largest)

    def test_readers_say_what_is_not_known(self):
        for kept in KEPT:
            with self.subTest(kept=kept):
                text = flat(report(f"{kept}.h5", cwd=self.shared).stdout)
                self.assertEqual(NOT_KNOWN in text, kept == "summary")
                self.assertIn("by mpi-scatter; 3 rank(s)", text)
                page = self.page(kept)
                self.assertEqual("Not known of each rank: this run kept nothing of each rank (--keep-samples summary)." in page, kept == "summary")
                self.assertEqual("fig-ranks-" in page, True)
                trace = report(f"{kept}.h5", "--format", "chrome-trace", cwd=self.shared)
                if kept == "all":
                    self.assertCode(trace, 0)
                else:
                    self.assertSays(trace, 2, "are not known: this run kept ")

    def test_a_trace_of_several_names_those_that_it_leaves_out(self):
        for kept in KEPT:
            self.assertCode(ranklab("results", "merge", "joined.h5", f"{kept}.h5", cwd=self.shared), 0)
        trace = report("joined.h5", "--where", "command=io", "--format", "chrome-trace", "--output", "trace.json", cwd=self.shared)
        self.assertCode(trace, 0)
        said = re.findall(r"run \S+ is not drawn: this run kept .*?\(--keep-samples (\w+)\)", flat(trace.stderr))
        self.assertEqual(sorted(said), ["ranks", "summary"], trace.stderr)

    def test_one_rank_is_known_whatever_is_kept(self):
        for kept in KEPT[1:]:
            with self.subTest(kept=kept):
                self.made("io", "--files", 3, "--size", 4, "-i", 3, "--directory", "o", "--output", f"one-{kept}.h5", "--strategy", "binary", "--keep-samples", kept)
                self.assertNotIn("not known", report(f"one-{kept}.h5", cwd=self.shared).stdout)
                self.assertCode(report(f"one-{kept}.h5", "--format", "chrome-trace", cwd=self.shared), 0)

    def page(self, kept):
        self.assertCode(report(f"{kept}.h5", "--format", "html", "--output", f"{kept}.html", cwd=self.shared), 0)
        return (self.shared / f"{kept}.html").read_text()

    def test_runs_that_differ_in_it_alone_are_compared(self):
        result = ranklab("compare", "all.h5", "summary.h5", cwd=self.shared)
        self.assertIn(result.code, (0, 4, 7), result)
        self.assertNotIn("keep-samples", result.stdout + result.stderr)

    def test_another_word_is_a_usage_error(self):
        result = ranklab("io", "--keep-samples", "none", cwd=self.shared)
        self.assertSays(result, 2, "keep-samples")


@needs_train
class WideRunTest(SharedCase):
    """A run of 1,024 ranks and 40 steps through the code that stores real ones; tests/bench/many_ranks.py makes wider ones."""

    RANKS, STEPS = 1024, 40

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--memory-format", "contiguous", "--steps", 6,
                 "--output", "pattern.h5", ranks=2)
        cls.facts = {}
        for kept in KEPT:
            made = subprocess.run([WIDE_RUN, "pattern.h5", f"{kept}.h5", str(cls.RANKS), str(cls.STEPS), kept], cwd=cls.shared,
                                  stdout=subprocess.PIPE, check=True)
            cls.facts[kept] = json.loads(made.stdout)

    def test_less_is_stored(self):
        sizes = [self.facts[kept]["file_bytes"] for kept in KEPT]
        self.assertGreater(sizes[0], 2 * sizes[1])
        self.assertGreater(sizes[1], 2 * sizes[2])

    def test_the_headline_is_the_same(self):
        texts = {}
        for kept in KEPT:
            text = report(f"{kept}.h5", cwd=self.shared).stdout
            self.assertLess(len(text.splitlines()), 200, text)
            texts[kept] = [line for line in text.splitlines() if re.search(r"img/sec|step_time_s|throughput", line, re.I)]
        self.assertGreater(len(texts["all"]), 2)
        self.assertEqual(texts["all"], texts["ranks"])
        self.assertEqual(texts["all"], texts["summary"])

    def test_the_page_is_bounded(self):
        for kept in KEPT:
            self.assertCode(report(f"{kept}.h5", "--format", "html", "--output", f"{kept}.html", cwd=self.shared), 0)
            page = (self.shared / f"{kept}.html").read_text()
            self.assertLess(len(page), 1 << 20)
            self.assertLessEqual(page.count('title="rank '), 256 * 10)
            self.assertEqual("the slowest; 1008 more ranks" in page, kept != "summary")
        slowest = re.search(r'<th scope="row">(\d+) on node\d+</th>', page := (self.shared / "ranks.html").read_text())
        self.assertEqual(int(slowest[1]), self.RANKS - 1, "the last one's steps are a third longer")

    def test_exports_are_whole(self):
        (run,) = json.loads(report("ranks.h5", "--format", "json", cwd=self.shared).stdout)["runs"]
        self.assertEqual(len(run["hosts"]), self.RANKS)
        self.assertEqual(run["tables"]["rank_summaries"]["measurement"].count("step_time_s"), self.RANKS)


if __name__ == "__main__":
    cli.main()
