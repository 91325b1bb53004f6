"""More of the precisions and speed options: every --sync, and a memory format that is tried: on more models, in memory, after a break."""

import ranklab_cli as cli
from stored_runs import RunCase

cli.need_train()
(np,) = cli.modules("numpy")


class Precisions(RunCase):
    def run_of(self, *words):
        return self.run_and_read("--model", "bn-cnn", "--steps", 12, "--warmup", 0, "--batch-size", 6, "--dropout", "off", "--optimizer", "sgd", "--lr", 0.05,
                                 "--evaluate", "off", "--shuffle", "off", "--overlap-steps", 0, *words, ranks=2)[1]

    def test_with_every_sync(self):
        reference = self.run_of("--precision", "fp64").losses
        for sync in ("per-parameter", "flat", "bucketed", "c10d"):
            for words in (("--channels-last",), ("--jit",)):
                with self.subTest(sync=sync, words=words):
                    np.testing.assert_allclose(self.run_of("--precision", "fp64", "--sync", sync, *words).losses, reference, rtol=1e-9)
            for precision in ("bf16", "fp16"):
                with self.subTest(sync=sync, precision=precision):
                    run = self.run_of("--precision", precision, "--sync", sync)
                    self.assertLess(run.losses[-3:].mean(), run.losses[:3].mean())
                    for check in ("parameters equal on all ranks", "first gradient is the plain sum"):
                        self.assertEqual(run.verification[check][0], "passed")


class MemoryFormat(RunCase):
    """`auto` tries both formats beside the run, which goes on as if it had been told the one that was taken."""

    CNN = ("--model", "mnist-cnn", "--width", 4, "--batch-size", 6)

    def run_of(self, *words, model=CNN, steps=6, samples=200):
        return self.run_and_read(*model, "--train-samples", samples, "--steps", steps, "--warmup", 0, "--evaluate", "off", "--overlap-steps", 0, *words)[1]

    def test_auto_leaves_no_trace_in_the_training(self):
        """The very bits of the run that names the format."""
        unet = ("--model", "unet3d", "--width", 16, "--full-scale", "off", "--crop-edge", 32, "--batch-size", 1, "--optimizer", "adam")
        for model, words, steps in ((self.CNN, ("--jit",), 6), (("--model", "bn-cnn", "--batch-size", 6), ("--precision", "fp16"), 6), (unet, (), 3)):
            with self.subTest(model=model, words=words):
                run = self.run_of("--memory-format", "auto", *words, model=model, steps=steps)
                taken = run.context["memory_format"]["taken"]
                self.assertEqual(run.config["channels-last"], str(taken == "channels-last").lower())
                np.testing.assert_array_equal(run.losses, self.run_of("--memory-format", taken, *words, model=model, steps=steps).losses)

    def test_the_peak_of_memory_is_the_trainings_own(self):
        """The trial of both needs a fifth more than the training; what is left of it is how the heap lies."""
        large = ("--model", "mnist-cnn", "--width", 2, "--batch-size", 512)

        def peak(name):
            return self.run_of("--memory-format", name, model=large, steps=2, samples=1024).samples["peak_rss_bytes"].max()

        self.assertLess(peak("auto"), 1.13 * peak("contiguous"))

    def test_a_resumed_run_keeps_the_format(self):
        for taken in ("contiguous", "channels-last"):
            with self.subTest(taken=taken):
                whole = self.run_of("--memory-format", taken, steps=8)
                self.run_of("--memory-format", taken, "--checkpoint", taken, steps=3)
                rest = self.run_of("--memory-format", "auto", "--checkpoint", taken, "--resume", steps=8)
                facts = rest.context["memory_format"]
                self.assertEqual((facts["asked"], facts["taken"]), ("auto", taken))
                self.assertIn("checkpoint", facts["why"])
                np.testing.assert_array_equal(rest.losses[-5:], whole.losses[-5:])


if __name__ == "__main__":
    cli.main()
