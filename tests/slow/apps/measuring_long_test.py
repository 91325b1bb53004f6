"""More of how long `ranklab train` and `ranklab io` measure: several syncs and sweeps in turns. No test
looks at a time: a target that nothing reaches and one that everything reaches are told apart by what was done."""

import json

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

cli.need_train()


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

    def test_one_after_the_other(self):
        _, runs = self.runs("--steps", 4, "--sync", "flat,per-parameter", "--order", "sequential", ranks=2)
        self.assertEqual([run["config"]["sync"] for run in runs[:2]], ["flat", "per-parameter"])
        for run in runs[:2]:
            self.assertNotIn("order", run["tables"])


class Files(Measuring):
    command = ("io", "-n", 3, "-s", 10, "--directory", "o")

    def test_sweeps_take_turns_in_one_folder_and_the_files_stay_whole(self):
        _, runs = self.runs("--strategy", "mpi-send,binary", "--ranks", "1,2", "-i", 3, "-k", ranks=2)
        for run in runs[:-1]:
            self.assertEqual(run["tables"]["verification"]["result"], ["passed"])
            self.assertEqual(measured(run, "job_time_s")["n"], 3)
        for name in ("mpi-send", "binary"):
            self.assertEqual(len(list((self.folder / "o" / name).iterdir())), 3)


if __name__ == "__main__":
    cli.main()
