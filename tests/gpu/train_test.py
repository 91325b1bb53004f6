"""`ranklab train --device cuda` equals the CPU in every precision, with and without a graph. Skips without a GPU."""

import sys

import ranklab_cli as cli
from ranklab_cli import Case, train
from stored_runs import stored_runs

(np,) = cli.modules("numpy")


def why_no_gpu():
    if not cli.HAS_TRAIN:
        return f"there is no ranklab-train in {cli.BIN}"
    result = train("--device", "cuda", "--model", "template-softmax", "--data", "synthetic", "--steps", 1, "--output", "none")
    return " ".join(result.said) if result.code == 5 else ""


class OnAGpu(Case):
    def losses(self, *words, steps=20):
        output = self.folder / "r.h5"
        output.unlink(missing_ok=True)
        result = train("--model", "bn-cnn", "--data", "synthetic", "--steps", steps, "--warmup", 0, "--batch-size", 16, "--dropout", "off", "--optimizer", "sgd", "--lr", 0.05,
                       "--evaluate", "end", "--shuffle", "off", "--output", output, *words, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = stored_runs(output)
        self.assertEqual(run.verification["gradients summed correctly"][0], "passed")
        return run.samples["train_loss"].ravel()

    def test_it_computes_what_the_cpu_computes(self):
        for precision, bound in (("fp64", 1e-8), ("fp32", 1e-3)):
            reference = self.losses("--device", "cpu", "--precision", precision)
            for words in ([], ["--channels-last"], ["--jit"], ["--cuda-graph"], ["--cudnn-benchmark", "off"], ["--mode", "ddp", "--sync", "flat"],
                          ["--mode", "ddp", "--sync", "bucketed"], ["--mode", "ddp", "--sync", "bucketed", "--cuda-graph"], ["--cuda-graph", "--accumulate", 1]):
                with self.subTest(precision=precision, words=words):
                    np.testing.assert_allclose(self.losses("--device", "cuda", "--precision", precision, *words), reference, rtol=bound)

    def test_fewer_bits_train(self):
        for precision in ("tf32", "bf16", "fp16"):
            for words in ([], ["--cuda-graph"], ["--channels-last"]):
                with self.subTest(precision=precision, words=words):
                    losses = self.losses("--device", "cuda", "--precision", precision, *words)
                    self.assertLess(losses[-3:].mean(), losses[:3].mean())

    def test_it_is_the_default_and_dropout_and_adadelta_run_on_it(self):
        output = self.folder / "d.h5"
        result = train("--data", "synthetic", "--steps", 30, "--batch-size", 16, "--evaluate", "off", "--cuda-graph", "--output", output, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = stored_runs(output)
        self.assertEqual(run.config["device"], "cuda")
        losses = run.samples["train_loss"].ravel()
        self.assertLess(losses[-3:].mean(), losses[:3].mean())


if __name__ == "__main__":
    reason = why_no_gpu()
    if reason:
        print(f"SKIPPED: {reason}")
        sys.exit(77)
    cli.main()
