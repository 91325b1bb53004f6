"""--zero 1|2|3: ranks that shard the training state train as ranks that keep it whole, and their memory and bytes are stored beside
theory."""

import ranklab_cli as cli
from stored_runs import RunCase

cli.need_train()
(np,) = cli.modules("numpy")

NETWORK = """
import torch


def model():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 30, bias=False), torch.nn.BatchNorm1d(30), torch.nn.Tanh(),
                               torch.nn.Linear(30, 30), torch.nn.ReLU(), torch.nn.Linear(30, 10))
"""


class Zero(RunCase):
    def run_zero(self, *words, ranks=3, **how):
        return self.run_and_read("--data", "mnist", "--data-dir", self.data, "--batch-size", 4, "--accumulate", 2, "--optimizer", "adamw",
                                 "--clip-gradients", 0.5, "--warmup", 0, "--threads", 1, "--bucket-cap-mb", 0.01, *words, ranks=ranks, **how)[1]

    def compare(self, *words, bound=1e-9):
        """Trains as DDP and at all stages; 100 images do not divide by the ranks. Returns the run of stage 3."""
        self.data = cli.make_idx(self.folder / "data", 100, 7)
        words = ("--steps", 30, "--evaluate", "end", *words)
        ddp = self.run_zero(*words, "--save-parameters", "ddp.p")
        whole = self.parameters(self.folder / "ddp.p")
        for stage in (1, 2, 3):
            with self.subTest(stage=stage):
                run = self.run_zero(*words, "--zero", stage, "--save-parameters", f"{stage}.p")
                np.testing.assert_allclose(run.losses, ddp.losses, rtol=bound, atol=0)
                np.testing.assert_allclose(run.samples["validation_loss"], ddp.samples["validation_loss"], rtol=bound)
                mine = self.parameters(self.folder / f"{stage}.p")
                self.assertEqual(mine.keys(), whole.keys())
                for name, value in whole.items():
                    self.assertLess(np.abs(mine[name] - value).max(), bound * np.abs(value).max(), name)
                checks = {check: result for check, (result, _) in run.verification.items()}
                self.assertEqual(checks["gradients summed correctly"], "passed")
                self.assertEqual(checks["parameters equal on all ranks"], "passed")
                self.assertMatchesTheory(run, stage, sum(value.size for value in whole.values()) * 8)
        return run

    def assertMatchesTheory(self, run, stage, parameter_bytes):
        memory = run.tables["sharding_memory"]
        of = dict(zip(memory["part"], zip(memory["predicted_bytes"], memory["measured_bytes"])))
        for part in ("parameters", "gradients"):
            self.assertEqual(*of[part], part)
        self.assertLessEqual(of["blocks"][1], of["blocks"][0])
        shard = parameter_bytes / 3
        self.assertLess(abs(of["optimizer"][1] - 2 * shard), 0.1 * shard)
        self.assertLess(abs(of["parameters"][1] - (shard if stage == 3 else parameter_bytes)), 0.1 * shard)
        sent = run.tables["sharding_bytes"]
        rounds = 2 if stage > 1 else 1
        theory = {"reduce_scatter": 2 / 3 * parameter_bytes * rounds, "allgather": 2 / 3 * parameter_bytes * (4 if stage == 3 else 1)}
        for i, operation in enumerate(sent["operation"]):
            self.assertAlmostEqual(sent["theory_bytes"][i], theory[operation], delta=1e-6 * theory[operation])
            self.assertAlmostEqual(sent["sent_bytes"][i], sent["theory_bytes"][i] + sent["padding_bytes"][i] - sent["skipped_bytes"][i], delta=1)
            self.assertLess(sent["padding_bytes"][i], 8 * 3 * sent["calls"][i] * (2 if stage == 3 else 1))
            if stage < 3 or operation == "reduce_scatter": self.assertAlmostEqual(sent["skipped_bytes"][i], 0, delta=1e-3)
        self.assertEqual(run.samples["sent_bytes_per_step"].max(), sum(sent["sent_bytes"]))
        self.assertTrue((run.samples["gather_exposed_time_s"] <= run.samples["step_time_s"]).all())

    def test_own_network_in_fp64(self):
        (self.folder / "net.py").write_text(NETWORK)
        self.compare("--model", self.folder / "net.py", "--input-shape", "1x28x28", "--classes", 10, "--precision", "fp64")

    def test_ranklab_network_in_fp64(self):
        self.compare("--model", "bn-cnn", "--precision", "fp64", "--steps", 8, "--check-parameters", "step")

    def test_fp16_with_loss_scaling(self):
        self.data = cli.make_idx(self.folder / "data", 100, 7)
        words = ("--model", "mnist-cnn", "--width", 8, "--dropout", "off", "--precision", "fp16", "--steps", 6)
        ddp = self.run_zero(*words)
        for stage in (1, 3):
            run = self.run_zero(*words, "--zero", stage)
            np.testing.assert_allclose(run.losses, ddp.losses, rtol=1e-2)
            self.assertEqual(run.context["training"]["loss_scale"], ddp.context["training"]["loss_scale"])

    def test_a_dry_run_predicts_the_memory_of_many_ranks(self):
        """llama3-8b with AdamW on 64 ranks: 16 bytes a parameter, sharded."""
        result = cli.ranklab("train", "--model", "llama3-8b", "--data", "synthetic", "--zero", 3, "--expected-ranks", 64, "--batch-size", 1, "--dry-run",
                             "--output", "none", cwd=self.folder)
        self.assertCode(result, 0)
        rows = dict(line[2:].split(": ", 1) for line in result.stdout.splitlines() if line.startswith("# ") and ": " in line)
        shard = 4 * 8_030_261_248 / 64
        for part, copies in (("weights", 1), ("gradients", 1), ("optimizer", 2)):
            self.assertAlmostEqual(int(rows[f"memory-{part}-bytes"]) / (copies * shard), 1, delta=0.001, msg=part)


if __name__ == "__main__":
    cli.main()
