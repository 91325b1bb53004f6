"""Training runs: progress lines every five seconds, and --sync none with --accumulate."""

import re

import ranklab_cli as cli
from ranklab_cli import train
from stored_runs import RunCase

cli.need_train()
(np,) = cli.modules("numpy")


class TrainRun(RunCase):
    def test_plain_progress_lines_go_to_stderr_where_it_is_no_terminal(self):
        result = train("--steps", 1000000, "--time-limit", 6, "--output", "none", cwd=self.folder)
        self.assertCode(result, 6)
        lines = [line for line in result.said if re.match(r"\d+/1000010 steps  \d+ samples/s  epoch \d+ loss [\d.]+  .+ left$", line)]
        self.assertEqual(len(lines), 1, str(result))
        self.assertNotIn("left", result.stdout)
        self.assertNotIn("\r", result.stderr)

    def test_a_rank_that_trains_alone_takes_the_mean_of_its_own_samples(self):
        """20 samples per rank: micro-batches of 4, two per step, equal batches of 8; the last step of the epoch has 4 samples."""
        def trained(name, *words):
            self.run_and_read("--data", "mnist", "--data-dir", cli.make_idx(self.folder / name, 40, 4), "--sync", "none", "--shuffle", "off", "--precision", "fp64",
                              "--optimizer", "sgd", "--lr", 0.3, "--epochs", 1, "--warmup", 0, "--evaluate", "off", "--save-parameters", f"{name}.p.h5", *words, ranks=2)
            return self.parameters(self.folder / f"{name}.p.h5")

        micro, whole = trained("micro", "--batch-size", 4, "--accumulate", 2), trained("whole", "--batch-size", 8)
        for name, values in whole.items():
            np.testing.assert_allclose(micro[name], values, rtol=1e-9, atol=1e-12)


if __name__ == "__main__":
    cli.main()
