"""Precisions and speed options train at one and more ranks, with equal losses."""

import ranklab_cli as cli
from stored_runs import RunCase

cli.need_train()
(np,) = cli.modules("numpy")


class Precisions(RunCase):
    def run_of(self, *words, ranks=1, steps=4, batch=6):
        return self.run_and_read("--model", "bn-cnn", "--steps", steps, "--warmup", 0, "--batch-size", batch, "--optimizer", "sgd", "--lr", 0.05,
                                 "--evaluate", "off", "--shuffle", "off", "--overlap-steps", 0, *words, ranks=ranks)[1]

    def test_sixteen_bits_train(self):
        for precision, sync, ranks in (("bf16", "bucketed", 3), ("fp16", "flat", 2)):
            with self.subTest(precision=precision, sync=sync):
                run = self.run_of("--precision", precision, "--sync", sync, "--train-samples", 6 * ranks, ranks=ranks, steps=8)
                self.assertLess(run.losses[-1], run.losses[0])
                for check in ("parameters equal on all ranks", "gradients summed correctly"):
                    self.assertEqual(run.verification[check][0], "passed")
                if precision == "fp16":
                    facts = run.context["training"]
                    self.assertEqual(float(facts["loss_scale"]), 65536 / 2 ** int(facts["skipped_steps"]))
        for words in (("--accumulate", 2), ("--mode", "dp", "--replicas", 2)):
            losses = self.run_of("--precision", "bf16", "--train-samples", 12, *words, steps=8).losses
            self.assertLess(losses[-1], losses[0], words)

    def test_channels_last_jit_and_other_operations_compute_the_same_losses(self):
        """In fp64. Our operations and LibTorch's use equal dropout masks."""
        cnn = ("--model", "mnist-cnn", "--width", 4, "--precision", "fp64")
        for dropout, ops, words in (("on", "libtorch", ("--ops", "libtorch")), ("off", "ranklab", ("--channels-last", "--jit"))):
            reference, run = self.run_of(*cnn, "--dropout", dropout), self.run_of(*cnn, "--dropout", dropout, *words)
            np.testing.assert_allclose(run.losses, reference.losses, rtol=1e-9, err_msg=str(words))
            self.assertEqual((len(set(run.losses)), reference.config["ops"], run.config["ops"]), (4, "ranklab", ops))
        reference = self.run_of("--precision", "fp64", ranks=2)
        for words in (("--channels-last",), ("--jit", "--sync", "flat")):
            np.testing.assert_allclose(self.run_of("--precision", "fp64", *words, ranks=2).losses, reference.losses, rtol=1e-9, err_msg=str(words))

    def test_a_graph_of_sixteen_bits_computes_as_without_one(self):
        """As published for the U-Net: fp16 with JIT."""
        for precision, words in (("bf16", ("--model", "bn-cnn")), ("fp16", ("--model", "mnist-cnn", "--width", 8, "--dropout", "off"))):
            plain, graph = (self.run_of("--precision", precision, *words, *more) for more in ((), ("--jit",)))
            np.testing.assert_allclose(graph.losses, plain.losses, rtol=0.02, err_msg=precision)
            self.assertEqual((graph.config["jit"], graph.config["precision"]), ("true", precision))

    def test_a_resumed_run_goes_on_as_one_piece(self):
        words = ("--precision", "fp16", "--channels-last")
        whole = self.run_of(*words, steps=6)
        self.run_of(*words, "--checkpoint", "c", steps=3)
        rest = self.run_of(*words, "--checkpoint", "c", "--resume", steps=6)
        np.testing.assert_allclose(rest.losses[-3:], whole.losses[-3:], rtol=1e-6)
        for changed in (("--precision", "bf16", "--channels-last"), (*words, "--ops", "libtorch")):
            result = cli.train("--model", "bn-cnn", "--steps", 8, "--checkpoint", "c", "--resume", "--output", "none", *changed, cwd=self.folder)
            self.assertSays(result, 2, changed[-1] if "--ops" in changed else "bf16")

    def test_without_a_gpu(self):
        """CUDA_VISIBLE_DEVICES hides the GPUs of this machine."""
        for words, ranks, code in ((("--device", "cuda", "--mode", "ddp"), 2, 5), (("--device", "cuda", "--mode", "dp"), 1, 5), (("--dry-run",), 1, 0)):
            result = cli.train("--output", "none", *words, ranks=ranks, cwd=self.folder, env=cli.environment(CUDA_VISIBLE_DEVICES=""))
            self.assertSays(result, 5, "GPU", "--device cpu") if code else self.assertIn("\n# device: cpu\n", result.stdout)


class MemoryFormat(RunCase):
    def test_auto_is_as_the_models_document_has_it(self):
        narrow = ("--width", 16, "--image-size", 32)  # too few channels for channels-last
        for words, on in ((("mnist-cnn",), "false"), (("resnet18",), "true"), (("resnet18", "--memory-format", "contiguous"), "false"),
                          (("mnist-cnn", "--memory-format", "channels-last"), "true"), (("resnet18", *narrow), "false")):
            result = cli.train("--dry-run", "--output", "none", "--device", "cpu", "--data", "synthetic",
                               *("--memory-format", "auto") * ("--memory-format" not in words), "--model", *words, cwd=self.folder)
            self.assertIn(f"\n# channels-last: {on}\n", result.stdout, words)


if __name__ == "__main__":
    cli.main()
