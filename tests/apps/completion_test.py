"""Completion in bash, generated from the options that --help shows. zsh: tests/slow/apps/zsh_test.py."""

import re
import shutil
import subprocess
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab

PROGRAMS = [name for name in ("train", "io", "comm", "data", "doctor", "report", "compare", "predict", "sweep", "campaign", "results") if (cli.BIN / f"ranklab-{name}").exists()]


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is not installed")


def options_in_help(*words):
    return set(re.findall(r"^  (?:-\w \[ )?--([a-z-]+)", ranklab(*words, "--help", "all").stdout, re.MULTILINE))


@needs("bash")
class BashTest(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.script = ranklab("completion", "bash").stdout

    def complete(self, *words):
        """Returns COMPREPLY after these words, split at = as bash does; the last word is incomplete."""
        cut = [part for word in words for part in (re.split("(=)", word) if word.startswith("--") else [word])]
        program = f"{self.script}\nCOMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n_ranklab\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(["bash", "--norc", "-euc", program, "bash", *cut], capture_output=True, text=True, cwd=self.folder, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.split("\n")[:-1] if done.stdout.strip() else []

    def test_all_options_of_every_program(self):
        for words in (["train"], ["io"], ["comm"], ["report"], ["data", "make", "mnist"], ["results", "prune"], ["sweep", "io"]):
            if words[0] in PROGRAMS:
                offered = {option.removeprefix("--") for option in self.complete("ranklab", *words, "--")}
                self.assertEqual(offered, options_in_help(*words))
                self.assertGreater(len(offered), 3)

    def test_commands_verbs_values_and_files(self):
        for name in ("runs of may.h5", "other.ini"): (self.folder / name).touch()
        (self.folder / "rundir").mkdir()
        self.assertEqual(set(self.complete("ranklab", "")), {*PROGRAMS, "completion", *(() if cli.HAS_TRAIN else ("train",))})
        for typed, offered in {("/opt/x/bin/ranklab", "comp"): ["compare", "completion"], ("ranklab", "completion", "z"): ["zsh"],
                               ("ranklab", "data", ""): ["make", "verify", "convert"], ("ranklab-data", "make", "c"): ["cosmology", "cifar100"],
                               ("ranklab", "io", "--layout="): ["files", "single"], ("ranklab", "io", "--layout", "s"): ["single"],
                               ("ranklab-compare", "--format", "mark"): ["markdown"], ("ranklab", "io", "-n", ""): [],
                               ("ranklab", "io", "--strategy", "binary,text-l"): ["binary,text-loop"],
                               ("ranklab", "io", "--cold", "--lay"): ["--layout"], ("ranklab", "io", "--size", "10", "--lay"): ["--layout"],
                               ("ranklab", "io", "--directory", "run"): ["rundir"]}.items():
            self.assertEqual(self.complete(*typed), offered, typed)
        self.assertEqual(sorted(self.complete("ranklab", "report", "run")), ["rundir", "runs of may.h5"])

    @needs_train
    def test_values_of_train(self):
        self.assertIn("resnet50", self.complete("ranklab", "train", "--model", "res"))
        self.assertIn("bucketed", self.complete("ranklab-train", "--sync=b"))


if __name__ == "__main__":
    cli.main()
