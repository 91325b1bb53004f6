"""What stands on a terminal of 80 columns, and what does not: help, bars, answers, tables, colours."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading

import ranklab_cli as cli
from ranklab_cli import needs_train, ranklab

COLUMNS = 80
PROGRAMS = [("io",), ("doctor",), ("report",), ("compare",), ("results", "list"), ("results", "merge"), ("data", "make", "cosmology"),
            ("data", "make", "mnist"), ("data", "verify"), ("data", "convert")] + ([("train",)] if cli.HAS_TRAIN else [])
IO = ("io", "--files", 4, "--size", 20, "--output", "r.h5")
TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--batch-size", 8, "--output", "r.h5")


class ScreenCase(cli.Case):
    def assertNarrow(self, text, but=()):
        wide = [line for line in text.splitlines() if len(line) > COLUMNS and not line.startswith(tuple(but))]
        self.assertEqual(wide, [])


class HelpTest(ScreenCase):
    def test_help_fits(self):
        results = cli.several(lambda words: ranklab(*words, "--help"), [(), *PROGRAMS])
        for words, result in zip([(), *PROGRAMS], results):
            with self.subTest(command=words):
                self.assertCode(result, 0)
                self.assertNarrow(result.stdout)

    def test_every_option_and_choice_is_there(self):
        text = ranklab("io", "--help").stdout
        self.assertRegex(text, r"(?m)^  --layout files\|single +a dataset per record,")
        self.assertRegex(text, r"(?m)^  -n \[ --files \] N +records: ")


class AnswerTest(ScreenCase):
    COPIED = ("  command line", "Next: ", "Stored as ")  # what people copy stays one line

    def check(self, words, ranks=1, parts=(), but=()):
        result = ranklab(*words, ranks=ranks, cwd=self.folder, timeout=180)
        self.assertCode(result, 0)
        self.assertNarrow(result.stdout, (*self.COPIED, *but))
        self.assertNotIn("\033", result.stdout + result.stderr)
        for part in parts:
            self.assertIn(part, result.stdout)
        return result

    def report(self):
        for run in re.findall(r"\d{8}T\d{6}Z-[0-9a-f]{6}", ranklab("results", "list", "r.h5", cwd=self.folder).stdout):
            report = ranklab("report", "r.h5", "--run", run, cwd=self.folder)
            self.assertCode(report, 0)
            self.assertNarrow(report.stdout, self.COPIED)

    def test_of_one_strategy(self):
        self.check((*IO, "--strategy", "binary", "-i", 7), parts=("  write ", "  limit ", "  verified      yes: ", "Next: "))
        self.report()

    def test_of_several_strategies(self):
        result = self.check((*IO, "--strategy", "text-vectorized,binary,mpi-send,hdf5-serial", "-i", 6), ranks=2)
        self.assertEqual(len(re.findall(r"(?ms)^[a-z0-9-]+: [^:]* verified\s+\(\d{8}T", result.stdout)), 4, "a sentence a run")
        self.assertRegex(result.stdout, r"(?m)^  fastest +\S.*, [\d.]+ (ms|us|s)\s+a\s+job")
        self.assertIn("speedup: over text-vectorized, ", result.stdout)
        self.assertNotIn("over previous", result.stdout, "that is for --verbose")
        self.check((*IO, "--strategy", "text-vectorized,binary,mpi-send,hdf5-serial", "--verbose"), ranks=2, but=("# ",), parts=("over previous",))
        self.report()

    @needs_train
    def test_of_a_training(self):
        for ranks in (1, 2):
            self.check((*TRAIN, "--steps", 20), ranks, parts=("  limit ", "  verified      yes: "))
        self.check((*TRAIN, "--steps", 20, "--verbose"), 2, but=("# ",), parts=("\nphases\n", "\nverification\n", "  computing     1 thread a rank\n"))
        self.check((*TRAIN, "--steps", 4, "--sync", "flat,bucketed"), 2, parts=("  fastest ", "speedup: over flat, "))
        self.report()

    @needs_train
    def test_without_a_length_there_is_a_first_look(self):
        result = self.check(TRAIN, parts=("# steps: 100\n", "a first look of 100 steps"))
        self.assertIn("100 counted", result.stdout)
        for words in (("--steps", 3), ("--epochs", 1, "--train-samples", 24)):
            self.assertNotIn("a first look", self.check((*TRAIN, *words)).stdout)


class TerminalTest(ScreenCase):
    def on_a_terminal(self, words, columns=COLUMNS, **environment):
        """What a terminal of so many columns is sent, of stdout and stderr."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([str(word) for word in (cli.RANKLAB, *words)], stdout=follower, stderr=follower, stdin=subprocess.DEVNULL,
                                   env=cli.environment(**{"TERM": "xterm", "NO_COLOR": None} | environment), cwd=self.folder)
        os.close(follower)
        shown = bytearray()

        def read():
            try:
                while chunk := os.read(leader, 65536):
                    shown.extend(chunk)
            except OSError:
                pass  # Linux's way to say that the other end is closed

        reader = threading.Thread(target=read)
        reader.start()
        code = process.wait(timeout=120 * cli.patience())
        reader.join()
        os.close(leader)
        return code, shown.decode()

    def drawn(self, text):
        """What stood on one line, whether it stayed or not."""
        return [re.sub(r"\033\[[0-9;]*[mK]", "", part) for part in re.split(r"[\r\n]+", text)]

    @needs_train
    def test_a_bar_never_wraps(self):
        words = ("train", "--model", "mnist-cnn", "--data", "synthetic", "--batch-size", 8, "--steps", 60, "--threads", 1, "--evaluate", "off",
                 "--output", "none")
        for columns in (80, 50):
            code, text = self.on_a_terminal(words, columns)
            self.assertEqual(code, 0, text)
            bars = [line for line in self.drawn(text) if " steps  " in line]
            self.assertGreater(len(bars), 1, text)
            self.assertLess(max(map(len, bars)), columns, bars)

    def test_colours_are_for_warnings_and_verdicts_alone(self):
        words = ("io", "--strategy", "binary", "--files", 2, "--size", 4, "--write-only", "--output", "none", "--time-limit", 0.001, "-i", 1000000)
        code, text = self.on_a_terminal(words)
        self.assertNotEqual(code, 0)
        self.assertRegex(text, "\033\\[[0-9;]+m(INVALID|warning)\033\\[0m")
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            _, text = self.on_a_terminal(words, **environment)
            self.assertNotIn("m", re.findall(r"\033\[[0-9;]*([a-zA-Z])", text), environment)
        result = ranklab(*words, cwd=self.folder)
        self.assertNotIn("\033", result.stdout + result.stderr, "no terminal")


@needs_train
class ActivityTest(ScreenCase):
    def test_what_takes_long_says_what_it_is(self):
        """An evaluation of tens of seconds, and none of its lines where --quiet asks for silence."""
        words = ("train", "--model", "mnist-cnn", "--data", "synthetic", "--steps", 1, "--warmup", 0, "--batch-size", 4, "--threads", 1,
                 "--eval-batch-size", 1, "--validation-samples", 30000, "--output", "none", "--memory-format", "contiguous")
        result = ranklab(*words, cwd=self.folder, timeout=300)
        self.assertCode(result, 0)
        self.assertRegex(result.stderr, r"(?m)^now: evaluating the test samples, \d+ s$")
        self.assertNotIn("now: ", result.stdout)
        self.assertNotIn("now: ", ranklab(*words, "--quiet", cwd=self.folder, timeout=300).stderr)


if __name__ == "__main__":
    sys.exit(cli.main())
