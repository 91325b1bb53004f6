"""`ranklab sweep` with mpirun: its table, a dry run that a shell executes, a failed point, and resuming after a kill. The plan:
tests/unit/campaign; srun: tests/slow/cluster/sweep_test.py."""

import collections
import os
import signal
import time

import ranklab_cli as cli
from stored_runs import stored_runs

LAUNCHER = " ".join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound)
IO = ("io", "--strategy", "mpi-send,mpi-scatter", "-n", "4", "-s", "10")


class SweepTest(cli.Case):
    def words(self, *words):
        return ("sweep", *words, "--launcher-options", LAUNCHER, "--output", "r.h5", "--label", "s")

    def sweep(self, *words, code=0):
        result = cli.ranklab(*self.words(*words), cwd=self.folder, timeout=180)
        self.assertCode(result, code)
        return result

    def processes(self):
        """Returns {(strategy, ranks): number of runs} of the file."""
        runs = [run for run in stored_runs(self.folder / "r.h5") if run.rows]
        self.assertEqual({run.attrs["label"] for run in runs}, {"s"})
        return dict(collections.Counter((run.config.get("strategy", ""), len(run.hosts)) for run in runs))

    def test_a_dry_run_that_is_pasted_is_the_sweep(self):
        sweep = (*IO, "--ranks", "1,2", "--repeat", "1")
        pasted = self.sweep(*sweep, "--dry-run").stdout
        self.assertEqual(len(pasted.splitlines()), 2)
        self.assertEqual(self.names(), [])
        self.assertCode(cli.run("bash", "-ec", pasted, cwd=self.folder), 0)
        self.assertEqual(self.sweep(*sweep, "--dry-run").stdout, "")
        result = self.sweep(*sweep)
        self.assertEqual(len(result.said), 1, "nothing was missing")
        self.assertRegex(result.said[0], r"2 of 2 runs are stored.* on \d{4}-")
        for words in ("strategy = mpi-scatter", "speedup", "efficiency/core", "baseline: ", "ranklab report r.h5 --label s"):
            self.assertIn(words, " ".join(result.stdout.split()))
        self.assertEqual(self.processes(), {(name, ranks): 1 for name in ("mpi-send", "mpi-scatter") for ranks in (1, 2)})

    def test_killed_and_started_again_it_does_what_is_missing(self):
        sweep = ("comm", "--sizes", "1K", "-n", "5", "-w", "1", "--ranks", "2,3", "--repeat", "2")
        job = self.start(cli.RANKLAB, *self.words(*sweep))
        job.wait_for_stderr("[1/4]", 60)
        job.process.kill()
        job.finish()
        left = len(self.sweep(*sweep, "--dry-run").stdout.splitlines())
        self.assertIn(left, (2, 3))
        result = self.sweep(*sweep)
        self.assertIn(f"[{left}/{left}]", result.stderr)
        self.assertIn("--repeat 5", result.stderr, "repeats that give a verdict")
        self.assertIn("left", result.stderr)
        self.assertEqual(self.processes(), {("", 2): 2, ("", 3): 2})
        self.assertIn("ranks", result.stdout)

    def test_other_contents_of_a_file_are_another_point(self):
        sweep = ("comm", "--from-model", "buckets.csv", "-n", "5", "-w", "1", "--ranks", "2", "--repeat", "1")
        for elements, stored in ((100, 0), (100, 1), (200, 0)):
            (self.folder / "buckets.csv").write_text("# ranklab: the gradient buckets that a training step reduces, in their order\n"
                                                     f"# model: own\n# parameters: {elements}\n"
                                                     f"bucket,parameters,elements,dtype,bytes\n0,1,{elements},fp32,{4 * elements}\n")
            result = self.sweep(*sweep)
            self.assertEqual(result.stderr.count("1 of 1 runs are stored"), stored)
        self.assertEqual(self.processes(), {("", 2): 2})

    def test_one_sweep_at_a_time_measures_a_point(self):
        sweep = ("io", "--strategy", "binary", "-n", "4", "-s", "10", "-i", "1000000", "--repeat", "1")
        job = self.start(cli.RANKLAB, *self.words(*sweep))
        while not list(self.folder.glob("s.logs/*.log")): time.sleep(0.02)
        self.assertSays(self.sweep(*sweep, code=5), 5, f"process {job.process.pid} ", "--label")
        os.kill(job.process.pid, signal.SIGINT)
        self.assertCode(job.finish(60), 130)

    def test_the_ranks_are_the_sweeps_own(self):
        self.assertSays(cli.ranklab(*self.words(*IO), ranks=2, cwd=self.folder), 5, "2 of these processes", "leave mpirun")
        self.assertEqual(self.names(), [])

    def test_a_signal_ends_it_with_the_table(self):
        sweep = ("io", "--strategy", "binary", "-n", "4", "-s", "10", "--size", "10,11", "-i", "1,100000", "--repeat", "1", "--seed", "3")
        job = self.start(cli.RANKLAB, *self.words(*sweep))
        job.wait_for_stderr("[1/4]", 60)
        os.kill(job.process.pid, signal.SIGINT)
        result = job.finish(60)
        self.assertCode(result, 130)
        self.assertRegex(result.stderr, r"\d of 4 runs")
        self.assertRegex(result.stdout, r"(?m)^  next +ranklab report ")

    def test_a_point_that_fails_stops_no_other(self):
        result = self.sweep("io", "--strategy", "mpi-send", "-n", "4", "--size", "10,100000000", "--repeat", "2", code=2)
        self.assertRegex(result.stderr, r"size=100000000 repeat 1: .*exit code 2.* s\.logs/size=100000000\.1\.log ")
        self.assertRegex(result.stderr, r"ends:\n.*100000000", "what the program said, and not what mpirun did")
        self.assertIn("2 of 4 runs", result.stderr)
        self.assertEqual(self.processes(), {("mpi-send", 1): 2})
        self.assertRegex(result.stdout, r"(?m)^  next +ranklab report ")

    def test_a_race_names_the_best_and_writes_its_config(self):
        race = ("io", "--race", "--strategy", "binary,text-loop", "-n", "4", "-s", "300", "--ranks", "2", "--write-config", "best.ini")
        result = self.sweep(*race)
        self.assertRegex(result.stdout, r"(?m)^  race +best: strategy=binary$")
        starts = sum(self.processes().values())
        self.assertRegex(result.stdout, rf"(?m)^  spent +{starts} starts, \S+ node-hours; --repeat 6 takes 12 and \S+$")
        self.assertGreaterEqual(starts, 4)
        again = self.sweep(*race)
        self.assertEqual((again.said, sum(self.processes().values())), ([], starts), "a race that is over starts nothing")
        self.assertIn("best: strategy=binary", again.stdout)
        config = (self.folder / "best.ini").read_text()
        self.assertRegex(config, r"^# best: strategy=binary\n# .* -n 2 .*ranklab io --config best.ini\n")
        self.assertIn("\nstrategy = binary\n", config)
        self.assertNotIn("label", config)
        run = cli.ranklab("io", "--config", "best.ini", "--output", "one.h5", ranks=2, cwd=self.folder)
        self.assertCode(run, 0)
        (stored,) = stored_runs(self.folder / "one.h5")
        self.assertEqual((stored.config["strategy"], stored.config["size"]), ("binary", 300))

    def test_a_race_goes_on_without_a_point_that_fails(self):
        result = self.sweep("io", "--race", "--strategy", "binary", "-n", "4", "--size", "10,100000000", code=2)
        self.assertRegex(result.stdout, r"(?m)^  race +best: size=10$")
        self.assertEqual(self.processes(), {("binary", 1): 2})

    @cli.needs_train
    def test_training_at_several_ranks(self):
        result = self.sweep("train", "--model", "template-softmax", "--data", "synthetic", "--steps", "7", "--batch-size", "4", "--ranks", "1,2",
                            "--threads", "1", "--repeat", "1")
        self.assertIn("efficiency/core", result.stdout)


if __name__ == "__main__":
    cli.main()
