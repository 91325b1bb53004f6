"""--ablation and --input: what limits a run is found, told in benchy's lines and JSON, and the parts add up."""

import json
import re
import unittest

import ranklab_cli as cli

cli.need_train()
(h5py,) = cli.modules("h5py")

LINE = re.compile(r"^BENCHY::SUMMARY::([A-Z]+) average trial throughput: (\d+\.\d{3}) \+/- (\d+\.\d{3})$", re.MULTILINE)


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

    def test_all_kinds_of_trials_at_two_ranks(self):
        stdout, tables, names = self.ablate("--steps", 6, "--repetitions", 2, "--benchy-json", self.folder / "benchy.json", ranks=2)
        lines = {label: (float(mean), float(deviation)) for label, mean, deviation in LINE.findall(stdout)}
        self.assertEqual(set(lines), {"IO", "SYNTHETIC", "NOCOMM", "COMPUTE", "FULL"})
        for row in tables["ablation"]:
            self.assertAlmostEqual(lines[row["trial"].decode().upper()][0], row["mean_samples_per_s"], delta=1e-3 * row["mean_samples_per_s"] + 1e-3)
            self.assertEqual((row["trials"], row["steps"]), (2, 6))
        self.assertLessEqual({f"throughput_{kind}_samples_per_s" for kind in ("io", "synthetic", "nocomm", "full")}, names)
        full = next(row for row in tables["ablation"] if row["trial"] == b"full")
        self.assertAlmostEqual(sum(tables["waterfall"]["step_s"]), full["step_time_s"], delta=1e-9)
        self.assertAlmostEqual(sum(tables["waterfall"]["percent"]), 100, delta=1e-6)
        verdicts = {row["check"].decode(): row["result"].decode() for row in tables["verification"]}
        self.assertEqual(verdicts["parameters equal on all ranks"], "passed")
        self.assertEqual(verdicts["first gradient is the plain sum"], "passed")
        benchy = json.loads((self.folder / "benchy.json").read_text())
        self.assertEqual(benchy["nranks"], 2)
        for label in ("IO", "SYNTHETIC", "FULL"):
            self.assertEqual([len(rates) for rates in benchy[label]["rates"]], [6, 6])
            self.assertEqual(len(benchy[label]["trial_throughput"]), 2)
        mean = sum(benchy["FULL"]["trial_throughput"]) / 2
        self.assertAlmostEqual(lines["FULL"][0], mean, delta=1e-3 * mean)

    def test_json_that_cannot_be_written_costs_no_trials(self):
        """What is wrong with its place is said before the trials; a disk that is full after them costs the JSON alone."""
        words = ("train", "--ablation", "--model", "bn-cnn", "--data", "synthetic", "--steps", 2, "--repetitions", 1, "--batch-size", 8,
                 "--threads", 1, "--train-samples", 64, "--output", self.folder / "b.h5")
        for place, code in ((self.folder, 2), (self.folder / "no" / "x.json", 5)):
            result = cli.ranklab(*words, "--benchy-json", place, cwd=self.folder, timeout=120)
            self.assertCode(result, code)
            self.assertNotIn("trial", result.stderr.lower().replace("the ablation's", ""))
            self.assertFalse((self.folder / "b.h5").exists())

    def test_optimizer_states_of_any_strides_are_made_equal(self):
        """After a silent trial rank 0's state goes to all, channels-last ones too."""
        _, tables, _ = self.ablate("--steps", 2, "--repetitions", 1, "--channels-last", "--momentum", 0.9, ranks=2)
        verdicts = {row["check"].decode(): row["result"].decode() for row in tables["verification"]}
        self.assertEqual(verdicts["parameters equal on all ranks"], "passed")

    def test_ranks_that_skip_other_steps_are_made_equal_again(self):
        """In fp16 a silent step may be skipped on one rank alone (inf): scale and momentum, and whether there is one, then differ."""
        for seed in (11, 12, 23):
            words = ("--model", "template-softmax", "--precision", "fp16", "--optimizer", "sgd", "--momentum", 0.9, "--batch-size", 1)
            _, tables, _ = self.ablate("--steps", 3, "--repetitions", 1, "--seed", seed, *words, ranks=2)
            verdicts = {row["check"].decode(): row["result"].decode() for row in tables["verification"]}
            self.assertEqual(verdicts["parameters equal on all ranks"], "passed", seed)

    def test_what_sends_nothing_is_said_as_it_is(self):
        stdout, tables, _ = self.ablate("--steps", 2, "--repetitions", 1, "--sync", "none", ranks=2)
        self.assertEqual([row["trial"] for row in tables["ablation"]], [b"io", b"synthetic", b"full"])
        self.assertIn("no nocomm trials, since --sync none sends nothing", stdout)
        self.assertNotIn("one rank sends nothing", stdout)

    def test_one_rank_has_no_communication_to_leave_out(self):
        stdout, tables, names = self.ablate("--steps", 5)
        self.assertEqual([row["trial"] for row in tables["ablation"]], [b"io", b"synthetic", b"full"])
        self.assertEqual([row["trials"] for row in tables["ablation"]], [3, 3, 3])
        self.assertNotIn("throughput_nocomm_samples_per_s", names)
        self.assertIn("no nocomm trials, since one rank sends nothing", stdout)

    def test_the_limit_is_found(self):
        """Computing limits as it is; reading does when each batch takes 60 ms, and --input synthetic mends exactly that."""
        as_is, _, _ = self.ablate("--steps", 5)
        self.assertRegex(as_is, r"compute limits: \d")
        slow, tables, _ = self.ablate("--steps", 5, "--inject-delay", "0:data:60")
        self.assertRegex(slow, r"input limits: \d")
        lost = {row["part"].decode(): row["step_s"] for row in tables["waterfall"]}
        self.assertGreater(lost["input"], 0.055)

    def test_input_synthetic_and_io_only(self):
        for kind, trains in (("synthetic", True), ("io-only", False)):
            output = self.folder / f"{kind}.h5"
            result = cli.train("--steps", 12, "--input", kind, "--verbose", "--output", output, ranks=2, cwd=self.folder)
            self.assertCode(result, 0)
            with h5py.File(output) as file:
                (run,) = file["runs"].values()
                names = {row["name"].decode() for row in run["measurements"][()]}
            self.assertEqual("train_loss" in names, trains, kind)
            self.assertEqual("forward_time_s" in names, trains, kind)
            self.assertIn("throughput_samples_per_s", names)
        self.assertRegex(result.stdout, r"loss is a number +not verified")

    def test_what_does_not_go_together_is_refused(self):
        for words, part in ((("--benchy-json", "x"), "--ablation"), (("--ablation", "--epochs", 1), "--epochs"),
                            (("--ablation", "--input", "synthetic"), "--input"), (("--input", "io-only", "--checkpoint", "c"), "--checkpoint")):
            self.assertSays(cli.train("--output", "none", *words, cwd=self.folder), 2, part)

    def test_a_json_that_cannot_be_written_is_told(self):
        result = cli.train("--ablation", "--steps", 2, "--benchy-json", self.folder / "no" / "x.json", "--output", "none", cwd=self.folder)
        self.assertSays(result, 5, "x.json", "--benchy-json")


if __name__ == "__main__":
    cli.main()
