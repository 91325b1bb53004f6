"""Precisions and speed options with every --sync."""

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
                    for check in ("parameters equal on all ranks", "gradients summed correctly"):
                        self.assertEqual(run.verification[check][0], "passed")


if __name__ == "__main__":
    cli.main()
