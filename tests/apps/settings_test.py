"""Options are settled once: dry run, header and stored run have equal values."""

import json
import re

import ranklab_cli as cli

(h5py,) = cli.modules("h5py")

LINE = re.compile(r"(?m)^# ([a-z0-9-]+): (.*)")
# The header also has these values, which follow from the options.
FACTS = {"parameters", "forward-flops-per-sample", "learning-rate", "ranks", "note", "bytes", "settled-when-the-data-is-read"}
TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--train-samples", 64, "--validation-samples", 8, "--batch-size", 16)


class OneSetOfSettings(cli.Case):
    def check(self, *words, ranks=1, codes=(0,)):
        """Compares the settings of a dry run, a run's header and the stored run, except those that the data or a trial decides."""
        words = (*words, "--threads", 1, "--output", self.folder / "r.h5")
        (self.folder / "r.h5").unlink(missing_ok=True)
        dry, run = (cli.ranklab(*words, option, ranks=ranks, cwd=self.folder) for option in ("--dry-run", "--verbose"))
        self.assertIn(run.code, codes, str(run))
        shown = dict(LINE.findall(run.stdout))
        said_before = {key: value for key, value in LINE.findall(dry.stdout) if key != "memory" and not re.fullmatch("memory-.*-bytes", key)}
        self.assertEqual(said_before, shown)
        self.assertEqual([line for line in dry.stdout.splitlines() if line and not line.startswith("#")], [], "a dry run has the header alone")
        with h5py.File(self.folder / "r.h5") as file:
            (stored,) = (json.loads(one.attrs["config_json"], parse_int=str, parse_float=str) for one in file["runs"].values())
        later = [name for name in shown.get("settled-when-the-data-is-read", "").split(", ") if name]
        self.assertTrue(all(stored.pop(name) and name not in shown for name in later), later)
        of_settings = {key: value for key, value in shown.items() if key not in FACTS or key in stored}
        stored = {key: str(value).replace("True", "true").replace("False", "false")
                  for key, value in stored.items()}
        self.assertEqual(of_settings, stored)
        return shown

    @cli.needs_train
    def test_steps_at_two_ranks(self):
        shown = self.check(*TRAIN, "--steps", 40, "--target-ci", "100000%", ranks=2, codes=(0, 7))  # beside other load even this may not be reached
        self.assertEqual([shown[name] for name in ("mode", "warmup", "target-ci", "global-batch-size")], ["ddp", "4", "100000%", "32"])
        self.assertIn(shown["mpi-progress"], ("none", "poll", "thread"))

    @cli.needs_train
    def test_what_the_samples_decide(self):
        shown = self.check(*TRAIN, "--epochs", 1, "--lr-schedule", "cosine", "--model", "mnist-cnn", "--width", 8)
        self.assertEqual((shown["settled-when-the-data-is-read"], shown["channels-last"], shown["mode"]), ("warmup, lr-total-steps", "false", "single"))

    @cli.needs_train
    def test_an_ablation(self):
        shown = self.check(*TRAIN, "--ablation", "--repetitions", 1)
        self.assertEqual((shown["steps"], shown["warmup"]), ("20", "0"))

    def test_writing_at_two_ranks(self):
        shown = self.check("io", "--files", 2, "--size", 8, "--strategy", "mpi-scatter", "-k", ranks=2)
        self.assertEqual((shown["ceilings"], shown["keep"]), ("off", "true"))


if __name__ == "__main__":
    cli.main()
