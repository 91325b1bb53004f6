"""The learning rate of `ranklab train`: the rate of every step is stored and follows the formula, the optimizer uses it, and
the curves of several runs are drawn. Refusals: tests/refusals/train.json."""

import collections
import csv
import math
import pathlib
import shutil
import tempfile

import ranklab_cli as cli
from stored_runs import stored_runs

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")


def published(iteration, *, lr, end, batch, base, warmup, total):
    """The formula of the U-Net tutorial with linear scaling."""
    init = lr * batch / base
    if iteration < warmup:
        return iteration / warmup * init
    return end + 0.5 * (init - end) * (1 + math.cos(math.pi * (iteration - warmup) / total))


class LearningRateTest(cli.Case):
    def train(self, *words, ranks=1):
        """Returns the run, its samples with those of the warm-up before them."""
        output = self.folder / f"{len(self.names())}.h5"
        result = cli.train("--optimizer", "adam", "--evaluate", "off", "--output", output, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = stored_runs(output)
        for name in ("learning_rate", "train_loss"):
            run.samples[name] = np.concatenate([part[name].ravel() for part in (run.warmup, run.samples) if name in part])
        return run

    def test_the_published_form_at_every_step(self):
        """Three ranks, 3 times the base batch, warm-up of the rate over 5 steps, the measurement's own warm-up of 2."""
        run = self.train("--lr", 0.01, "--lr-schedule", "cosine-published", "--lr-scaling", "linear", "--base-batch-size", 8, "--global-batch-size", 24,
                         "--lr-warmup-steps", 5, "--end-lr", 1e-4, "--lr-total-steps", 1356, "--steps", 8, "--warmup", 2, ranks=3)
        expected = [published(i, lr=0.01, end=1e-4, batch=24, base=8, warmup=5, total=1356) for i in range(1, 11)]
        np.testing.assert_allclose(run.samples["learning_rate"], expected, rtol=1e-14)

    def test_the_corrected_form_ends_at_the_end_rate(self):
        run = self.train("--lr", 0.01, "--lr-schedule", "cosine", "--lr-scaling", "linear", "--base-batch-size", 16, "--global-batch-size", 32,
                         "--lr-warmup-steps", 4, "--end-lr", 1e-5, "--epochs", 3, "--train-samples", 100, "--warmup", 2)
        rates, steps = run.samples["learning_rate"], 3 * 4
        expected = [0.02 * i / 4 for i in range(1, 5)] + [1e-5 + 0.5 * (0.02 - 1e-5) * (1 + math.cos(math.pi * (i - 4) / (steps - 4))) for i in range(5, steps + 1)]
        np.testing.assert_allclose(rates, expected, rtol=1e-12)
        self.assertEqual((rates[-1], run.tables["epochs"]["lr"][0]), (1e-5, rates[0]))

    def test_the_rate_is_what_the_optimizer_uses_and_the_fused_kernel_computes_the_same(self):
        """On one repeated batch: the loss falls at a rate above 0 and not at 0."""
        words = ("--steps", 4, "--shuffle", "off", "--train-samples", 16, "--batch-size", 16, "--warmup", 0, "--precision", "fp64")
        still, moving, fused = (self.train(*words, *more).samples["train_loss"] for more in (("--lr", 0), ("--lr", 0.01), ("--lr", 0.01, "--fused-optimizer")))
        self.assertEqual(len(set(still)), 1)
        self.assertLess(moving[-1], moving[0])
        np.testing.assert_allclose(fused, moving, rtol=1e-12)

    def test_a_dry_run_shows_the_rates(self):
        """At once, also for a huge number of steps."""
        result = cli.train("--lr", 0.01, "--lr-schedule", "cosine", "--lr-scaling", "sqrt", "--base-batch-size", 16, "--batch-size", 64, "--lr-warmup-steps", 4,
                           "--steps", 10**12, "--warmup", 2, "--dry-run", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^# learning-rate: 0\.005\b.*\b0\.02\b.*\b0\b.*\b1000000000002$")


class CurvesTest(cli.Case):
    """Two runs of different batch sizes in one figure."""

    @classmethod
    def setUpClass(cls):
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.file = cls.shared / "s.h5"
        cls.results = [cli.train("--optimizer", "adam", "--lr", 0.002, "--train-samples", 300, "--validation-samples", 40, "--epochs", 1, "--warmup", 0,
                                 "--base-batch-size", 16, "--lr-schedule", "cosine", "--lr-warmup-steps", 3, "--label", "large batches",
                                 "--global-batch-size", batch, "--lr-scaling", "linear", "--output", cls.file, ranks=2, cwd=cls.shared) for batch in (16, 64)]

    def test_it_is_drawn(self):
        for result in self.results:
            self.assertCode(result, 0)
        small, large = stored_runs(self.file)
        self.assertEqual(small.losses.size, 19)
        np.testing.assert_allclose([small.samples["learning_rate"].max(), large.samples["learning_rate"].max()],
                                   [0.002 * (1 + math.cos(math.pi / 16)) / 2, 0.002 * 4 * (1 + math.cos(math.pi * 0 / 2)) / 2], rtol=0.02)
        plots = self.folder / "plots"
        result = cli.ranklab("report", self.file, "--plots", plots, "--label", "large batches", cwd=self.folder)
        rows = list(csv.DictReader((plots / "loss_samples.csv").open()))
        curves = [row for row in rows if not row["series"].endswith(", validation")]
        self.assertEqual(len(rows), len(curves) + 2, "the validation loss of each run's one epoch")
        self.assertEqual(sorted(collections.Counter(row["series"] for row in curves).values()), [5, 19])
        self.assertEqual({float(row["steps x global batch"]) for row in curves if ", batch-size 32" in row["series"]}, {64, 128, 192, 256, 320})
        if shutil.which("gnuplot"):
            self.assertCode(result, 0)
            for name in ("loss_steps", "loss_samples", "loss_seconds", "learning_rate"):
                self.assertEqual((plots / f"{name}.svg").read_text().count(", batch-size 32"), 1, name)
        without = cli.run(cli.BIN / "ranklab-report", self.file, "--plots", self.folder / "p", env=cli.environment(PATH=self.folder), cwd=self.folder)
        self.assertSays(without, 5, "gnuplot")
        self.assertTrue((self.folder / "p/loss_samples.csv").is_file())


if __name__ == "__main__":
    cli.main()
