"""`report --why` names the cause in runs that were slowed by one cause each."""

import unittest

import ranklab_cli as cli
from provoked import REAL, RUNS, SLOW_READS, Case

cli.need_train()

ATTEMPTS = 3  # other load on the machine slows runs, too


class Why(Case):
    def assertNamed(self, name):
        run = RUNS[name]
        for attempt in range(ATTEMPTS):
            found = self.train(run)
            if run.is_named(found):
                break
        self.assertEqual((found["bound"], found["cause"]), (run.bound, run.cause), found)
        self.assertLessEqual(len(found["advice"]), 3)
        if run.option:
            first = found["advice"][0]
            self.assertTrue(first["option"].startswith(run.option), found)
            most = first.get("at_most_percent") or 100
            self.assertTrue(0 < (first.get("at_least_percent") or 1) <= most <= 100, found)
        parts = {part["part"]: part for part in found["parts"]}
        whole = parts.pop("step")
        self.assertAlmostEqual(sum(part["time_s"] for part in parts.values()), whole["time_s"], delta=3e-3 * whole["time_s"])
        return found

    @unittest.skipUnless(SLOW_READS.exists(), f"{SLOW_READS} is not built")
    def test_slow_input(self):
        self.assertNamed("slow input")

    def test_costly_loader(self):
        self.assertNamed("costly loader")

    def test_slow_rank(self):
        self.assertNamed("slow rank")
        self.assertIn("rank 1 on", cli.ranklab("report", "r.h5", "--why", cwd=self.folder).stdout)

    def test_the_largest_loss_comes_before_an_earlier_cause(self):
        """A rank is late, though three ranks share two cores, or in the phase that waits for samples."""
        self.assertNamed("late in forward")
        self.assertNamed("late in data")

    @cli.only_open_mpi
    def test_two_threads_on_one_core(self):
        self.assertNamed("two threads on one core")

    def test_tiny_batch(self):
        self.assertNamed("tiny batch")

    @cli.only_open_mpi
    def test_oversubscription(self):
        found = self.assertNamed("oversubscription")
        self.assertLessEqual({one["option"] for one in found["advice"]}, {"mpirun -n 2"})

    @cli.only_open_mpi
    def test_healthy(self):
        run = RUNS["healthy"]
        for _ in range(ATTEMPTS):
            found = self.train(run, env=REAL)
            if run.is_named(found):
                return
        if found["bound"] == "other_load":
            self.skipTest("the machine is not quiet: " + found["sentence"])
        self.assertEqual((found["bound"], found["cause"]), (run.bound, run.cause), found)

    def test_cannot_tell_without_the_parts(self):
        """PyTorch's reducer waits within backward, so there is no communication time, until --ablation makes trials."""
        words = ("--steps", 8, "--sync", "c10d", "--output", "r.h5")
        self.assertCode(cli.train(*words, ranks=2, cwd=self.folder), 0)
        found = self.why()
        self.assertEqual((found["bound"], found["cause"], [one["option"] for one in found["advice"]]), ("unknown", "not_measured", ["--ablation"]))
        self.assertCode(cli.train(*words, "--ablation", "--repetitions", 1, ranks=2, cwd=self.folder), 0)
        found = self.why()
        self.assertNotEqual(found["bound"], "unknown", "the trials' waterfall has the parts")
        self.assertIn("computing", [part["part"] for part in found["parts"]])

    def test_replicas_are_compared_with_ranks(self):
        """What --mode dp pays beside the file's run of a rank per replica, on as many cores."""
        words = ("--model", "mnist-cnn", "--width", 8, "--data", "synthetic", "--global-batch-size", 8, "--steps", 8, "--output", "r.h5")
        self.assertCode(cli.train(*words, "--threads", 1, ranks=2, cwd=self.folder), 0)
        self.assertCode(cli.train(*words, "--mode", "dp", "--replicas", 2, "--threads", 2, cwd=self.folder), 0)
        found = self.why()
        self.assertIn("moving between replicas", [part["part"] for part in found["parts"]])
        self.assertRegex(found["sentence"], r"times as long as on 2 ranks .*(computing|moving between replicas) [0-9.]+ [mu]?s (more|less)")

    def test_other_commands_have_none(self):
        self.assertCode(cli.ranklab("io", "--strategy", "binary", "-n", 1, "-s", 4, "--output", "io.h5", cwd=self.folder), 0)
        self.assertSays(cli.ranklab("report", "io.h5", "--why", cwd=self.folder), 2, "training run")


if __name__ == "__main__":
    cli.main()
