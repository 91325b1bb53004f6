"""More of the precisions and speed options: every --sync, replicas, longer runs, resumed ones, and the memory that a trial needs."""

import json

import ranklab_cli as cli
from ranklab_cli import Case, train
from stored_runs import stored_runs

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")


class Precisions(Case):
    def run_of(self, *words, ranks=1, steps=12, model="bn-cnn", batch=6):
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        result = train("--model", model, "--data", "synthetic", "--steps", steps, "--warmup", 0, "--batch-size", batch, "--dropout", "off", "--optimizer", "sgd",
                       "--lr", 0.05, "--evaluate", "off", "--shuffle", "off", "--overlap-steps", 0, "--output", output, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = stored_runs(output)
        return run

    def losses(self, *words, **how):
        return self.run_of(*words, **how).samples["train_loss"].ravel()

    def test_sixteen_bits_train_on_two_ranks(self):
        for precision in ("bf16", "fp16"):
            for sync in ("per-parameter", "flat", "bucketed", "c10d"):
                with self.subTest(precision=precision, sync=sync):
                    run = self.run_of("--precision", precision, "--sync", sync, ranks=2)
                    losses = run.samples["train_loss"].ravel()
                    self.assertLess(losses[-3:].mean(), losses[:3].mean())
                    self.assertEqual(run.verification["parameters equal on all ranks"][0], "passed")
                    self.assertEqual(run.verification["first gradient is the plain sum"][0], "passed")

    def test_sixteen_bits_train_with_micro_batches_and_replicas(self):
        for words in (["--accumulate", 2], ["--mode", "dp", "--replicas", 2]):
            for precision in ("bf16", "fp16"):
                with self.subTest(words=words, precision=precision):
                    losses = self.losses("--precision", precision, *words)
                    self.assertLess(losses[-3:].mean(), losses[:3].mean())

    def test_channels_last_and_jit_compute_the_same_losses(self):
        for model in ("mnist-cnn", "bn-cnn"):
            reference = self.losses("--precision", "fp64", model=model)
            for words in (["--channels-last"], ["--jit"], ["--channels-last", "--jit"]):
                with self.subTest(model=model, words=words):
                    np.testing.assert_allclose(self.losses("--precision", "fp64", *words, model=model), reference, rtol=1e-9)

    def test_channels_last_and_jit_with_every_sync(self):
        reference = self.losses("--precision", "fp64", ranks=2)
        for sync in ("per-parameter", "flat", "bucketed", "c10d"):
            for words in (["--channels-last"], ["--jit"]):
                with self.subTest(sync=sync, words=words):
                    np.testing.assert_allclose(self.losses("--precision", "fp64", "--sync", sync, *words, ranks=2), reference, rtol=1e-9)

    def test_a_resumed_run_goes_on_as_one_piece(self):
        for words in (["--precision", "fp16"], ["--channels-last"], ["--jit"]):
            with self.subTest(words=words):
                whole = self.losses(*words, steps=10)
                folder = self.folder / "-".join(words)
                self.losses(*words, "--checkpoint", folder, steps=4)
                rest = self.losses(*words, "--checkpoint", folder, "--resume", steps=10)
                np.testing.assert_allclose(rest[-6:], whole[-6:], rtol=1e-6)


class Ops(Case):
    """Our own operations and LibTorch's: the same training, and a fact of the run."""

    def run_of(self, *words, ranks=1, model="mnist-cnn", batch=8, steps=12):
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        result = train("--model", model, "--data", "synthetic", "--width", 4, "--steps", steps, "--warmup", 0, "--batch-size", batch, "--evaluate", "off",
                       "--overlap-steps", 0, "--memory-format", "contiguous", "--output", output, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = stored_runs(output)
        return run, result

    def losses(self, *words, **how):
        return self.run_of(*words, **how)[0].samples["train_loss"].ravel()

    def test_both_train_to_the_same_losses(self):
        """With dropout, too: both draw the same masks. Rounding alone may differ: 1e-9 in fp64, 1e-4 in fp32, over 12 steps."""
        for words, ranks in (((), 1), (("--optimizer", "adam", "--lr", 0.001), 1), ((), 2), (("--mode", "dp", "--replicas", 2), 1)):
            for precision, tolerance in (("fp64", 1e-9), ("fp32", 1e-4)):
                with self.subTest(words=words, ranks=ranks, precision=precision):
                    ours = self.losses("--precision", precision, "--ops", "ranklab", *words, ranks=ranks)
                    self.assertEqual(len(set(ours)), len(ours))
                    np.testing.assert_allclose(self.losses("--precision", precision, "--ops", "libtorch", *words, ranks=ranks), ours, rtol=tolerance)


class MemoryFormat(Case):
    """`auto` tries both formats beside the run, which goes on as if it had been told the one that was taken."""

    def run_of(self, *words, ranks=1, model=("--model", "mnist-cnn", "--width", 4, "--batch-size", 6), steps=6, samples=200):
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        if not {"--memory-format", "--channels-last"} & set(words):
            words = ("--memory-format", "auto", *words)
        result = train(*model, "--data", "synthetic", "--train-samples", samples, "--steps", steps, "--warmup", 0, "--evaluate", "off", "--overlap-steps", 0,
                       "--output", output, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        return stored_runs(output), result

    def test_auto_leaves_no_trace_in_the_training(self):
        """Losses with dropout, shuffling and each rank's own generator: the very bits of the run that names the format."""
        unet = ("--model", "unet3d", "--width", 16, "--full-scale", "off", "--crop-edge", 32, "--batch-size", 1, "--optimizer", "adam")
        batch_norm = ("--model", "bn-cnn", "--batch-size", 6)
        for model, ranks, words in ((None, 1, ()), (None, 2, ()), (None, 1, ("--mode", "dp", "--replicas", 2)), (None, 1, ("--jit",)),
                                    (batch_norm, 1, ("--precision", "fp16")), (unet, 1, ("--steps", 3))):
            with self.subTest(model=model, ranks=ranks, words=words):
                how = {"ranks": ranks} | ({"model": model} if model else {})
                (run,), result = self.run_of(*words, "--verbose", **how)
                facts = run.context["memory_format"]
                self.assertEqual(facts["asked"], "auto")
                self.assertEqual(run.config["channels-last"], str(facts["taken"] == "channels-last").lower())
                self.assertGreater(float(facts["trial_contiguous_s"]), 0)
                self.assertGreater(float(facts["trial_channels_last_s"]), 0)
                self.assertIn(f"memory format {facts['taken']}, since {facts['why']}", " ".join(result.stdout.split()))
                (named,), _ = self.run_of("--memory-format", facts["taken"], *words, **how)
                self.assertEqual(named.context["memory_format"]["taken"], facts["taken"])
                np.testing.assert_array_equal(run.samples["train_loss"], named.samples["train_loss"])

    def test_the_older_spelling_means_channels_last(self):
        (old,), _ = self.run_of("--channels-last")
        (new,), _ = self.run_of("--memory-format", "channels-last")
        for run in (old, new):
            self.assertEqual((run.config["memory-format"], run.config["channels-last"]), ("channels-last", "true"))
        np.testing.assert_array_equal(old.samples["train_loss"], new.samples["train_loss"])

    def test_runs_of_one_command_take_one_format(self):
        result = train("--model", "mnist-cnn", "--width", 4, "--data", "synthetic", "--train-samples", 64, "--batch-size", 6, "--repetitions", 3, "--steps", 4, "--evaluate", "off", "--memory-format", "auto",
                       "--output", "r.h5", cwd=self.folder)
        self.assertCode(result, 0)
        with h5py.File(self.folder / "r.h5") as file:
            facts = [json.loads(run.attrs["context_json"]).get("memory_format") for run in file["runs"].values() if "verification" in run["tables"]]
            (variants,) = [run["tables/variants"] for run in file["runs"].values() if "variants" in run["tables"]]
            shown = [name.decode() for name in variants["memory_format"]]
        self.assertEqual((len(facts), facts[1:]), (3, facts[:1] * 2))
        self.assertEqual(shown, [facts[0]["taken"]] * 3)

    def test_the_peak_of_memory_is_the_trainings_own(self):
        """The trial of both needs a fifth more than the training; what is left of it is how the heap lies."""
        large = ("--model", "mnist-cnn", "--width", 2, "--batch-size", 512)

        def peak(name):
            (run,), _ = self.run_of("--threads", 1, "--memory-format", name, model=large, steps=2, samples=1024)
            return run.samples["peak_rss_bytes"].max()

        self.assertLess(peak("auto"), 1.13 * peak("contiguous"))

    def test_a_resumed_run_keeps_the_format(self):
        for taken in ("contiguous", "channels-last"):
            with self.subTest(taken=taken):
                folder = self.folder / taken
                (whole,), _ = self.run_of("--memory-format", taken, steps=8)
                self.run_of("--memory-format", taken, "--checkpoint", folder, steps=3)
                (rest,), _ = self.run_of("--checkpoint", folder, "--resume", steps=8, ranks=1)
                facts = rest.context["memory_format"]
                self.assertEqual((facts["asked"], facts["taken"]), ("auto", taken))
                self.assertIn("checkpoint", facts["why"])
                np.testing.assert_array_equal(rest.samples["train_loss"].ravel()[-5:], whole.samples["train_loss"].ravel()[-5:])


if __name__ == "__main__":
    cli.main()
