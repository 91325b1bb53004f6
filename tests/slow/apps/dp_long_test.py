"""--mode dp: replicas in the threads of one process compute what ranks compute, and say what that costs and where."""

import os
import unittest

import ranklab_cli as cli
from ranklab_cli import needs_train, ranklab, train
from train_run_test import RunCase, h5py, np

OVERHEAD = ("scatter_time_s", "replicate_time_s", "gather_time_s", "reduce_time_s")
DP_PHASES = ("data_time_s", "copy_time_s", "scatter_time_s", "replicate_time_s", "forward_time_s", "gather_time_s", "backward_time_s", "reduce_time_s",
             "optimizer_time_s")
CHECK = "replicas make one model's gradient"


class DpCase(RunCase):
    def data(self):
        folder = self.folder / "data"
        return ("--data", "mnist", "--data-dir", folder if folder.exists() else cli.make_idx(folder, 131, 21))

    def dp(self, replicas, *words, **how):
        return self.run_and_read("--mode", "dp", "--replicas", replicas, *words, **how)[1]

    def losses(self, run):
        return np.concatenate([run.warmup.get("train_loss", np.empty(0)).ravel(), run.samples["train_loss"].ravel()])

    def parameters(self, path):
        with h5py.File(path) as file:
            return {name: file[name][()] for name in file}


@needs_train
class EqualityTest(DpCase):
    def compare(self, n, *words):
        """131 samples in batches of 12: the 11th, of 11, does not divide by 2 or 3; 20 steps go on into the next epoch."""
        words = (*self.data(), "--model", "mnist-cnn", "--sharding", "exact", "--global-batch-size", 12, "--steps", 20, "--warmup", 0, "--precision", "fp64",
                 "--evaluate", "end", *words)
        dp = self.dp(n, *words, "--save-parameters", self.folder / "dp.h5")
        _, ddp = self.run_and_read("--mode", "ddp", *words, "--save-parameters", self.folder / "ddp.h5", ranks=n)
        self.assertEqual(len(self.losses(dp)), 20)
        np.testing.assert_allclose(self.losses(dp), self.losses(ddp), rtol=1e-9, atol=0)
        np.testing.assert_allclose(dp.samples["validation_loss"], ddp.samples["validation_loss"], rtol=1e-9)
        mine, theirs = self.parameters(self.folder / "dp.h5"), self.parameters(self.folder / "ddp.h5")
        self.assertEqual(mine.keys(), theirs.keys())
        for name, value in theirs.items():
            self.assertLess(np.linalg.norm(mine[name] - value), 1e-9 * np.linalg.norm(value), name)
        return self.losses(dp)

    def check_at(self, n):
        losses = [self.compare(n, "--optimizer", optimizer, "--dropout", dropout) for optimizer in ("sgd", "adadelta") for dropout in ("off", "on")]
        for i in range(4):
            for j in range(i):
                self.assertGreater(np.abs(losses[i] / losses[j] - 1).max(), 1e-3, "runs that should differ do not")

    def test_two_replicas_are_two_ranks(self):
        self.check_at(2)

    def test_three_replicas_are_three_ranks(self):
        self.check_at(3)

    def test_a_batch_that_does_not_divide_and_idle_replicas(self):
        """Batches of 10 on 3 replicas (4, 4, 2), of 4 on 3 (2, 2, none) and of 2 on 5 (1, 1, none ...): as one model alone."""
        for batch, replicas in ((10, 3), (4, 3), (2, 5)):
            words = (*self.data(), "--model", "mnist-cnn", "--batch-size", batch, "--steps", 8, "--warmup", 0, "--dropout", "off", "--precision", "fp64",
                     "--evaluate", "off", "--optimizer", "sgd")
            dp = self.dp(replicas, *words)
            _, single = self.run_and_read("--mode", "single", *words)
            np.testing.assert_allclose(self.losses(dp), self.losses(single), rtol=1e-9, atol=0)
            self.assertEqual(dp.verification[CHECK][0], "passed")
            idle = [r for r in range(replicas) if r * -(-batch // replicas) >= batch]
            self.assertTrue((dp.samples["replica_forward_time_s"][:, idle] == 0).all())
            self.assertEqual((dp.samples["replica_forward_time_s"] > 0).sum(), 8 * (replicas - len(idle)))

    def test_one_seed_is_one_run(self):
        """In fp32 with dropout, where a race would show: the very bits, whichever thread comes first."""
        words = (*self.data(), "--model", "mnist-cnn", "--batch-size", 9, "--steps", 12, "--evaluate", "off")
        first, *others = [self.losses(self.dp(3, *words)).tolist() for _ in range(3)]
        for other in others:
            self.assertEqual(other, first)
        self.assertNotEqual(self.losses(self.dp(3, *words, "--seed", 2)).tolist(), first)


@needs_train
class RecordTest(DpCase):
    def test_the_phases_of_dp_are_stored_and_shown(self):
        result, run = self.run_and_read(*self.data(), "--mode", "dp", "--model", "mnist-cnn", "--batch-size", 12, "--steps", 10, "--warmup", 2, "--verbose")
        self.assertEqual((run.config["mode"], run.config["replicas"], run.config["sync"], run.config["batch-size"]), ("dp", 2, "none", 12))
        self.assertNotIn("sync_exposed_time_s", run.rows, "nothing is synchronised")
        self.assertEqual([name for name in run.rows if name in DP_PHASES], list(DP_PHASES), "in the order of a step")
        step, together = run.samples["step_time_s"], sum(run.samples[name] for name in DP_PHASES)
        for name in DP_PHASES:
            self.assertEqual(run.samples[name].shape, (10,), name)
            self.assertEqual(run.warmup[name].shape, (2,), name)
            self.assertTrue((run.samples[name] > 0).all(), name)
            self.assertRegex(result.stdout, rf"(?m)^ +{name} .* %$")
        self.assertTrue((together <= step * (1 + 1e-9)).all())
        self.assertGreater(together.sum(), 0.8 * step.sum(), "a part of the step is in no phase")
        for phase in ("forward", "backward"):
            own = run.samples[f"replica_{phase}_time_s"]
            self.assertEqual(own.shape, (10, 2))
            self.assertTrue((own > 0).all() and (own <= run.samples[f"{phase}_time_s"][:, None]).all())
            self.assertEqual(run.rows[f"replica_{phase}_time_s"]["rank_reduction"], "max")
        self.assertEqual(run.verification[CHECK][0], "passed")
        self.assertIn(CHECK, result.stdout)
        self.assertRegex(run.context["training"]["replicas"], r"1 thread each$")
        self.assertCode(ranklab("report", "r.h5", "--format", "json", cwd=self.folder), 0)

    def test_other_modes_have_no_rows_of_dp(self):
        for ranks, mode in ((1, "single"), (2, "ddp")):
            result, run = self.run_and_read("--mode", mode, "--steps", 3, "--verbose", ranks=ranks)
            for name in (*OVERHEAD, "replica_forward_time_s", "replica_backward_time_s"):
                self.assertNotIn(name, run.rows)
                self.assertNotIn(name, result.stdout)
            self.assertIn("sync_exposed_time_s", run.rows)
            self.assertNotIn(CHECK, run.verification)
            self.assertNotIn("replicas", run.config)

    def test_replicas_without_a_core_each_are_not_bound_and_that_is_said(self):
        cores = len(os.sched_getaffinity(0))
        crowded = self.dp(cores + 1, "--steps", 3)
        self.assertTrue([w for w in crowded.warnings if f"the {cores + 1} replicas are not bound to cores" in w], crowded.warnings)
        self.assertIn("not bound to cores; 1 thread each", crowded.context["training"]["replicas"])
        one = self.dp(1, "--steps", 3)
        self.assertRegex(one.context["training"]["replicas"], r"^replica 0 on CPUs \d[\d,-]*; 1 thread each$")
        self.assertEqual([w for w in one.warnings if "replicas" in w], [])


@needs_train
class RefusalTest(DpCase):
    def test_what_cannot_be_is_a_usage_error(self):
        self.assertSays(train("--mode", "dp", ranks=2), 2, "--mode dp takes one rank, but 2 were started", "--mode ddp")
        self.assertSays(train("--replicas", 2), 2, "--replicas 2 is for --mode dp, but the mode is single")
        self.assertSays(train("--replicas", 2, "--mode", "ddp", ranks=2), 2, "--replicas 2", "the mode is ddp")
        self.assertSays(train("--mode", "dp", "--sync", "flat"), 2, "--mode dp has nothing to synchronise", "--sync flat")
        self.assertSays(train("--mode", "dp", "--replicas", 0), 2, "replicas", "0")

    def test_what_gpus_do_not_do_in_it(self):
        nowhere = {"env": cli.environment(CUDA_VISIBLE_DEVICES="")}
        self.assertSays(train("--mode", "dp", "--device", "cuda", "--output", "none", cwd=self.folder, **nowhere), 5, "--device cuda needs a GPU", "no GPU can be used")
        self.assertSays(train("--mode", "dp", "--device", "cuda", "--cuda-graph"), 2, "--cuda-graph and --mode dp exclude each other", "recorded on one GPU")
        self.assertSays(train("--mode", "dp", "--backend", "nccl"), 2, "--backend nccl and --mode dp exclude each other")

    def test_a_dry_run_says_how_many_replicas(self):
        result = train("--mode", "dp", "--device", "cpu", "--dry-run")
        self.assertCode(result, 0)
        self.assertIn("# replicas: 2\n", result.stdout)


if __name__ == "__main__":
    cli.main()
