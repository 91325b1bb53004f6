"""The training engine as a user meets it: every way to reduce gradients trains alike, a wrong sum is caught before anything is timed, and the late
rank is named."""

import json
import math
import re
import shutil
import subprocess
import sys
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab, train
from stored_runs import stored_runs

try:
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed for this Python")
    sys.exit(77)

MPICC = shutil.which("mpicc")
STRATEGIES = ("per-parameter", "flat", "bucketed", "c10d")


@needs_train
class Strategies(Case):
    def losses(self, *words, ranks=2, model="template-softmax", steps=12, batch=6):
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        result = train("--model", model, "--steps", steps, "--warmup", 0, "--batch-size", batch, "--precision", "fp64", "--dropout", "off", "--optimizer", "sgd", "--lr",
                       0.05, "--evaluate", "off", "--output", output, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = stored_runs(output)
        self.assertEqual(run.verification["first gradient is the plain sum"][0], "passed")
        self.assertEqual(run.verification["parameters equal on all ranks"][0], "passed")
        return run.samples["train_loss"].ravel(), run

    def test_all_train_alike_at_two_and_three_ranks(self):
        for ranks in (2, 3):
            reference, _ = self.losses("--mode", "ddp", "--sync", "flat", ranks=ranks)
            self.assertLess(reference[-1], reference[0])
            for words in (["--sync", "per-parameter"], ["--sync", "c10d"], *(["--sync", "bucketed", "--bucket-cap-mb", cap, "--progress", progress, "--transfer", transfer]
                          for cap, progress, transfer in ((0.01, "none", "blocking"), (25, "poll", "background"), (0.001, "thread", "background"), (0.01, "thread", "blocking")))):
                with self.subTest(ranks=ranks, words=words):
                    losses, run = self.losses(*words, ranks=ranks)
                    np.testing.assert_allclose(losses, reference, rtol=1e-12)
                    self.assertEqual(run.rows["reduced_bytes_per_step"]["median"], 7850 * 8)

    def test_small_buckets_are_more_collectives(self):
        _, one = self.losses("--sync", "bucketed", model="mnist-cnn", steps=3)
        _, many = self.losses("--sync", "bucketed", "--bucket-cap-mb", 0.001, model="mnist-cnn", steps=3)
        self.assertEqual(one.rows["collectives_per_step"]["median"], 2)
        self.assertGreater(many.rows["collectives_per_step"]["median"], 4)
        self.assertEqual(len(many.tables["communication"]["bucket"]), many.rows["collectives_per_step"]["median"])
        self.assertEqual(sum(many.tables["communication"]["bytes"]), 1199882 * 8)
        self.assertEqual(sum(many.tables["communication"]["parameters"]), 8)

    def test_micro_batches_add_up_to_the_global_batch(self):
        reference, _ = self.losses("--sync", "flat", "--shuffle", "off")
        for words in (["--sync", "flat"], ["--sync", "bucketed"], ["--sync", "c10d"]):
            losses, run = self.losses("--accumulate", 3, "--shuffle", "off", *words, batch=2)
            self.assertEqual(run.config["global-batch-size"], 12)
            np.testing.assert_allclose(losses, reference, rtol=1e-12, err_msg=str(words))

    def test_an_exact_epoch_that_does_not_divide(self):
        data = cli.make_idx(self.folder / "data", 31)
        seen = {}
        for sync in STRATEGIES:
            losses, run = self.losses("--data", "mnist", "--data-dir", data, "--sharding", "exact", "--sync", sync, ranks=3, batch=4)
            self.assertEqual(sum(run.tables["epochs"]["samples"]), 12 // 3 * 31)  # 3 steps an epoch: 12, 12, 7 samples
            seen[sync] = losses
        for sync in STRATEGIES[1:]:
            np.testing.assert_allclose(seen[sync], seen[STRATEGIES[0]], rtol=1e-12)

    def test_rounded_gradients_still_train(self):
        reference, _ = self.losses("--sync", "flat")
        for kind, tolerance in (("fp16", 5e-3), ("bf16", 5e-2)):
            losses, run = self.losses("--sync", "bucketed", "--compress", kind)
            np.testing.assert_allclose(losses, reference, rtol=tolerance)
            self.assertGreater(np.abs(losses - reference).max(), 0)
            self.assertEqual(run.rows["reduced_bytes_per_step"]["median"], 7850 * 2)

    def test_what_cannot_be(self):
        for words, parts in ((["--sync", "flat", "--compress", "fp16"], ["--compress fp16", "bucketed"]), (["--sync", "c10d", "--progress", "none"], ["--progress thread"]),
                             (["--sync", "none", "--overlap-steps", 5], ["--overlap-steps"]), (["--inject-delay", "7:data:5"], ["no rank '7'"]),
                             (["--global-batch-size", 10, "--accumulate", 3], ["--global-batch-size 10", "6 or 12"]), (["--bucket-cap-mb", 0], ["bucket-cap-mb"])):
            with self.subTest(words=words):
                self.assertSays(train("--steps", 4, "--output", "none", *words, ranks=2, cwd=self.folder), 2, *parts)


@needs_train
class Disagreement(Case):
    def test_ranks_with_other_command_lines_are_named_and_end_with_2(self):
        for one, other in ((["--steps", "20"], ["--steps", "30"]), (["--model", "mnist-cnn"], ["--model", "template-softmax"])):
            common = [cli.RANKLAB, "train", "--data", "synthetic", "--output", "none"]
            result = cli.run("mpirun", "-n", 1, *common, *one, ":", "-n", 1, *common, *other, timeout=60)
            self.assertCode(result, 2)
            said = "\n".join(result.said)
            self.assertIn("started with different options", said)
            self.assertIn(other[1], said)


@needs_train
@unittest.skipUnless(MPICC, "mpicc is not installed")
class WrongSums(Case):
    """A sum that comes out wrong must not become a number in a table."""

    def lying(self, count, rank=None, only=None):
        library = self.folder / "liblying.so"
        if not library.exists():
            source = cli.SOURCE / "tests" / "support" / "lying_mpi.c"
            subprocess.run([MPICC, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        changes = {"LD_PRELOAD": str(library), "LYING_MPI_COUNT": str(count)}
        if rank is not None:
            changes["LYING_MPI_RANK"] = str(rank)
        if only is not None:
            changes["LYING_MPI_ONLY"] = str(only)
        return cli.environment(**changes)

    def refuse(self, env, part, *words):
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        result = train("--steps", 5, "--evaluate", "off", "--output", output, *words, ranks=2, cwd=self.folder, env=env)
        self.assertCode(result, 3)
        self.assertNotIn("img/sec", result.stdout)
        self.assertNotIn("throughput", result.stdout)
        self.assertIn(part, "\n".join(result.said))
        (run,) = stored_runs(output)
        self.assertEqual(run.attrs["valid"], 0)
        self.assertEqual(run.attrs["exit_code"], 3)
        self.assertNotIn("throughput_samples_per_s", run.rows)
        return run

    def test_a_wrong_sum_is_caught_before_anything_is_timed(self):
        # 10 biases and 7,840 weights: only this strategy sums 10 elements at once, the reference does not.
        run = self.refuse(self.lying(10), "the first gradient of --sync per-parameter is not the sum over ranks", "--sync", "per-parameter")
        self.assertEqual(run.verification["first gradient is the plain sum"][0], "failed")
        self.assertIn("linear.bias", run.verification["first gradient is the plain sum"][1])
        self.assertEqual(run.rows["step_time_s"]["n"], 0)

    def test_a_sum_that_differs_between_ranks_is_caught(self):
        # Bucketed, blocking, in one bucket of 7,850: as the reference's, so both are wrong alike on rank 1, and the parameters drift apart.
        run = self.refuse(self.lying(7850, rank=1), "differ", "--sync", "flat")
        result, detail = run.verification["parameters equal on all ranks"]
        self.assertEqual(result, "failed")
        self.assertIn("on rank 1 from rank 0's", detail)
        self.assertRegex(detail, "a second sum, of known numbers, came out wrong on rank 1: the allreduce of --backend mpi")

    def test_nobody_is_accused_without_a_second_proof(self):
        """One wrong sum, the third (after the reference's and the strategy's first), and none when it is looked into."""
        run = self.refuse(self.lying(7850, rank=1, only=3), "differ", "--sync", "flat", "--check-parameters", "step")
        detail = run.verification["parameters equal on all ranks"][1]
        self.assertIn("they differ after step 1: 'linear.weight', the first that does, on rank 1 from rank 0's", detail)
        self.assertIn("right on all ranks, so the cause is not known", detail)
        self.assertNotIn("fault", detail)

    def test_a_failed_run_is_not_kept_as_one_that_lacks_its_checkpoint(self):
        """It ended after one step of five: "after all 1 steps, before the checkpoint was written" would be false twice."""
        result = train("--steps", 5, "--evaluate", "off", "--output", "r.h5", "--sync", "flat", "--check-parameters", "step", "--checkpoint", "c",
                       ranks=2, cwd=self.folder, env=self.lying(7850, rank=1, only=3))
        self.assertCode(result, 3)
        self.assertIn("they differ after step 1", "\n".join(result.said))
        self.assertNotIn("is kept in", result.stderr)
        self.assertEqual(list((self.folder / "c").glob("*.h5")), [])

    def test_what_is_compared_is_said(self):
        for words, buffers in ((("--model", "bn-cnn"), "; buffers once, where rank 0's were handed to all"), ((), "")):
            output = self.folder / "b.h5"
            output.unlink(missing_ok=True)
            self.assertCode(train("--steps", 3, "--evaluate", "off", "--batch-size", 4, "--output", output, *words, ranks=2, cwd=self.folder), 0)
            (run,) = stored_runs(output)
            self.assertEqual(run.verification["parameters equal on all ranks"], ("passed", "bit by bit, 2 times" + buffers))

    def test_without_the_lie_it_passes(self):
        result = train("--steps", 5, "--evaluate", "off", "--output", "none", "--sync", "per-parameter", ranks=2, cwd=self.folder, env=self.lying(123456789))
        self.assertCode(result, 0)


@needs_train
class LateRank(Case):
    def test_a_delay_is_found_with_its_rank_and_phase(self):
        for sync, phase in (("bucketed", "data"), ("bucketed", "forward"), ("bucketed", "backward"), ("flat", "backward"), ("c10d", "forward")):
            with self.subTest(sync=sync, phase=phase):
                output = self.folder / "late.h5"
                output.unlink(missing_ok=True)
                result = train("--steps", 30, "--sync", sync, "--inject-delay", f"1:{phase}:50", "--evaluate", "off", "--overlap-steps", 0, "--output", output, ranks=2,
                               cwd=self.folder)
                self.assertCode(result, 0)
                (run,) = stored_runs(output)
                (sentence,) = [w for w in run.warnings if "came last" in w]
                self.assertRegex(sentence, rf"^rank 1 on \S+ came last in .* its {phase} phase takes")
                waiting = run.tables["waiting"]
                self.assertGreater(waiting["came_last_share"][1], 0.8)
                self.assertGreater(waiting["waited_for_others_s"][0], 0.030)
                self.assertLess(waiting["waited_for_others_s"][1], 0.030)
                self.assertEqual(waiting["longest_excess_phase"][1], phase)

    def test_the_overlap_is_reported_with_what_it_is_made_of(self):
        """A share with its interval and balance, or n/a with the reason: the same in the file, text, JSON and CSV."""
        output = self.folder / "o.h5"
        result = train("--steps", 20, "--evaluate", "off", "--verbose", "--output", output, ranks=2, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = stored_runs(output)
        for name in ("communication_s", "communication_inside_backward_s", "backward_longer_s", "communication_exposed_s", "step_without_communication_s",
                     "overlap", "overlap_balance", "communication_hidden_s"):
            self.assertEqual(run.rows[name]["n"], 6, name)
        total, exposed, hidden = (run.rows[name]["median"] for name in ("communication_s", "communication_exposed_s", "communication_hidden_s"))
        self.assertAlmostEqual(run.rows["overlap_balance"]["median"], (hidden + exposed) / total, places=9)
        overlap, low, high = (run.rows["overlap"][field] for field in ("median", "ci95_low", "ci95_high"))
        (shown,) = re.findall(r"(?m)^  overlap +((?:n/a: |[\d.]+ % of ).*(?:\n {16}.*)*)$", result.stdout)
        shown = " ".join(shown.split())
        reported = cli.ranklab("report", output, "--format", "json").stdout
        (row,) = [m for m in json.loads(reported)["runs"][0]["measurements"] if m["name"] == "overlap"]
        (line,) = [one for one in cli.ranklab("report", output, "--format", "csv").stdout.splitlines() if ",overlap,1,ratio," in one]
        reason = json.loads(reported)["runs"][0]["context"].get("communication", {}).get("no_overlap")
        if math.isnan(overlap):
            self.assertTrue(shown.startswith(f"n/a: {reason}; "), shown)
            self.assertEqual([row["median"], row["ci95_low"], row["ci95_high"]], [None] * 3)
            self.assertIn(",overlap,1,ratio,6,,", line)
        else:
            self.assertIsNone(reason)
            self.assertAlmostEqual(overlap, 1 - exposed / total, places=9)
            self.assertTrue(0 <= overlap <= 1 and low <= overlap <= high, (low, overlap, high))
            self.assertTrue(shown.startswith(f"{100 * overlap:.1f} % of the communication is hidden (95 % interval "
                                             f"{100 * low:.1f} .. {100 * high:.1f} %, balance "), shown)
            self.assertEqual([row["median"], row["ci95_low"], row["ci95_high"]], [overlap, low, high])
            self.assertIn(f",overlap,1,ratio,6,{overlap!r},", line)


if __name__ == "__main__":
    cli.main()
