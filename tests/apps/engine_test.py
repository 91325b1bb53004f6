"""The training engine: all gradient syncs give equal results, a wrong gradient sum is caught before the timing starts, and a straggler is
named."""

import json
import re
import shutil
import subprocess
import unittest

import ranklab_cli as cli
from ranklab_cli import train
from stored_runs import RunCase, stored_runs

cli.need_train()
(np,) = cli.modules("numpy")

MPICC = shutil.which("mpicc")
BUCKETED = ("--sync", "bucketed", "--bucket-cap-mb")
STRATEGIES = (("--sync", "per-parameter"), ("--sync", "c10d"), (*BUCKETED, 25, "--mpi-progress", "poll", "--transfer", "background"),
              (*BUCKETED, 0.01, "--mpi-progress", "none", "--transfer", "blocking"), (*BUCKETED, 0.001, "--mpi-progress", "thread", "--transfer", "background"))


class Strategies(RunCase):
    def run_of(self, *words, ranks=2, batch=4, equal="passed"):
        _, run = self.run_and_read("--steps", 3, "--warmup", 0, "--batch-size", batch, "--precision", "fp64", "--dropout", "off", "--optimizer", "sgd", "--lr", 0.05,
                                   "--evaluate", "off", "--overlap-steps", 0, "--check-parameters", "step", *words, ranks=ranks)
        self.assertEqual(run.verification["parameters equal on all ranks"][0], equal)
        if equal == "passed":
            self.assertEqual(run.verification["gradients summed correctly"][0], "passed")
        return run

    def test_all_train_alike_over_an_epoch_that_does_not_divide(self):
        """25 samples in steps of 12, 12 and 1; in the last step two ranks have no samples. Equal to one rank after every step."""
        data = ("--data", "mnist", "--data-dir", cli.make_idx(self.folder / "data", 25), "--sharding", "exact")
        alone = self.run_of(*data, ranks=1, batch=12, equal="does not apply")
        self.assertEqual(len(set(alone.losses)), 3)
        for words in (("--sync", "flat"), *STRATEGIES):
            with self.subTest(words=words):
                run = self.run_of(*data, *words, ranks=3)
                np.testing.assert_allclose(run.losses, alone.losses, rtol=1e-12)
                self.assertEqual(run.tables["epochs"]["samples"], [25])
                self.assertEqual(run.rows["reduced_bytes_per_step"]["median"], 7850 * 8)
                self.assertEqual(run.verification["parameters equal on all ranks"][1], "bit by bit, 5 times")

    def test_small_buckets_are_more_collectives(self):
        run = self.run_of(*BUCKETED, 0.001, "--model", "mnist-cnn", "--width", 8)
        table, collectives = run.tables["communication"], run.rows["collectives_per_step"]["median"]
        self.assertTrue(3 < collectives == len(table["bucket"]), table)
        self.assertEqual((sum(table["bytes"]), sum(table["parameters"])), (run.rows["reduced_bytes_per_step"]["median"], 8))

    def test_micro_batches_add_up_to_the_global_batch(self):
        reference = self.run_of("--sync", "flat", "--shuffle", "off", batch=6)
        for sync in ("flat", "bucketed"):
            run = self.run_of("--sync", sync, "--accumulate", 3, "--shuffle", "off", batch=2)
            self.assertEqual(run.config["global-batch-size"], 12)
            np.testing.assert_allclose(run.losses, reference.losses, rtol=1e-12, err_msg=sync)

    def test_rounded_gradients_still_train_and_ranks_that_do_not_synchronise_are_not_called_equal(self):
        reference = self.run_of("--sync", "flat")
        rounded = self.run_of("--sync", "bucketed", "--compress", "fp16")
        np.testing.assert_allclose(rounded.losses, reference.losses, rtol=5e-3)
        self.assertGreater(np.abs(rounded.losses - reference.losses).max(), 0)
        self.assertEqual(rounded.rows["reduced_bytes_per_step"]["median"], 7850 * 2)
        self.run_of("--sync", "none", equal="not verified")


class Disagreement(cli.Case):
    def test_ranks_with_other_command_lines_are_named_and_end_with_2(self):
        common = [cli.RANKLAB, "train", "--data", "synthetic", "--output", "none"]
        result = cli.run("mpirun", "-n", 1, *common, "--steps", 20, ":", "-n", 1, *common, "--steps", 30)
        self.assertCode(result, 2)
        self.assertRegex("\n".join(result.said), r"options differ.*\b30\b")

    def test_what_two_ranks_cannot_do(self):
        """Refusals at one rank are in tests/refusals."""
        for words, parts in ((("--mode", "dp"), ("--mode dp takes one rank", "2", "--mode ddp")), (("--mode", "single"), ("--mode single", "ddp")),
                             (("--global-batch-size", 65), ("2 ranks", "64", "66"))):
            with self.subTest(words=words):
                self.assertSays(train("--output", "none", *words, ranks=2, cwd=self.folder), 2, *parts)


@unittest.skipUnless(MPICC, "mpicc is not installed")
class WrongSums(cli.Case):
    """A wrong gradient sum must not lead to a measurement."""

    def lying(self, **how):
        library = self.folder / "liblying.so"
        subprocess.run([MPICC, "-shared", "-fPIC", "-O1", "-o", library, cli.SOURCE / "tests" / "support" / "lying_mpi.c"], check=True)
        return cli.environment(LD_PRELOAD=library, **{f"LYING_MPI_{name}": value for name, value in how.items()})

    def refuse(self, check, *words, **how):
        """Returns the stored run and the detail of the failed check."""
        result = train("--steps", 5, "--evaluate", "off", "--output", "r.h5", *words, ranks=2, cwd=self.folder, env=self.lying(**how))
        self.assertCode(result, 3)
        self.assertNotIn("img/sec", result.stdout.lower())
        (run,) = stored_runs(self.folder / "r.h5")
        self.assertEqual((run.attrs["valid"], run.attrs["exit_code"], run.verification[check][0]), (0, 3, "failed"))
        self.assertNotIn("throughput_samples_per_s", run.rows)
        return run, run.verification[check][1]

    def test_a_wrong_sum_is_caught_before_anything_is_timed(self):
        """per-parameter reduces the 10 biases in a call of their own; the reference reduces all 7,850 elements at once."""
        run, detail = self.refuse("gradients summed correctly", "--sync", "per-parameter", COUNT=10)
        self.assertIn("linear.bias", detail)
        self.assertEqual(run.rows["step_time_s"]["n"], 0)

    def test_a_sum_that_differs_between_ranks_is_caught(self):
        """flat and the reference reduce 7,850 elements at once: both sums are wrong on rank 1, and its parameters drift from rank 0's."""
        _, detail = self.refuse("parameters equal on all ranks", "--sync", "flat", COUNT=7850, RANK=1)
        self.assertRegex(detail, "rank 1.*rank 0")

    def test_a_single_wrong_sum_accuses_nobody(self):
        """Only the third sum is wrong, after both sums of the check; a repeated sum is right. No checkpoint is kept."""
        _, detail = self.refuse("parameters equal on all ranks", "--sync", "flat", "--check-parameters", "step", "--checkpoint", "c", COUNT=7850, RANK=1, ONLY=3)
        self.assertRegex(detail, "step 1.*linear.weight.*rank 1.*rank 0")
        self.assertEqual(list((self.folder / "c").glob("*.h5")), [])

    def test_without_the_lie_it_passes_and_buffers_are_compared(self):
        result = train("--model", "bn-cnn", "--batch-size", 4, "--steps", 3, "--evaluate", "off", "--output", "r.h5", ranks=2, cwd=self.folder,
                       env=self.lying(COUNT=123456789))
        self.assertCode(result, 0)
        (run,) = stored_runs(self.folder / "r.h5")
        self.assertRegex(run.verification["parameters equal on all ranks"][1], "2 times.*buffers")


class LateRank(RunCase):
    def test_a_delay_is_found_with_its_rank_and_phase(self):
        _, run = self.run_and_read("--steps", 12, "--inject-delay", "1:backward:40", "--evaluate", "off", "--overlap-steps", 0, ranks=2)
        self.assertTrue([warning for warning in run.warnings if re.match(r"rank 1 on \S+ arrived last in .* backward phase", warning)], run.warnings)
        waiting = run.tables["waiting"]
        self.assertGreater(waiting["came_last_share"][1], 0.8)
        self.assertGreater(waiting["waited_for_others_s"][0], 0.02)
        self.assertLess(waiting["waited_for_others_s"][1], waiting["waited_for_others_s"][0])
        self.assertEqual(waiting["longest_excess_phase"][1], "backward")

    def test_the_overlap_is_reported_with_what_it_is_made_of(self):
        """The overlap with its interval, or n/a with the reason: equal in file, text and JSON."""
        result, run = self.run_and_read("--steps", 8, "--overlap-steps", 6, "--evaluate", "off", "--json", ranks=2)
        values = {name: run.rows[name]["median"] for name in ("communication_s", "communication_inside_backward_s", "backward_longer_s", "communication_exposed_s",
                  "step_without_communication_s", "overlap", "overlap_balance", "communication_hidden_s")}
        self.assertAlmostEqual(values["overlap_balance"], (values["communication_hidden_s"] + values["communication_exposed_s"]) / values["communication_s"], places=9)
        (shown,) = json.loads(result.stdout)["runs"]
        (row,) = [one for one in shown["measurements"] if one["name"] == "overlap"]
        self.assertEqual(row["median"] is None, "no_overlap" in shown["context"]["communication"])
        if row["median"] is not None:
            self.assertAlmostEqual(row["median"], 1 - values["communication_exposed_s"] / values["communication_s"], places=9)
            self.assertTrue(row["ci95_low"] <= row["median"] <= row["ci95_high"] and 0 <= row["median"] <= 1, row)


if __name__ == "__main__":
    cli.main()
