"""More of --ablation: the limit of a run, and seeds at which ranks skip different steps."""

import ranklab_cli as cli

cli.need_train()
(h5py,) = cli.modules("h5py")


class AblationTest(cli.Case):
    def ablate(self, *words, ranks=1):
        output = self.folder / "a.h5"
        output.unlink(missing_ok=True)
        usual = {"--model": "bn-cnn", "--batch-size": 16}
        given = [word for option, value in usual.items() if option not in words for word in (option, value)]
        result = cli.ranklab("train", "--ablation", "--data", "synthetic", "--threads", 1, "--train-samples", 4000, "--output", output, *given, *words,
                             ranks=ranks, cwd=self.folder, timeout=240)
        self.assertCode(result, 0)
        with h5py.File(output) as file:
            (run,) = file["runs"].values()
            tables = {name: table[()] for name, table in run["tables"].items()}
            names = {row["name"].decode() for row in run["measurements"][()]}
            return result.stdout, tables, names

    def test_ranks_that_skip_other_steps_are_made_equal_again(self):
        """In fp16 an inf without communication makes a single rank skip its step: then the loss scale and momentum differ between ranks."""
        for seed in (11, 12, 23):
            words = ("--model", "template-softmax", "--precision", "fp16", "--optimizer", "sgd", "--momentum", 0.9, "--batch-size", 1)
            _, tables, _ = self.ablate("--steps", 3, "--repetitions", 1, "--seed", seed, *words, ranks=2)
            verdicts = {row["check"].decode(): row["result"].decode() for row in tables["verification"]}
            self.assertEqual(verdicts["parameters equal on all ranks"], "passed", seed)

    def test_what_sends_nothing_is_said_as_it_is(self):
        _, tables, _ = self.ablate("--steps", 2, "--repetitions", 1, "--sync", "none", ranks=2)
        self.assertEqual([row["trial"] for row in tables["ablation"]], [b"io", b"synthetic", b"full"])

    def test_the_largest_part_is_found(self):
        """Computation; with 60 ms more to read each batch input, which the trial without input saves."""
        for words, part in (((), "compute"), (("--inject-delay", "0:data:60"), "input")):
            _, tables, _ = self.ablate("--steps", 5, *words)
            lost = {row["part"].decode(): row["step_s"] for row in tables["waterfall"]}
            self.assertEqual(max(("compute", "input"), key=lost.get), part, lost)
        self.assertGreater(lost["input"], 0.055)


if __name__ == "__main__":
    cli.main()
