"""More of the training engine: longer runs with every way to reduce gradients at 2 and 3 ranks, and delays of every phase."""

import ranklab_cli as cli
from ranklab_cli import Case, train
from stored_runs import stored_runs

cli.need_train()
(np,) = cli.modules("numpy")


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

    def test_rounded_gradients_still_train(self):
        reference, _ = self.losses("--sync", "flat")
        for kind, tolerance in (("fp16", 5e-3), ("bf16", 5e-2)):
            losses, run = self.losses("--sync", "bucketed", "--compress", kind)
            np.testing.assert_allclose(losses, reference, rtol=tolerance)
            self.assertGreater(np.abs(losses - reference).max(), 0)
            self.assertEqual(run.rows["reduced_bytes_per_step"]["median"], 7850 * 2)


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


if __name__ == "__main__":
    cli.main()
