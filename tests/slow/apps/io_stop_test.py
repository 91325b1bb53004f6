"""`ranklab io` stopped by signals and time limits at moments of all kinds, its memory with many files, and sweeps of ranks."""

import os
import pathlib
import re
import signal
import time

import ranklab_cli as cli
from io_runs import PARALLEL, RUNGS, column, measured, runs_of, shared
from ranklab_cli import Case, ranklab



def written_by(pid):
    """Bytes that the process gave to write calls."""
    return int(re.search(r"(?m)^wchar: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text()).group(1))


class Sweeps(Case):
    def test_a_rung_is_held_against_its_slowest_writer(self):
        """The pool's workers wait for each other: their phases add up. Those of the queue write at once: the longest counts."""
        file = self.folder / "writers.h5"
        self.assertCode(ranklab("io", "--strategy", "process-pool,process-queue", "--workers", 3, "-n", 12, "-s", 50, "-i", 1,
                                "--ceilings", "on", "--order", "sequential", "--output", file, "--directory", self.folder / "out"), 0)
        for run in runs_of(file)[:-1]:
            with self.subTest(rung=run["config"]["strategy"]):
                total = dict(zip(column(run, "io_phases", "phase"), column(run, "io_phases", "total_s")))
                rung_s = dict(zip(column(run, "ceilings", "ceiling"), column(run, "ceilings", "rung_s")))
                writing, creating = rung_s["raw write()"], rung_s["file creation"]
                if run["config"]["strategy"] == "process-pool":
                    self.assertAlmostEqual(writing, total["write"], delta=1e-9)
                    self.assertAlmostEqual(creating, total["open"] + total["close"], delta=1e-9)
                else:
                    self.assertGreaterEqual(writing, total["write"] / 3 - 1e-9)
                    self.assertLessEqual(writing, total["write"] + 1e-9)

    def test_sweeps(self):
        file = self.folder / "sweep.h5"
        result = ranklab("io", "--strategy", "process-queue,mpi-send", "--sweep-workers", "1,2", "--ranks", "1,2", "--dynamic",
                         "-n", 6, "-s", 10, "--output", file, "--directory", self.folder / "out", ranks=2)
        self.assertCode(result, 0)
        ladder = runs_of(file)[-1]["tables"]["ladder"]
        self.assertEqual(ladder["rung"], ["process-queue"] * 2 + ["mpi-send"] * 2)
        self.assertEqual(ladder["workers"], [1, 2, 0, 0])
        self.assertEqual(ladder["ranks"], [1, 1, 1, 2])


class Size(Case):
    def test_memory_does_not_grow_with_the_number_of_files(self):
        peaks = {}
        for rung in RUNGS:
            many = 5000 if shared(rung) else 20000
            for files in (many // 10, many):
                file = self.folder / f"{rung}{files}.h5"
                result = ranklab("io", "--strategy", rung, "-n", files, "-s", 10, "--workers", 2, "--ceilings", "off",
                                 "--output", file, "--directory", self.folder / "o", ranks=2 if rung in PARALLEL else 1,
                                 timeout=300)
                self.assertCode(result, 0)
                peaks[rung, files] = measured(runs_of(file)[-1], "peak_rss_bytes")["max"]
            # HDF5 itself keeps an index of the datasets in memory.
            room = 60 << 20 if shared(rung) else 8 << 20
            self.assertLess(peaks[rung, many] - peaks[rung, many // 10], room, rung)


class Stop(Case):
    def test_ctrl_c_tells_what_exists_and_leaves_no_half(self):
        for rung in ("text-loop", "binary", "process-pool", "process-queue", "hdf5-serial"):
            for rename in ((), ("--rename",)):
                with self.subTest(rung=rung, rename=rename):
                    out = self.folder / f"{rung}{len(rename)}"
                    job = self.start(cli.RANKLAB, "io", "--strategy", rung, "-n", 200000, "-s", 30, "--workers", 2,
                                     "--directory", out, "--output", "none", *rename)
                    job.wait_until(lambda: out.exists() and len(os.listdir(out)) > (0 if shared(rung) else 20))
                    os.kill(job.process.pid, signal.SIGINT)
                    result = job.finish(30)
                    self.assertSays(result, 130, "stopped by Ctrl-C", "data.h5" if shared(rung) else "of 200000 files")
                    left = list(out.iterdir()) if out.exists() else []
                    self.assertFalse([p for p in left if p.name.startswith(".")], "a temporary file is left")
                    if not shared(rung):
                        self.assertEqual({p.stat().st_size for p in left}, {30 * 30 * 25 if "text" in rung else 7328})
                        said = int(re.search(r"(\d+) of 200000", result.stderr).group(1))
                        self.assertEqual(said, len(left))

    def test_sigterm_of_the_batch_system(self):
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", PARALLEL[0], "-n", 200000, "-s", 30,
                         "--directory", self.folder / "o", "--output", "none")
        job.wait_until(lambda: len(job.ranks()) == 2 and (self.folder / "o").exists()
                       and len(os.listdir(self.folder / "o")) > 0)
        for pid in job.ranks().values():
            os.kill(pid, signal.SIGTERM)
        result = job.finish(40)
        self.assertEqual(result.code, 143, str(result))
        self.assertIn("stopped by SIGTERM", result.stderr)

    def test_one_rank_in_the_middle_of_a_writing(self):
        """The others hear of it where each writes for itself, and agree where they write together: nobody waits for one that left."""
        for number, rung in enumerate(PARALLEL):
            with self.subTest(rung=rung):
                out = self.folder / rung
                job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", rung, "-n", 100000, "-s", 64, "--directory", out,
                                 "--output", "r.h5")
                job.wait_until(lambda: len(job.ranks()) == 2 and out.exists() and len(os.listdir(out)) > 0)
                os.kill(job.ranks()[number % 2], signal.SIGTERM)
                result = job.finish(60)
                self.assertCode(result, 128 + signal.SIGTERM)
                said = [line for line in result.said if "stopped by SIGTERM" in line]
                self.assertEqual(len(said), 1, str(result))
                self.assertIn(f"stopped by SIGTERM while {rung} wrote: ", said[0])
                self.assertNotIn("did not reach the end", result.stderr)

    def test_a_rank_that_closes_the_shared_file_already(self):
        """It does not wait inside HDF5 for one that a signal stops in its last records: the whole repetitions are stored."""
        files, size, share = 60, 500, 30 * 500 * 500 * 8
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", "hdf5-parallel-independent", "-n", files, "-s", size, "-i", 100,
                         "--write-only", "--ceilings", "off", "--directory", self.folder / "o", "--output", "r.h5")
        job.wait_until(lambda: len(job.ranks()) == 2)
        first, second = job.ranks()[0], job.ranks()[1]
        job.wait_until(lambda: written_by(first) > 1.2 * share)  # in the second repetition
        os.kill(first, signal.SIGSTOP)
        before = written_by(first)
        job.wait_until(lambda: written_by(second) >= (before // share + 1) * share)  # it closes
        os.kill(first, signal.SIGTERM)
        os.kill(first, signal.SIGCONT)
        result = job.finish(60)
        self.assertCode(result, 128 + signal.SIGTERM)
        self.assertNotIn("did not reach the end", result.stderr)
        self.assertEqual(measured(runs_of(self.folder / "r.h5")[0], "job_time_s")["n"], before // share)

    def test_what_was_cut_is_in_no_table(self):
        """A turn that the time limit or a signal cut is none of the run's."""
        for signalled in (False, True):
            with self.subTest(signalled=signalled):
                out, file = self.folder / "o", self.folder / f"r{signalled}.h5"
                job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", "text-loop,hdf5-parallel-collective", "-n", 300, "-s", 30,
                                 "-i", 100000, "--ceilings", "off", "--directory", out, "--output", file,
                                 *(() if signalled else ("--time-limit", 0.7)))
                if signalled:
                    time.sleep(2)  # some are whole
                    for pid in job.ranks().values():
                        os.kill(pid, signal.SIGTERM)
                self.assertCode(job.finish(60), 128 + signal.SIGTERM if signalled else 6)
                for run in runs_of(file)[:2]:
                    n = measured(run, "job_time_s")["n"]
                    self.assertEqual(len(column(run, "order", "round")), n)
                    self.assertEqual(column(run, "order", "round"), list(range(1, n + 1)))

    def test_a_comparison_of_cut_runs_is_marked(self):
        """Each of the runs is cut in its own turn: so is what they came to, and a filter for whole ones leaves it out."""
        file = self.folder / "r.h5"
        words = ("io", "--strategy", "text-loop,binary", "-n", 50, "-s", 30, "-i", 100000, "--ceilings", "off", "--directory",
                 self.folder / "o", "--output", file, "--time-limit", 0.7)
        result = ranklab(*words, cwd=self.folder)
        self.assertCode(result, 6)
        *runs, summary = runs_of(file)
        self.assertEqual([(run["exit_code"], run["valid"], run["cut_short"]) for run in (*runs, summary)], [(6, True, "time limit")] * 3)
        self.assertEqual(summary["warnings"][0], "2 of 2 runs were cut short (time limit): it compares what was measured until then")
        self.assertRegex(result.stdout, r"\n  fastest ")
        self.assertIn("holds no run of cut_short=", ranklab("results", "list", file, "--where", "cut_short=").stdout)

    def test_the_lines_of_finished_runs_do_not_wait_once_a_signal_came(self):
        """The job may be killed before their pace allows them."""
        out = self.folder / "o"
        job = self.start(cli.RANKLAB, "io", "--strategy", "text-loop,binary,mpi-send,hdf5-serial", "-n", 200, "-s", 60, "-i", 20,
                         "--order", "sequential", "--ceilings", "off", "--directory", out, "--output", "none")
        job.wait_until(lambda: (out / "binary").exists())
        os.kill(job.process.pid, signal.SIGTERM)
        result = job.finish(60)
        self.assertCode(result, 128 + signal.SIGTERM)
        self.assertRegex(result.stderr, r"(?m)^text-loop: .* verified \(not stored\)$")


if __name__ == "__main__":
    cli.main()
