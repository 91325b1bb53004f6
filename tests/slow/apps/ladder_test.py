"""`ranklab train` at several numbers of ranks, threads, loader threads or batches in one job: each point is what a job of its own would
be, the ranks without a part sleep, all hear of an end, and the table and the verdict stand in the answer and in the file."""

import json
import os
import signal

import ranklab_cli as cli
from ranklab_cli import Case, ranklab, train

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")

SHORT = ("--steps", 4, "--warmup", 0, "--evaluate", "off", "--overlap-steps", 0)
LONG = ("--steps", 100000, "--warmup", 0, "--evaluate", "off", "--overlap-steps", 0)


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


class Point:
    def __init__(self, run):
        self.config = json.loads(text(run.attrs["config_json"]))
        self.valid, self.exit_code = run.attrs["valid"], run.attrs["exit_code"]
        self.tables = {name: table[()] for name, table in run.get("tables", {}).items()}
        self.ranks = len(run["hosts"]) if "hosts" in run else 0
        samples = run.get("samples", {})
        self.losses = samples["train_loss"][()].ravel() if "train_loss" in samples else None


def stored(path):
    """(the points, the summaries)"""
    with h5py.File(path) as file:
        found = [Point(run) for run in file["runs"].values()]
    return [one for one in found if one.losses is not None], [one for one in found if one.losses is None]


class Ladder(Case):
    def ladder(self, *words, ranks, code=0):
        result = train(*SHORT, "--output", "l.h5", *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, code)
        return result

    def test_strong_points_share_one_batch(self):
        result = self.ladder("--ranks", "1,2,3,4", "--scaling", "strong", "--batch-size", 24, ranks=4)
        points, (summary,) = stored(self.folder / "l.h5")
        self.assertEqual(sorted(point.ranks for point in points), [1, 2, 3, 4])
        for point in points:
            self.assertEqual((float(point.config["global-batch-size"]), float(point.config["ranks"])), (24, point.ranks))
            self.assertEqual(point.valid, 1)
        scaling = summary.tables["scaling"]
        self.assertEqual([text(name) for name in scaling["point"]], [f"ranks = {n}" for n in (1, 2, 3, 4)])
        times = scaling["time_s"]
        np.testing.assert_allclose(scaling["speedup"][1:], times[0] / times[1:], rtol=1e-12)
        (verdict,) = [text(one) for one in summary.tables["verdicts"]["verdict"]]
        self.assertIn(" ".join(verdict.split()), " ".join(result.stdout.split()), "the verdict stands in the answer")
        self.assertEqual(text(summary.config["ranks"]), "1,2,3,4")
        again = ranklab("report", "l.h5", "--group-by", "ranks", cwd=self.folder)
        self.assertIn(verdict.split(";")[0], " ".join(again.stdout.split()), "the report says the same")

    def test_weak_points_keep_a_ranks_batch_and_take_turns(self):
        self.ladder("--ranks", "1,3", "--batch-size", 8, "--repetitions", 2, ranks=3)
        points, (summary,) = stored(self.folder / "l.h5")
        self.assertEqual(sorted((point.ranks, float(point.config["global-batch-size"])) for point in points), [(1, 8), (1, 8), (3, 24), (3, 24)])
        rounds = sorted((int(point.tables["order"]["round"][0]), int(point.tables["order"]["place"][0])) for point in points)
        self.assertEqual(rounds, [(1, 1), (1, 2), (2, 1), (2, 2)])
        self.assertEqual(summary.tables["scaling"]["n"].tolist(), [2, 2])
        self.assertTrue(np.isfinite(summary.tables["scaling"]["weak_efficiency"][1]))

    def test_a_point_trains_as_a_job_of_its_own(self):
        words = ("--model", "mnist-cnn", "--width", 4, "--batch-size", 6, "--train-samples", 48)
        self.ladder(*words, "--ranks", "1,2,3", ranks=4)
        points, _ = stored(self.folder / "l.h5")
        for ranks in (1, 2, 3):
            alone = train(*SHORT, *words, "--output", f"{ranks}.h5", ranks=ranks, cwd=self.folder)
            self.assertCode(alone, 0)
            (own,), _ = stored(self.folder / f"{ranks}.h5")
            (point,) = [one for one in points if one.ranks == ranks]
            np.testing.assert_array_equal(point.losses, own.losses, f"at {ranks} ranks")

    def test_one_number_of_ranks_is_one_run(self):
        result = self.ladder("--ranks", 2, ranks=3)
        (point,), summaries = stored(self.folder / "l.h5")
        self.assertEqual((point.ranks, summaries), (2, []))
        self.assertIn("on 2 rank(s)", result.stdout)

    def test_threads_loader_threads_and_batches(self):
        for option, values, table in (("--threads", "1, 2", "scaling"), ("--workers", "0,1,2", "scaling"), ("--batch-size", "4,8", "variants")):
            with self.subTest(option=option):
                (self.folder / "l.h5").unlink(missing_ok=True)
                self.ladder(option, values, ranks=1)
                points, (summary,) = stored(self.folder / "l.h5")
                self.assertEqual(sorted(int(float(point.config[option[2:]])) for point in points), [int(n) for n in values.split(",")])
                self.assertEqual(len(summary.tables[table]), len(points))

    def test_writing_keeps_its_own_answer(self):
        result = ranklab("io", "--strategy", "mpi-send,mpi-scatter", "--ranks", "1,2", "-n", 4, "-s", 20, "--output", "l.h5", ranks=2, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"\n  fastest +mpi-s")
        self.assertNotIn("a step", result.stdout)


class Ends(Case):
    """What ends one of the runs ends the job, for those who sleep, too."""

    def start_long(self, *words, ranks=3):
        job = self.start(*cli.mpirun_words(ranks), cli.RANKLAB, "train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1,
                         "--memory-format", "contiguous", *LONG, "--output", "l.h5", *words)
        job.wait_for_stderr("100000 steps", 60)
        job.wait_until(lambda: len(job.ranks()) == ranks)
        return job

    def test_a_signal_stops_the_run_and_those_that_are_left(self):
        job = self.start_long("--ranks", "1,2,3")
        for pid in job.ranks().values():
            os.kill(pid, signal.SIGTERM)
        result = job.finish(60)
        self.assertCode(result, 143)
        points, _ = stored(self.folder / "l.h5")
        self.assertEqual([point.exit_code for point in points], [143] * len(points))
        self.assertTrue(points)

    def test_a_sleeping_rank_that_is_killed_ends_the_job(self):
        job = self.start_long("--ranks", 2)
        os.kill(job.ranks()[2], signal.SIGKILL)
        self.assertNotEqual(job.finish(60).code, 0)

    def test_a_sleeping_rank_that_is_stopped_is_named(self):
        job = self.start_long("--ranks", "2,3", "--order", "sequential", "--time-limit", 3, "--stall-timeout", 4)
        os.kill(job.ranks()[2], signal.SIGSTOP)
        result = job.finish(90)
        self.assertCode(result, 5)
        self.assertIn("rank 2 on", " ".join(result.said))

    def test_one_sentence_of_a_failure_in_a_run_of_fewer_ranks(self):
        result = train(*SHORT, "--data", "mnist", "--data-dir", "nowhere", "--ranks", "2", "--output", "none", ranks=3, cwd=self.folder)
        self.assertEqual(len([line for line in result.said if "nowhere" in line]), 1, str(result))
        self.assertNotEqual(result.code, 0)


if __name__ == "__main__":
    cli.main()
