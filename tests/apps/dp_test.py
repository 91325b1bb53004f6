"""--mode dp: replicas in threads of one process compute the results of ranks, and the cost of each part is stored."""

import os

import ranklab_cli as cli
from stored_runs import RunCase

cli.need_train()
(np,) = cli.modules("numpy")

DP_PHASES = ["data_time_s", "copy_time_s", "scatter_time_s", "replicate_time_s", "forward_time_s", "gather_time_s", "backward_time_s", "reduce_time_s",
             "optimizer_time_s"]
CHECK = "replicas' gradient equals one model's"
SMALL_CNN = ("--model", "mnist-cnn", "--width", 8)


class Replicas(RunCase):
    def dp(self, replicas, *words, **how):
        return self.run_and_read("--mode", "dp", "--replicas", replicas, *SMALL_CNN, *words, **how)[1]

    def test_three_replicas_are_three_ranks(self):
        """35 samples in batches of 12: the third batch of 11 does not divide by the replicas, and step 4 is in the next epoch; with dropout."""
        words = ("--data", "mnist", "--data-dir", cli.make_idx(self.folder / "data", 35, 7), "--sharding", "exact", "--global-batch-size", 12, "--steps", 4,
                 "--warmup", 0, "--precision", "fp64", "--evaluate", "end")
        dp = self.dp(3, *words, "--save-parameters", "dp.p")
        _, ddp = self.run_and_read("--mode", "ddp", *SMALL_CNN, *words, "--save-parameters", "ddp.p", ranks=3)
        np.testing.assert_allclose(dp.losses, ddp.losses, rtol=1e-9, atol=0)
        np.testing.assert_allclose(dp.samples["validation_loss"], ddp.samples["validation_loss"], rtol=1e-9)
        mine, theirs = self.parameters(self.folder / "dp.p"), self.parameters(self.folder / "ddp.p")
        self.assertEqual(mine.keys(), theirs.keys())
        for name, value in theirs.items():
            self.assertLess(np.linalg.norm(mine[name] - value), 1e-9 * np.linalg.norm(value), name)

    def test_idle_replicas(self):
        """A batch of 2 on 5 replicas equals one model."""
        words = ("--batch-size", 2, "--steps", 3, "--warmup", 0, "--dropout", "off", "--precision", "fp64", "--evaluate", "off", "--optimizer", "sgd")
        dp, (_, single) = self.dp(5, *words), self.run_and_read("--mode", "single", *SMALL_CNN, *words)
        np.testing.assert_allclose(dp.losses, single.losses, rtol=1e-9, atol=0)
        self.assertEqual(dp.verification[CHECK][0], "passed")
        self.assertFalse(set(single.rows) & {"scatter_time_s", "replicate_time_s", "gather_time_s", "reduce_time_s"})
        self.assertIn("sync_exposed_time_s", single.rows)

    def test_phases_and_the_same_bits_whichever_thread_comes_first(self):
        """In fp32 with dropout a race would change the losses."""
        run, again = (self.dp(2, "--batch-size", 12, "--steps", 10, "--warmup", 2) for _ in range(2))
        self.assertEqual(run.losses.tolist(), again.losses.tolist())
        self.assertEqual((run.config["mode"], run.config["replicas"], run.config["sync"], run.config["batch-size"]), ("dp", 2, "none", 12))
        self.assertEqual([name for name in run.rows if name in (*DP_PHASES, "sync_exposed_time_s")], DP_PHASES, "in the order of a step")
        for name in DP_PHASES:
            self.assertEqual((run.samples[name].shape, run.warmup[name].shape), ((10,), (2,)), name)
            self.assertTrue((run.samples[name] > 0).all(), name)
        self.assertTrue((sum(run.samples[name] for name in DP_PHASES) <= run.samples["step_time_s"] * (1 + 1e-9)).all())

    def test_replicas_without_a_core_each_are_not_bound_and_that_is_said(self):
        replicas = len(os.sched_getaffinity(0)) + 1
        run = self.dp(replicas, "--steps", 3)
        self.assertTrue([warning for warning in run.warnings if f"{replicas} replicas" in warning], run.warnings)
        self.assertRegex(run.context["training"]["replicas"], "1 thread each$")


if __name__ == "__main__":
    cli.main()
