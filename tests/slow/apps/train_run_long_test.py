"""More of whole training runs: five jobs into one file, several runs as JSON, progress lines every five seconds, real images, and a rank
that trains alone."""

import json
import pathlib
import re

import ranklab_cli as cli
from ranklab_cli import ranklab, train
from stored_runs import RunCase, stored_runs

cli.need_train()
h5py, np = cli.modules("h5py", "numpy")

FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")


class FileTest(RunCase):
    def test_jobs_that_end_together_are_all_stored(self):
        jobs = [self.start(cli.RANKLAB, "train", "--model", "template-softmax", "--threads", "1", "--steps", "5", "--output", "r.h5", "--label", str(i))
                for i in range(5)]
        for job in jobs:
            self.assertCode(job.finish(), 0)
        self.assertEqual(sorted(run.attrs["label"] for run in stored_runs(self.folder / "r.h5")), list("01234"))
        self.assertEqual(self.names(), ["r.h5"])


class ScreenTest(RunCase):
    def test_json_is_all_of_stdout(self):
        """Of one run, of several with the one that compares them, of an invalid one whose exit code stays."""
        several = ("--steps", 4, "--sync", "flat,bucketed")
        for words, ranks, code, runs, output in (((), 1, 0, 1, "one.h5"), (several, 2, 0, 3, "several.h5"), (several, 2, 0, 3, "none"),
                                                 (("--optimizer", "sgd", "--lr", "1e38", "--steps", 60), 1, 3, 1, "bad.h5")):
            with self.subTest(words=words, output=output):
                result = train(*(words or ("--steps", 4)), "--json", "--output", output, ranks=ranks, cwd=self.folder)
                self.assertCode(result, code)
                document = json.loads(result.stdout)
                self.assertEqual(len(document["runs"]), runs)
                self.assertEqual(document["runs"][0]["exit_code"], code)
                if output != "none":
                    stored = json.loads(ranklab("report", output, "--format", "json", cwd=self.folder).stdout)
                    self.assertEqual(sorted(document["runs"], key=lambda run: run["id"]), sorted(stored["runs"], key=lambda run: run["id"]))

    def test_plain_progress_lines_go_to_stderr_where_it_is_no_terminal(self):
        result = train("--steps", 1000000, "--time-limit", 6, "--output", "none", cwd=self.folder)
        self.assertCode(result, 6)
        lines = [line for line in result.said if re.match(r"\d+/1000010 steps  \d+ samples/s  epoch \d+ loss [\d.]+  .+ left$", line)]
        self.assertEqual(len(lines), 1, str(result))
        self.assertNotIn("left", result.stdout)
        self.assertNotIn("\r", result.stderr)


class MathematicsTest(RunCase):
    """What must not depend on the number of ranks."""

    def data(self, n_train=131, n_test=101):
        folder = self.folder / "data"
        return ("--data", "mnist", "--data-dir", folder if folder.exists() else cli.make_idx(folder, n_train, n_test))

    def losses(self, run):
        return np.concatenate([run.warmup.get("train_loss", np.empty(0)).ravel(), run.samples["train_loss"].ravel()])

    def test_the_same_losses_at_one_two_and_three_ranks(self):
        """Global batch 66, the published network, real images where they are installed."""
        data = ("--data", "fashion-mnist") if FASHION_MNIST.exists() else ("--data", "synthetic")
        losses = []
        for ranks in (1, 2, 3):
            _, run = self.run_and_read("--model", "mnist-cnn", *data, "--batch-size", 66 // ranks, "--steps", 20, "--warmup", 0, "--dropout", "off",
                                       "--precision", "fp64", "--optimizer", "sgd", "--evaluate", "off", "--check-parameters", "step", ranks=ranks)
            losses.append(self.losses(run))
            self.assertEqual(len(losses[-1]), 20)
            self.assertGreater(losses[0][0], losses[-1][-1], "it learns")
            if ranks > 1:
                self.assertEqual(run.verification["parameters equal on all ranks"][0], "passed")
        np.testing.assert_allclose(losses[1], losses[0], rtol=1e-9, atol=0)
        np.testing.assert_allclose(losses[2], losses[0], rtol=1e-9, atol=0)

    def test_a_rank_that_trains_alone_takes_the_mean_of_its_own_samples(self):
        """20 samples a rank: five micro-batches of 4, of which an epoch's last step of two has one, as a batch of 8 has 4 left."""
        def trained(name, *words):
            self.run_and_read(*self.data(40, 4), "--sync", "none", "--shuffle", "off", "--precision", "fp64", "--optimizer", "sgd", "--lr", 0.3,
                              "--epochs", 1, "--warmup", 0, "--evaluate", "off", "--save-parameters", self.folder / name, *words, ranks=2)
            with h5py.File(self.folder / name) as file:
                return {parameter: data[()] for parameter, data in file.items()}

        micro = trained("micro.h5", "--batch-size", 4, "--accumulate", 2)
        whole = trained("whole.h5", "--batch-size", 8)
        for name, values in whole.items():
            np.testing.assert_allclose(micro[name], values, rtol=1e-9, atol=1e-12)

    def test_more_ranks_than_samples_in_the_last_batch(self):
        """exact, 7 samples on 3 ranks with batch 2: in the second step two ranks have nothing left."""
        _, run = self.run_and_read(*self.data(7, 4), "--sharding", "exact", "--batch-size", 2, "--epochs", 3, "--warmup", 0, "--precision", "fp64",
                                   "--check-parameters", "step", ranks=3)
        self.assertEqual(run.tables["epochs"]["samples"], [7, 7, 7])
        self.assertEqual(run.verification["parameters equal on all ranks"][0], "passed")
        _, alone = self.run_and_read(*self.data(), "--sharding", "exact", "--batch-size", 6, "--epochs", 3, "--warmup", 0, "--precision", "fp64")
        np.testing.assert_allclose(self.losses(run), self.losses(alone), rtol=1e-9, atol=0)

    def test_first_step_gradients_in_fp32_are_those_of_one_rank(self):
        """SGD with rate 1 subtracts the gradient from the parameters: their difference is the gradient."""
        if "--save-parameters" not in ranklab("train", "--help").stdout:
            self.skipTest("this ranklab train has no --save-parameters")

        def parameters(lr, ranks):
            path = self.folder / f"p{lr}-{ranks}.h5"
            self.run_and_read("--model", "mnist-cnn", *self.data(), "--batch-size", 66 // ranks, "--steps", 1, "--warmup", 0, "--dropout", "off",
                              "--optimizer", "sgd", "--lr", lr, "--lr-schedule", "none", "--evaluate", "off", "--save-parameters", path, ranks=ranks)
            with h5py.File(path) as file:
                return {name: file[name][()] for name in file}

        start = parameters(0, 1)
        gradients = {ranks: {name: start[name] - value for name, value in parameters(1, ranks).items()} for ranks in (1, 2, 3)}
        for ranks in (2, 3):
            for name, gradient in gradients[1].items():
                norm = np.linalg.norm(gradient)
                self.assertGreater(norm, 0, name)
                self.assertLess(np.linalg.norm(gradients[ranks][name] - gradient) / norm, 1e-5, f"{name} at {ranks} ranks")


if __name__ == "__main__":
    cli.main()
