"""`ranklab io` stopped by signals at different moments, its writers' times, and its memory with many files."""

import os
import pathlib
import re
import signal
import time

import ranklab_cli as cli
from io_runs import PARALLEL, RUNGS, column, measured, runs_of, shared
from ranklab_cli import Case, ranklab


def written_by(pid):
    """Bytes that the process passed to write()."""
    return int(re.search(r"(?m)^wchar: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text()).group(1))


class Writers(Case):
    def test_a_rung_is_held_against_its_slowest_writer(self):
        """Workers of the pool wait for each other: their phases add up. Workers of the queue write at once: the slowest counts."""
        file = self.folder / "writers.h5"
        self.assertCode(ranklab("io", "--strategy", "process-pool,process-queue", "--workers", 3, "-n", 12, "-s", 50, "-i", 1,
                                "--ceilings", "on", "--output", file, "--directory", self.folder / "out"), 0)
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


class Size(Case):
    def test_memory_does_not_grow_with_the_number_of_files(self):
        peaks = {}
        for rung in RUNGS:
            many = 3000 if shared(rung) else 10000
            for files in (many // 10, many):
                file = self.folder / f"{rung}{files}.h5"
                result = ranklab("io", "--strategy", rung, "-n", files, "-s", 10, "--workers", 2, "--ceilings", "off",
                                 "--output", file, "--directory", self.folder / "o", ranks=2 if rung in PARALLEL else 1,
                                 timeout=300)
                self.assertCode(result, 0)
                peaks[rung, files] = measured(runs_of(file)[-1], "peak_rss_bytes")["max"]
            # HDF5 itself keeps an index of the datasets in memory.
            room = 36 << 20 if shared(rung) else 4 << 20
            self.assertLess(peaks[rung, many] - peaks[rung, many // 10], room, rung)


class Stop(Case):
    def test_ctrl_c_tells_what_exists_and_leaves_no_half(self):
        for rung in ("text-loop", "binary", "process-pool", "process-queue", "hdf5-serial"):
            with self.subTest(rung=rung):
                out = self.folder / rung
                job = self.start(cli.RANKLAB, "io", "--strategy", rung, "-n", 200000, "-s", 30, "--workers", 2,
                                 "--directory", out, "--output", "none")
                job.wait_until(lambda: out.exists() and len(os.listdir(out)) > (0 if shared(rung) else 20))
                os.kill(job.process.pid, signal.SIGINT)
                result = job.finish(30)
                self.assertSays(result, 130, "Ctrl-C", "data.h5" if shared(rung) else "of 200000")
                left = [path for path in out.iterdir() if not path.name.startswith(".ranklab-io")] if out.exists() else []
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
        self.assertIn("SIGTERM", result.stderr)

    def test_one_rank_in_the_middle_of_a_writing(self):
        """Collective writers agree on stopping; with other strategies a rank that stopped ends the job after 10 s."""
        for number, rung in enumerate(PARALLEL):
            with self.subTest(rung=rung):
                out = self.folder / rung
                job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", rung, "-n", 100000, "-s", 64, "--directory", out,
                                 "--output", "r.h5")
                job.wait_until(lambda: len(job.ranks()) == 2 and out.exists() and len(os.listdir(out)) > 0)
                os.kill(job.ranks()[number % 2], signal.SIGTERM)
                result = job.finish(60)
                self.assertCode(result, 128 + signal.SIGTERM)
                said = [line for line in result.said if "SIGTERM" in line]
                self.assertEqual(len(said), 1, str(result))
                self.assertIn(rung, said[0])

    def test_a_rank_that_closes_the_shared_file_already(self):
        """It does not wait within HDF5 for a rank that a signal stopped: complete repetitions are stored."""
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
        self.assertEqual(measured(runs_of(self.folder / "r.h5")[0], "job_time_s")["n"], before // share)


if __name__ == "__main__":
    cli.main()
