"""`ranklab io` with several strategies: a run per strategy and a summary run, also after a signal, a time limit or a failed strategy."""

import json
import os
import pathlib
import re
import signal

import ranklab_cli as cli
from io_runs import measured, runs_of

IO = ("io", "-n", 6, "-s", 10, "--ceilings", "off", "--directory", "o", "--output", "r.h5", "--strategy")
STRATEGIES = ["text-vectorized", "mpi-scatter", "hdf5-parallel-collective"]


def written_by(pid):
    """Bytes that the process passed to write()."""
    return int(re.search(r"(?m)^wchar: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text()).group(1))


class Ladder(cli.Case):
    def climb(self, *words, code=0, ranks=1):
        """Returns (result, runs of the strategies, summary run)."""
        (self.folder / "r.h5").unlink(missing_ok=True)
        result = cli.ranklab(*IO, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, code)
        *runs, summary = runs_of(self.folder / "r.h5")
        return result, runs, summary

    def test_each_strategy_is_a_verified_run(self):
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                result, runs, summary = self.climb(",".join(reversed(STRATEGIES)), "-i", 3, "--json", ranks=ranks)
                self.assertEqual([run["config"]["strategy"] for run in runs], STRATEGIES, "stored in ladder order")
                for run in runs:
                    self.assertEqual(run["tables"]["verification"]["result"], ["passed"])
                    self.assertEqual(measured(run, "job_time_s")["n"], 3)
                    self.assertEqual(run["config"]["directory"], "o/" + run["config"]["strategy"])
                ladder = summary["tables"]["ladder"]
                self.assertEqual((ladder["rung"], ladder["n"], ladder["verified"]), (STRATEGIES, [3] * 3, ["yes"] * 3))
                self.assertEqual(ladder["ranks"], [1, ranks, ranks])
                self.assertEqual([run["id"] for run in json.loads(result.stdout)["runs"]], [run["id"] for run in (*runs, summary)])
                self.assertFalse((self.folder / "o").exists(), "what was written is still there")

    def test_json_of_one(self):
        result = cli.ranklab(*IO, "binary", "--json", cwd=self.folder)
        self.assertCode(result, 0)
        (stored,) = runs_of(self.folder / "r.h5")
        (printed,) = json.loads(result.stdout)["runs"]
        self.assertEqual((printed["id"], printed["config"]), (stored["id"], stored["config"]))

    def test_the_time_limit_is_each_strategys_own(self):
        result, runs, summary = self.climb("binary,hdf5-serial", "-i", 1000000, "--time-limit", 0.1, code=6)
        for run in (*runs, summary):
            self.assertEqual((run["exit_code"], run["valid"], run["cut_short"]), (6, True, "time limit"))
        self.assertGreaterEqual(min(summary["tables"]["ladder"]["n"]), 1)
        self.assertRegex(summary["warnings"][0], r"2 of 2\b.*\b2\b")
        self.assertRegex(result.stdout, r"\n  result ")

    def test_a_strategy_that_fails_leaves_the_others_to_go_on(self):
        """A folder has the name of its file."""
        (self.folder / "o/binary/data00001.npy/in_the_way").mkdir(parents=True)
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                result, runs, summary = self.climb("text-vectorized,binary,hdf5-serial", "-i", 2, code=2, ranks=ranks)
                self.assertEqual(summary["tables"]["ladder"]["rung"], ["text-vectorized", "hdf5-serial"])
                self.assertEqual(summary["tables"]["ladder"]["n"], [2, 2])
                self.assertEqual([(run["exit_code"], run["cut_short"]) for run in runs], [(0, "")] * 2)
                self.assertEqual(summary["cut_short"], "not complete")
                self.assertRegex(summary["warnings"][0], r"2 of 3\b.*\b0\b")
                self.assertEqual(len([line for line in result.said if "binary/data00001.npy" in line]), 1, str(result))

    def test_a_signal_keeps_what_was_measured(self):
        round_bytes = 50 * 30 * 30 * 25  # rank 0's bytes of text-vectorized in one repetition
        for ranks, number in ((1, signal.SIGINT), (3, signal.SIGTERM)):
            with self.subTest(ranks=ranks):
                (self.folder / "r.h5").unlink(missing_ok=True)
                launcher = cli.mpirun_words(ranks) if ranks > 1 else ()
                job = self.start(*launcher, cli.RANKLAB, *IO, ",".join(STRATEGIES), "-n", 50, "-s", 30, "-i", 1000000)
                rank_0 = job.wait_until(lambda: len(job.ranks()) == ranks and job.ranks()[0]) if ranks > 1 else job.process.pid
                job.wait_until(lambda: written_by(rank_0) > 4 * round_bytes)
                os.kill(job.ranks()[1] if ranks > 1 else rank_0, number)
                self.assertCode(job.finish(60), 128 + number)
                *runs, summary = runs_of(self.folder / "r.h5")
                self.assertEqual([run["config"]["strategy"] for run in runs], STRATEGIES)
                for run in (*runs, summary):
                    self.assertEqual((run["exit_code"], run["valid"], run["cut_short"]), (128 + number, True, number.name))
                made = [measured(run, "job_time_s")["n"] for run in runs]
                self.assertEqual(summary["tables"]["ladder"]["n"], made)
                self.assertLessEqual(max(made) - min(made), 1, "they took turns")
                self.assertIn(f"{made[0]} of 1000000", runs[0]["warnings"][0])
                self.assertRegex(summary["warnings"][0], r"3 of 3\b.*\b3\b")


if __name__ == "__main__":
    cli.main()
