"""Precisions and speed options as a user meets them: they train, at one and two ranks; a checkpoint keeps their state; and what cannot be is refused
with one sentence."""

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, train
from train_run_test import stored_runs

(np,) = cli.modules("numpy")

# On a machine with GPUs too, these jobs see none.
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


@needs_train
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

    def test_skipped_steps_are_told(self):
        run = self.run_of("--precision", "fp16")
        skipped = int(run.context["training"]["skipped_steps"])
        self.assertEqual(float(run.context["training"]["loss_scale"]), 65536 / 2**skipped)

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

    def test_a_checkpoint_is_of_one_precision(self):
        self.losses("--precision", "fp16", "--checkpoint", "c", steps=2)
        result = train("--model", "bn-cnn", "--data", "synthetic", "--steps", 4, "--precision", "bf16", "--checkpoint", "c", "--resume", "--output", "none", cwd=self.folder)
        self.assertCode(result, 2)


@needs_train
class Refusals(Case):
    def refuses(self, code, *words, ranks=1, says=()):
        result = train("--data", "synthetic", "--steps", 2, "--output", "none", *words, ranks=ranks, cwd=self.folder, env=cli.environment(**NO_GPU))
        self.assertSays(result, code, *says)

    def test_what_only_a_gpu_has(self):
        self.refuses(2, "--precision", "tf32", "--device", "cpu", says=("tf32", "--device cuda"))
        self.refuses(2, "--cuda-graph", says=("--cuda-graph", "--device cuda"))
        self.refuses(5, "--device", "cuda", says=("GPU", "--device cpu"))
        self.refuses(5, "--device", "cuda", "--mode", "ddp", ranks=2, says=("GPU", "--device cpu"))

    def test_what_does_not_go_together(self):
        self.refuses(2, "--jit", "--precision", "bf16", says=("--jit", "--precision"))
        self.refuses(2, "--jit", "--mode", "dp", says=("--jit", "--mode dp"))
        self.refuses(2, "--device", "cuda", "--mode", "dp", says=("--mode dp", "--device"))
        self.refuses(2, "--device", "cuda", "--sync", "c10d", "--mode", "ddp", says=("c10d", "--sync bucketed"))
        self.refuses(2, "--device", "cuda", "--cuda-graph", "--jit", says=("--cuda-graph", "--jit"))
        self.refuses(2, "--device", "cuda", "--backend", "mpi", ranks=2, says=("--backend nccl",))

    def test_auto_is_the_cpu_where_there_is_no_gpu(self):
        result = train("--data", "synthetic", "--steps", 2, "--model", "template-softmax", "--output", "none", "--dry-run", cwd=self.folder, env=cli.environment(**NO_GPU))
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^# device: cpu$")


if __name__ == "__main__":
    cli.main()
