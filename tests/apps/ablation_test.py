"""--ablation and --input: the limit of a run, benchy's lines, and parts that add up to the whole."""

import re

import ranklab_cli as cli
from stored_runs import RunCase

cli.need_train()

LINE = re.compile(r"^BENCHY::SUMMARY::([A-Z]+) average trial throughput: (\d+\.\d{3}) \+/- (\d+\.\d{3})$", re.MULTILINE)


class Ablation(RunCase):
    def ablate(self, *words, ranks=1):
        return self.run_and_read("--ablation", "--train-samples", 200, "--batch-size", 4, *words, ranks=ranks)

    def test_all_kinds_of_trials_at_two_ranks(self):
        """After a trial without communication rank 0 broadcasts parameters and momentum, also channels-last ones; in fp16 a single rank may have skipped steps."""
        result, run = self.ablate("--model", "bn-cnn", "--channels-last", "--precision", "fp16", "--momentum", 0.9, "--optimizer", "sgd", "--steps", 3,
                                  "--repetitions", 2, ranks=2)
        lines = {label: float(mean) for label, mean, _ in LINE.findall(result.stdout)}
        self.assertEqual(set(lines), {"IO", "SYNTHETIC", "NOCOMM", "COMPUTE", "FULL"})
        table = run.tables["ablation"]
        self.assertEqual((set(table["trials"]), set(table["steps"])), ({2}, {3}))
        for trial, mean in zip(table["trial"], table["mean_samples_per_s"]):
            self.assertAlmostEqual(lines[trial.upper()], mean, delta=1e-3 * mean + 1e-3)
        self.assertLessEqual({f"throughput_{kind}_samples_per_s" for kind in ("io", "synthetic", "nocomm", "full")}, set(run.rows))
        self.assertAlmostEqual(sum(run.tables["waterfall"]["step_s"]), table["step_time_s"][table["trial"].index("full")], delta=1e-9)
        self.assertAlmostEqual(sum(run.tables["waterfall"]["percent"]), 100, delta=1e-6)
        for check in ("parameters equal on all ranks", "gradients summed correctly"):
            self.assertEqual(run.verification[check][0], "passed")

    def test_one_rank_has_no_communication_to_leave_out_and_slow_reading_is_found(self):
        result, run = self.ablate("--steps", 3, "--repetitions", 1, "--inject-delay", "0:data:40")
        self.assertEqual(run.tables["ablation"]["trial"], ["io", "synthetic", "full"])
        self.assertNotIn("throughput_nocomm_samples_per_s", run.rows)
        self.assertGreater(dict(zip(run.tables["waterfall"]["part"], run.tables["waterfall"]["step_s"]))["input"], 0.03)

    def test_input_synthetic_and_io_only(self):
        for kind, trains in (("synthetic", True), ("io-only", False)):
            _, run = self.run_and_read("--steps", 3, "--input", kind, ranks=2)
            self.assertEqual([name in run.rows for name in ("train_loss", "forward_time_s", "throughput_samples_per_s")], [trains, trains, True], kind)
        self.assertEqual(run.verification["loss is a number"][0], "not verified")


if __name__ == "__main__":
    cli.main()
