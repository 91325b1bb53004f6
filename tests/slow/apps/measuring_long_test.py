"""How long `ranklab train` and `ranklab io` measure, and in which order: --target-ci, --time-limit, --order, --repetitions. No test
looks at a time: a target that nothing reaches and one that everything reaches are told apart by what was done."""

import json

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab

NEVER, ALWAYS = "0.0000001%", "100000%"


def runs_of(file):
    report = ranklab("report", file, "--format", "json")
    assert report.code == 0, str(report)
    return json.loads(report.stdout)["runs"]


def measured(run, name):
    return next(m for m in run["measurements"] if m["name"] == name)


class Measuring(Case):
    command, headline, least = (), "", ()

    def runs(self, *words, code=0, ranks=1):
        """(what was printed, the runs that were stored)."""
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        result = ranklab(*self.command, "--output", output, *words, ranks=ranks, cwd=self.folder, timeout=120)
        self.assertCode(result, code)
        return result, runs_of(output)

    def one(self, *words, **how):
        result, (run,) = self.runs(*words, **how)
        return result, run


class Training(Measuring):
    command = ("train", "--model", "template-softmax", "--data", "synthetic", "--train-samples", 64, "--validation-samples", 8, "--batch-size", 4,
               "--threads", 1, "--evaluate", "off", "--overlap-steps", 0)

    @needs_train
    def test_a_target_that_is_reached_at_once(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                words = self.command if ranks == 2 else self.command[:-2]
                output = self.folder / f"{ranks}.h5"
                result = ranklab(*words, "--steps", 8, "--target-ci", ALWAYS, "--output", output, ranks=ranks, cwd=self.folder, timeout=120)
                self.assertCode(result, 0)
                (run,) = runs_of(output)
                self.assertEqual(measured(run, "step_time_s")["n"], 8)
                self.assertRegex(result.stdout, r"(?m)^  converged +yes \(.* % after 8 steps\)$")
                self.assertEqual(run["tables"]["convergence"]["samples"], [8])
                self.assertEqual(run["context"]["measuring"]["converged"][:3], "yes")

    @needs_train
    def test_a_target_that_is_not_reached(self):
        """20 times the least, looked at after each quarter more; the numbers stand."""
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                words = self.command if ranks == 3 else self.command[:-2]
                output = self.folder / f"{ranks}.h5"
                result = ranklab(*words, "--steps", 8, "--target-ci", NEVER, "--output", output, ranks=ranks, cwd=self.folder, timeout=120)
                self.assertSays(result, 7, "not converged", "after 160 steps")
                (run,) = runs_of(output)
                self.assertTrue(run["valid"])
                self.assertEqual(measured(run, "step_time_s")["n"], 160)
                self.assertEqual(run["tables"]["convergence"]["samples"], [8, 10, 13, 17, 22, 28, 35, 44, 55, 69, 87, 109, 137, 160])
                self.assertEqual(set(run["tables"]["verification"]["result"]) & {"failed"}, set())

    @needs_train
    def test_the_time_limit_ends_it(self):
        """After the least: the numbers stand and did not converge. Before: planned work is missing."""
        command = self.command[:-2]
        output = self.folder / "r.h5"
        result = ranklab(*command, "--steps", 8, "--target-ci", NEVER, "--time-limit", 0.5, "--output", output, cwd=self.folder, timeout=60)
        self.assertSays(result, 7, "not converged")
        (run,) = runs_of(output)
        steps = measured(run, "step_time_s")["n"]
        self.assertEqual(run["tables"]["convergence"]["samples"][-1], steps, "the last look is at all of them")
        result = ranklab(*command, "--steps", 10000000, "--target-ci", ALWAYS, "--time-limit", 0.3, "--output", "none", cwd=self.folder, timeout=60)
        self.assertSays(result, 6, "time limit", "of 10000010 steps")

    @needs_train
    def test_what_cannot_be_is_refused(self):
        for words, says in (
                (("--steps", 8, "--target-ci", "0.02"), "such as 2%"),
                (("--steps", 8, "--target-ci", "-2%"), "such as 2%"),
                (("--target-ci", "2%"), "--steps N"),
                (("--epochs", 1, "--target-ci", "2%"), "--steps N"),
                (("--steps", 8, "--target-ci", "2%", "--checkpoint", "c"), "--checkpoint"),
                (("--steps", 8, "--target-ci", "2%", "--ablation"), "--ablation"),
                (("--sync", "flat,flta"), "did you mean flat?"),
                (("--sync", "flat,none", "--checkpoint", "c"), "--checkpoint"),
                (("--repetitions", 2, "--save-parameters", "p"), "--save-parameters")):
            with self.subTest(words=words):
                self.assertSays(ranklab("train", "--data", "synthetic", "--mode", "ddp", "--output", "none", *words, cwd=self.folder), 2, says)

    @needs_train
    def test_the_dry_run_shows_them(self):
        result = ranklab("train", "--data", "synthetic", "--steps", 8, "--target-ci", "2%", "--repetitions", 3, "--dry-run", cwd=self.folder)
        self.assertCode(result, 0)
        for line in ("# target-ci: 2%", "# order: interleaved", "# repetitions: 3"):
            self.assertIn(line, result.stdout.splitlines())

    @needs_train
    def test_repetitions_take_turns_and_are_the_same_training(self):
        _, runs = self.runs("--steps", 6, "--sync", "flat,bucketed", "--repetitions", 3, ranks=2)
        self.assertEqual([run["config"]["sync"] for run in runs[:6]], ["flat", "bucketed"] * 3)
        self.assertEqual([run["tables"]["order"]["round"] for run in runs[:6]], [[1], [1], [2], [2], [3], [3]])
        for r in range(3):
            self.assertEqual({run["tables"]["order"]["place"][0] for run in runs[2 * r:2 * r + 2]}, {1, 2})
        for sync in (0, 1):
            self.assertEqual(len({run["tables"]["epochs"]["train_loss"][0] for run in runs[sync:6:2]}), 1, "from the same start")
        self.assertIn("time_to_first_step_s", {m["name"] for run in runs[:6] for m in run["measurements"]})
        firsts = [run for run in runs[:6] if any(m["name"] == "time_to_first_step_s" for m in run["measurements"])]
        self.assertEqual(len(firsts), 1, "the process began once")
        summary = runs[6]["tables"]
        self.assertEqual(summary["variants"]["sync"], ["flat", "bucketed"] * 3)
        self.assertEqual(summary["variants"]["run"], [run["id"] for run in runs[:6]])
        self.assertEqual(summary["repetitions"]["n"], [3, 3])
        medians = sorted(measured(run, "step_time_s")["median"] for run in runs[0:6:2])
        self.assertEqual(summary["repetitions"]["step_time_s"][0], medians[1])

    @needs_train
    def test_one_after_the_other(self):
        _, runs = self.runs("--steps", 4, "--sync", "flat,per-parameter", "--order", "sequential", ranks=2)
        self.assertEqual([run["config"]["sync"] for run in runs[:2]], ["flat", "per-parameter"])
        for run in runs[:2]:
            self.assertNotIn("order", run["tables"])


    @needs_train
    def test_epochs_whose_samples_become_large_are_told(self):
        result, _ = self.one("--epochs", 3000000, "--time-limit", 0.3, code=6)
        self.assertIn("the samples of 1 rank and 48000000 steps are about 3.6 GiB, which rank 0 stores at the end; only fewer steps make them less",
                      " ".join(result.stderr.split()))


class Files(Measuring):
    command = ("io", "-n", 3, "-s", 10, "--directory", "o")

    def test_repetitions_whose_samples_become_large_are_told(self):
        words = ("--strategy", "binary", "--ceilings", "off", "--time-limit", 0.3)
        for ranks, says in ((1, "only fewer repetitions make them less"), (2, "--keep-samples ranks stores a summary of each rank instead (about 305.2 MiB)")):
            with self.subTest(ranks=ranks):
                result, _ = self.one(*words, "-i", 4000000, code=6, ranks=ranks)
                said = " ".join(result.stderr.split())
                self.assertIn(f"the samples of {ranks} rank{'s' if ranks > 1 else ''} and 4000000 repetitions are about ", said)
                self.assertIn(says, said)
        result, _ = self.one(*words, "-i", 3000000, code=6)
        self.assertNotIn("the samples of", result.stderr)

    def test_a_target_that_is_reached_at_once(self):
        result, run = self.one("--strategy", "binary", "-i", 6, "--target-ci", ALWAYS)
        self.assertEqual(measured(run, "job_time_s")["n"], 6)
        self.assertRegex(result.stdout, r"converged +yes \(.* % after 6 repetitions\)")

    def test_a_target_that_is_not_reached(self):
        for ranks, strategy in ((1, "binary"), (3, "mpi-send")):
            with self.subTest(ranks=ranks):
                result, run = self.one("--strategy", strategy, "-i", 2, "--warmup", 1, "--target-ci", NEVER, "--ceilings", "off", code=7, ranks=ranks)
                self.assertSays(result, 7, "not converged", "after 40 repetitions")
                self.assertEqual(measured(run, "job_time_s")["n"], 40)
                self.assertEqual(run["tables"]["convergence"]["samples"][:4], [2, 3, 4, 5])
                self.assertIsNone(run["tables"]["convergence"]["low_s"][0], "there is no interval of two")
                self.assertEqual(run["tables"]["verification"]["result"], ["passed"])

    def test_the_time_limit_with_a_target(self):
        result, run = self.one("--strategy", "binary", "-i", 2, "--target-ci", NEVER, "--time-limit", 0.3, code=7)
        self.assertIn("not converged", result.stderr)
        self.assertGreaterEqual(measured(run, "job_time_s")["n"], 2)

    def test_the_time_limit_comes_between_two_records(self):
        """A repetition that would take for ever is left, and is none; its files are gone."""
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                output = self.folder / f"{ranks}.h5"
                result = ranklab("io", "--strategy", "text-loop", "-n", 20000, "-s", 300, "--time-limit", 0.3, "--directory", self.folder / "t", "--output", output,
                                 ranks=ranks, cwd=self.folder, timeout=60)
                self.assertSays(result, 6, "after 0 of 1 repetitions")
                (run,) = runs_of(output)
                self.assertEqual(run["exit_code"] if "exit_code" in run else 6, 6)
                self.assertFalse((self.folder / "t").exists())

    def test_strategies_take_turns(self):
        words = ("--strategy", "text-vectorized,binary,hdf5-serial", "-i", 4, "--seed", 3)
        _, runs = self.runs(*words)
        orders = [run["tables"]["order"] for run in runs[:3]]
        self.assertEqual([run["config"]["strategy"] for run in runs[:3]], ["text-vectorized", "binary", "hdf5-serial"], "stored in ladder order")
        for order in orders:
            self.assertEqual(order["round"], [1, 2, 3, 4])
            self.assertEqual(order["of"], [3, 3, 3, 3])
        for r in range(4):
            self.assertEqual({order["place"][r] for order in orders}, {1, 2, 3})
        self.assertGreater(len({tuple(order["place"][r] for order in orders) for r in range(4)}), 1, "rounds differ")
        for run in runs[:3]:
            self.assertEqual(measured(run, "job_time_s")["n"], 4)
            self.assertEqual(run["tables"]["verification"]["result"], ["passed"])
        self.assertEqual(runs[3]["tables"]["ladder"]["n"], [4, 4, 4])
        self.assertFalse((self.folder / "o").exists(), "what was written is still there")
        _, again = self.runs(*words)
        self.assertEqual([run["tables"]["order"] for run in again[:3]], orders, "the same seed")

    def test_sweeps_take_turns_in_one_folder_and_the_files_stay_whole(self):
        _, runs = self.runs("--strategy", "mpi-send,binary", "--ranks", "1,2", "-i", 3, "-k", ranks=2)
        for run in runs[:-1]:
            self.assertEqual(run["tables"]["verification"]["result"], ["passed"])
            self.assertEqual(measured(run, "job_time_s")["n"], 3)
        for name in ("mpi-send", "binary"):
            self.assertEqual(len(list((self.folder / "o" / name).iterdir())), 3)

    def test_one_after_the_other(self):
        _, runs = self.runs("--strategy", "binary,hdf5-serial", "-i", 2, "--order", "sequential")
        for run in runs[:2]:
            self.assertNotIn("order", run["tables"])

    def test_the_time_limit_is_each_runs_own(self):
        _, runs = self.runs("--strategy", "binary,hdf5-serial", "-i", 1000000, "--time-limit", 0.3, "--ceilings", "off", code=6)
        for run in runs[:2]:
            self.assertGreaterEqual(measured(run, "job_time_s")["n"], 1)


if __name__ == "__main__":
    cli.main()
