"""The learning rate of `ranklab train`: every step's is stored and is the formula's; what is refused; fused optimizers; sweeps
over global batches and scalings, and the plots of them."""

import math
import shutil
import unittest

import ranklab_cli as cli

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")


def published(iteration, *, lr, end, batch, base, scaling, warmup, total):
    """The U-Net tutorial's formula, as workloads.md 5.2 has it."""
    init = lr * {"sqrt": math.sqrt(batch / base), "linear": batch / base, "none": 1}[scaling]
    if batch > base and scaling != "none":
        if iteration < warmup:
            return iteration / warmup * init
        return end + 0.5 * (init - end) * (1 + math.cos(math.pi * (iteration - warmup) / total))
    return end + 0.5 * (init - end) * (1 + math.cos(math.pi * iteration / total))


class LearningRateTest(cli.Case):
    def train(self, *words, ranks=1, code=0):
        """(stdout, the run's samples with the warm-up's first, epochs, config) of a run of the smallest model there is."""
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        usual = {"--optimizer": "adam", "--lr": 0.01}
        own = [word for name, value in usual.items() if name not in words for word in (name, value)]
        result = cli.ranklab("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--evaluate", "off", "--output", output,
                             *own, *words, ranks=ranks, cwd=self.folder, timeout=120)
        self.assertCode(result, code)
        if code != 0:
            return result
        with h5py.File(output) as file:
            (run,) = file["runs"].values()
            rates = [group["learning_rate"][()].ravel() for group in (run["warmup"], run["samples"]) if "learning_rate" in group] if "warmup" in run \
                else [run["samples/learning_rate"][()].ravel()]
            return result.stdout, np.concatenate(rates), run["tables/epochs"][()], run["samples/train_loss"][()].ravel()

    def test_the_published_form_at_every_step(self):
        """Two ranks, 4 times the base batch, warm-up of the rate over 5 steps, the measurement's own warm-up of 2."""
        for scaling in ("none", "sqrt", "linear"):
            with self.subTest(scaling=scaling):
                _, rates, _, _ = self.train("--lr-schedule", "cosine-published", "--lr-scaling", scaling, "--base-batch-size", 8, "--global-batch-size", 32,
                                            "--lr-warmup-steps", 5, "--end-lr", 1e-4, "--lr-total-steps", 1356, "--steps", 10, "--warmup", 2, ranks=2)
                expected = [published(i, lr=0.01, end=1e-4, batch=32, base=8, scaling=scaling, warmup=5, total=1356) for i in range(1, 13)]
                np.testing.assert_allclose(rates, expected, rtol=1e-14)

    def test_the_published_total_is_of_whole_global_batches(self):
        """100 samples make 3 whole batches of 32, so tot = 2 x 3, where 2 x 4 steps are made."""
        _, rates, _, _ = self.train("--lr-schedule", "cosine-published", "--global-batch-size", 32, "--train-samples", 100, "--epochs", 2, "--warmup", 0)
        np.testing.assert_allclose(rates, [published(i, lr=0.01, end=0, batch=32, base=64, scaling="none", warmup=0, total=6) for i in range(1, 9)], rtol=1e-12)

    def test_the_corrected_form_ends_at_the_end_rate(self):
        for words, steps in ((("--steps", 20, "--warmup", 2), 22), (("--epochs", 3, "--train-samples", 250, "--warmup", 2), 3 * 8)):
            with self.subTest(words=words):
                _, rates, epochs, _ = self.train("--lr-schedule", "cosine", "--lr-scaling", "linear", "--base-batch-size", 16, "--global-batch-size", 32,
                                                 "--lr-warmup-steps", 4, "--end-lr", 1e-5, *words)
                self.assertEqual(len(rates), steps)
                np.testing.assert_allclose(rates[:4], 0.02 * np.arange(1, 5) / 4, rtol=1e-12)
                expected = [1e-5 + 0.5 * (0.02 - 1e-5) * (1 + math.cos(math.pi * (i - 4) / (steps - 4))) for i in range(5, steps + 1)]
                np.testing.assert_allclose(rates[4:], expected, rtol=1e-12)
                self.assertEqual(rates[-1], 1e-5)
                self.assertEqual(epochs["lr"][0], rates[0])

    def test_the_rate_is_what_the_optimizer_uses(self):
        """On one batch, again and again: at rate 0 nothing is learnt, at another one something is."""
        still = self.train("--lr", 0, "--steps", 6, "--shuffle", "off", "--train-samples", 64, "--batch-size", 64, "--warmup", 0)
        moving = self.train("--steps", 6, "--shuffle", "off", "--train-samples", 64, "--batch-size", 64, "--warmup", 0)
        self.assertEqual(len(set(still[3])), 1)
        self.assertLess(moving[3][-1], moving[3][0])

    def test_a_resumed_run_goes_on_with_the_schedule(self):
        plan = ("--lr-schedule", "cosine", "--lr-total-steps", 12, "--batch-size", 32, "--warmup", 0)
        whole = self.train(*plan, "--steps", 12)
        first = self.train(*plan, "--steps", 5, "--checkpoint", "c")
        second = self.train(*plan, "--steps", 12, "--checkpoint", "c", "--resume")
        np.testing.assert_array_equal(np.concatenate([first[1], second[1]]), whole[1])
        np.testing.assert_array_equal(np.concatenate([first[3], second[3]]), whole[3])
        self.train(*plan, "--steps", 5, "--checkpoint", "d")
        result = self.train("--lr-schedule", "cosine", "--batch-size", 32, "--warmup", 0, "--steps", 12, "--checkpoint", "d", "--resume",
                            "--lr-total-steps", 24, code=2)
        self.assertIn("lr-total-steps", result.stderr)

    def test_a_dry_run_shows_the_rates(self):
        words = ("--model", "template-softmax", "--data", "synthetic", "--lr", 0.01, "--lr-schedule", "cosine", "--lr-scaling", "sqrt", "--base-batch-size", 16,
                 "--batch-size", 64, "--lr-warmup-steps", 4, "--steps", 18, "--warmup", 2, "--dry-run")
        result = cli.ranklab("train", *words, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertIn("# learning-rate: 0.005 at the first step, 0.02 at most, 0 at step 20", result.stdout)
        self.assertIn("# lr-total-steps: 20", result.stdout)

    def test_a_run_that_ends_within_the_warm_up_says_so(self):
        stdout, rates, _, _ = self.train("--lr-schedule", "cosine", "--lr-scaling", "sqrt", "--base-batch-size", 16, "--batch-size", 64, "--lr-warmup-steps", 100,
                                         "--steps", 6, "--warmup", 0, "--verbose")
        self.assertIn("warning: the run's 6 steps end within the 100 steps over which the learning rate rises", " ".join(stdout.split()))
        np.testing.assert_allclose(rates, 0.02 * np.arange(1, 7) / 100, rtol=1e-12)

    def test_what_cannot_be_is_refused(self):
        for words, sentence in (
                (("--lr-total-steps", 5), "--lr-total-steps 5 is for --lr-schedule cosine"),
                (("--lr-schedule", "sine"), "--lr-schedule"),
                (("--lr-scaling", "cubic"), "--lr-scaling"),
                (("--optimizer", "adadelta", "--fused-optimizer"), "no fused kernel for --optimizer adadelta"),
                (("--lr-schedule", "cosine-published", "--train-samples", 10, "--batch-size", 16, "--epochs", 1), "falls over no steps"),
                (("--sweep-global-batch", "8,x"), "not 'x'"),
                (("--sweep-global-batch", "8,,16"), "--sweep-global-batch takes"),
                (("--sweep-lr-scaling", "none,cube"), "--sweep-lr-scaling takes"),
                (("--sweep-global-batch", "8,16", "--checkpoint", "c"), "--checkpoint is for a single run"),
                (("--sweep-global-batch", "8,16", "--batch-size", "4"), "give one of them")):
            with self.subTest(words=words):
                result = cli.ranklab("train", "--model", "template-softmax", "--data", "synthetic", "--output", "none", *words, cwd=self.folder)
                self.assertCode(result, 2)
                self.assertIn(sentence, result.stderr)

    def test_fused_optimizers_make_the_same_losses(self):
        for optimizer in ("adam", "sgd"):
            with self.subTest(optimizer=optimizer):
                words = ("--optimizer", optimizer, "--momentum", 0.9, "--precision", "fp64", "--steps", 12, "--batch-size", 16)
                plain, fused = self.train(*words), self.train(*words, "--fused-optimizer")
                np.testing.assert_allclose(fused[3], plain[3], rtol=1e-12)

    def sweep(self):
        output = self.folder / "s.h5"
        result = cli.ranklab("train", "--model", "template-softmax", "--data", "synthetic", "--optimizer", "adam", "--lr", 0.002, "--threads", 1,
                             "--train-samples", 300, "--validation-samples", 40, "--epochs", 2, "--warmup", 0, "--base-batch-size", 16,
                             "--lr-schedule", "cosine", "--lr-warmup-steps", 3, "--label", "large batches", "--sweep-global-batch", "16,64",
                             "--sweep-lr-scaling", "none,sqrt,linear", "--output", output, ranks=2, cwd=self.folder, timeout=300)
        self.assertCode(result, 0)
        return output, result

    def test_a_sweep_is_one_run_each_and_a_table(self):
        output, result = self.sweep()
        with h5py.File(output) as file:
            runs = list(file["runs"].values())
            self.assertEqual(len(runs), 7)
            self.assertEqual({run.attrs["label"] for run in runs}, {"large batches"})
            (table,) = [run["tables/variants"][()] for run in runs if "tables" in run and "variants" in run["tables"]]
            losses = {run.name.split("/")[-1]: run["samples/train_loss"][()].ravel() for run in runs if "samples" in run and "train_loss" in run["samples"]}
        text = lambda value: value.decode() if isinstance(value, bytes) else value
        self.assertEqual([(text(row["global_batch"]), text(row["lr_scaling"])) for row in table],
                         [(batch, scaling) for batch in ("16", "64") for scaling in ("none", "sqrt", "linear")])
        np.testing.assert_allclose(table["highest_lr"][3:], [0.002 * (1 + math.cos(math.pi / 10)) / 2, 0.004, 0.008], rtol=1e-12)
        self.assertEqual(list(table["samples"]), [600] * 6)
        self.assertEqual(list(table["steps"]), [2 * 19] * 3 + [2 * 5] * 3)
        self.assertEqual({text(name) for name in table["run"]}, set(losses))
        # Without a larger batch there is nothing to scale; from there on the curves differ, from the same weights.
        curves = [losses[text(name)] for name in table["run"]]
        np.testing.assert_array_equal(curves[0], curves[1])
        self.assertEqual(len({curve[0] for curve in curves[3:]}), 1)
        self.assertEqual(len({curve[-1] for curve in curves[3:]}), 3)
        self.assertIn("whose steps are not the same work", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^  batch 64, lr linear +[\d.]+ .* \d+ ")
        self.assertRegex(" ".join(result.stdout.split()), r"6 runs, whose steps are not the same work: most samples/s at batch \d+, lr")

    def test_the_sweep_is_drawn(self):
        output, _ = self.sweep()
        plots = self.folder / "plots"
        result = cli.ranklab("report", output, "--plots", plots, "--label", "large batches", cwd=self.folder)
        data = sorted(plots.glob("20*.dat"))  # named after their runs; the others are of the page's figures
        self.assertEqual(len(data), 6)
        for path in data:
            step, samples, seconds, loss, rate = np.loadtxt(path, unpack=True)
            self.assertEqual(samples[-1], 600)
            self.assertTrue(np.all(np.diff(samples) > 0) and np.all(np.diff(seconds) > 0))
            self.assertEqual(len(step), 38 if samples[0] == 16 else 10)
            self.assertTrue(np.all(np.isfinite(loss)) and np.all(rate >= 0))
        if shutil.which("gnuplot") is None:
            self.assertCode(result, 5)
            self.assertIn("gnuplot is not here", result.stderr)
            return
        self.assertCode(result, 0)
        for name in ("loss_steps", "loss_samples", "loss_seconds", "learning_rate"):
            picture = (plots / f"{name}.svg").read_text()
            self.assertIn("</svg>", picture)
            self.assertEqual(picture.count("global batch 64"), 3, name)

    def test_without_gnuplot_a_sentence_says_so(self):
        self.train("--steps", 6, "--batch-size", 16)
        empty = self.folder / "empty"
        empty.mkdir()
        result = cli.run(cli.BIN / "ranklab-report", self.folder / "r.h5", "--plots", self.folder / "p", env=cli.environment(PATH=empty), cwd=self.folder)
        self.assertCode(result, 5)
        self.assertIn("gnuplot is not here", result.stderr)
        self.assertEqual(len(list((self.folder / "p").glob("20*.dat"))), 1)


if __name__ == "__main__":
    cli.main()
