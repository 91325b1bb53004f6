"""How long `ranklab train` and `ranklab io` measure: --target-ci, --time-limit; several strategies: io_ladder_test.py. No test
asserts a time: a target that every run reaches and one that no run reaches lead to different numbers of samples."""

import json

import ranklab_cli as cli

NEVER, ALWAYS = "0.0000001%", "1000000000%"
TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--train-samples", 64, "--batch-size", 4, "--threads", 1, "--evaluate", "off",
         "--overlap-steps", 0)
IO = ("io", "-n", 3, "-s", 10, "--directory", "o", "--ceilings", "off", "--strategy")


class Measuring(cli.Case):
    def runs(self, *words, code=0, ranks=1):
        """Returns (result, stored runs)."""
        (self.folder / "r.h5").unlink(missing_ok=True)
        result = cli.ranklab(*words, "--output", "r.h5", ranks=ranks, cwd=self.folder)
        self.assertCode(result, code)
        return result, json.loads(cli.ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"]

    def samples(self, run, name):
        return next(one["n"] for one in run["measurements"] if one["name"] == name)

    def reached(self, run, name):
        """Checks that --target-ci, which every interval reaches, ended the run at the first of its checks that saw enough samples."""
        looks = run["tables"]["convergence"]
        self.assertEqual([n >= 15 for n in looks["effective_n"]], [False] * (len(looks["samples"]) - 1) + [True])
        self.assertEqual(self.samples(run, name), looks["samples"][-1])
        return looks["samples"][0]

    @cli.needs_train
    def test_a_training_that_converges_at_once_and_one_that_does_not(self):
        """At least 8 steps and at most 20 times as many, tested whenever their number has doubled. The numbers stay valid."""
        result, (run,) = self.runs(*TRAIN, "--model", "mnist-cnn", "--steps", 40, "--target-ci", ALWAYS)
        self.assertEqual(self.reached(run, "step_time_s"), 40)
        self.assertRegex(result.stdout, r"(?m)^  converged +yes ")
        self.assertEqual(run["context"]["measuring"]["converged"][:3], "yes")
        result, (run,) = self.runs(*TRAIN, "--steps", 8, "--target-ci", NEVER, ranks=3, code=7)
        self.assertSays(result, 7, "160")
        self.assertEqual((run["valid"], self.samples(run, "step_time_s")), (True, 160))
        self.assertEqual(run["tables"]["convergence"]["samples"], [8, 16, 32, 64, 128, 160])
        self.assertNotIn("failed", run["tables"]["verification"]["result"])

    @cli.needs_train
    def test_a_time_limit_before_and_after_the_least(self):
        """Before the minimum planned steps are missing (exit 6). After it the numbers are valid and not converged (exit 7)."""
        result, _ = self.runs(*TRAIN, "--steps", 10000000, "--target-ci", ALWAYS, "--time-limit", 0.1, code=6)
        self.assertSays(result, 6, "10000010")
        result, (run,) = self.runs(*IO, "binary", "-i", 2, "--target-ci", NEVER, "--time-limit", 0.1, code=7)
        self.assertSays(result, 7, "not converged")
        self.assertGreaterEqual(self.samples(run, "job_time_s"), 2)

    def test_writing_that_converges_and_that_does_not(self):
        _, (run,) = self.runs(*IO, "binary", "-n", 20, "-s", 60, "-i", 40, "--target-ci", ALWAYS)
        self.assertEqual(self.reached(run, "job_time_s"), 40)
        result, (run,) = self.runs(*IO, "mpi-send", "-i", 2, "--warmup", 1, "--target-ci", NEVER, code=7, ranks=3)
        self.assertSays(result, 7, "40")
        self.assertEqual((self.samples(run, "job_time_s"), run["tables"]["convergence"]["samples"][:4]), (40, [2, 4, 8, 16]))
        self.assertIsNone(run["tables"]["convergence"]["low_s"][0], "there is no interval of two")
        self.assertEqual(run["tables"]["verification"]["result"], ["passed"])

    def test_the_time_limit_comes_between_two_records(self):
        """The time limit ends an endless repetition: it does not count, and its files are removed."""
        result, (run,) = self.runs("io", "--strategy", "text-loop", "-n", 20000, "-s", 300, "--time-limit", 0.1, "--directory", "t", code=6, ranks=2)
        self.assertSays(result, 6, "0 of 1")
        self.assertFalse((self.folder / "t").exists())


if __name__ == "__main__":
    cli.main()
