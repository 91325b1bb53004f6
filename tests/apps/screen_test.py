"""What stands on a terminal of 80 columns, and what does not: answers, bars, tables, colours. tests/slow/apps/screen_test.py: the orders of
runs that fail, other widths, what takes long. Help and lists: cli_test.py."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

import ranklab_cli as cli
from ranklab_cli import needs_train, ranklab

RUN_LINE = re.compile(r"(?ms)^[a-z0-9-]+: [^:]* verified\s+\(\d{8}T")
COPIED = ("  command line", "Next: ", "Stored as ")  # what people copy stays one line
IO = ("io", "--files", 4, "--size", 20, "--ceilings", "off", "--output", "r.h5")
TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--batch-size", 8, "--output", "r.h5")


class ScreenCase(cli.Case):
    def assertNarrow(self, text, but=()):
        self.assertEqual([line for line in text.splitlines() if len(line) > 80 and not line.startswith((*COPIED, *but))], [])


class AnswerTest(ScreenCase):
    def check(self, words, ranks=1, parts=(), but=()):
        result = ranklab(*words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertNarrow(result.stdout, but)
        self.assertNotIn("\033", result.stdout + result.stderr)
        for part in parts: self.assertIn(part, result.stdout)
        return result.stdout

    def test_of_io(self):
        self.check((*IO, "--strategy", "binary", "-i", 3), parts=("  write ", "  limit ", "  verified "))
        words = (*IO, "--strategy", "text-vectorized,binary,mpi-send", "-i", 3)
        text = self.check(words, ranks=2, parts=("speedup: over text-vectorized, ",))
        first = [line for line in text.splitlines() if not line.startswith("# ")][:10]  # what is the fastest, and what is recommended
        self.assertRegex("\n".join(first), r"\A\n  fastest +\S.*, [\d.]+ (ms|us|s)\s+a\s+job(.*\n)+  best way to write here: ")
        self.check((*words, "--verbose"), ranks=2, but=("# ",), parts=("over previous",))

    def test_quiet_has_a_line_a_run(self):
        result = ranklab(*IO, "--strategy", "text-loop,binary", "--quiet", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertEqual(len(RUN_LINE.findall(result.stdout)), 2, result.stdout)
        self.assertEqual(result.stderr, "")

    def test_of_the_doctor(self):
        text = self.check(("doctor", "--threads", 1), 2, but=("warning: ", "# "))
        self.assertRegex(text, r"(?m)^ +rank +local +host +cores +threads +cpus +GPUs$")
        self.assertEqual(len(re.findall(r"(?m)^ +[01] +[01] +\S+ +\d+ +1 .* \*$", text)), 2)

    @needs_train
    def test_of_a_training(self):
        text = self.check((*TRAIN, "--steps", 5), parts=("  limit ", "  verified ", "5 counted"))
        self.assertNotIn("a first look", text)
        self.check((*TRAIN, "--steps", 5, "--verbose"), 3, but=("# ",), parts=("\nphases\n", "\nverification\n"))
        self.check((*TRAIN, "--steps", 4, "--sync", "flat,bucketed"), 2, parts=("  fastest ", "speedup: over flat, "))


class TerminalTest(ScreenCase):
    def on_a_terminal(self, words, columns=80, stdout=None, **environment):
        """What a terminal of so many columns is sent, of stdout (where it goes nowhere else) and stderr."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([str(word) for word in (cli.RANKLAB, *words)], stdout=stdout or follower, stderr=follower, stdin=subprocess.DEVNULL,
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

    def without_bars(self, text):
        """Of what a terminal is sent."""
        return re.sub(r"\r\033\[K", "", re.sub(r"\r\033\[K[^\r\n]*(?=\r)", "", text.replace("\r\n", "\n")))

    def test_the_lines_of_finished_runs_make_room_for_the_answer(self):
        for order in ("interleaved",):
            code, text = self.on_a_terminal((*IO, "--strategy", "text-loop,binary,hdf5-serial", "--order", order))
            self.assertEqual(code, 0, text)
            before, wiped, after = text.partition("\033[J")
            self.assertTrue(wiped, text)
            lines = self.without_bars(before)
            self.assertEqual(len(RUN_LINE.findall(lines)), 3, text)
            rows = lines[lines.index("text-loop: "):].count("\n")
            self.assertTrue(before.endswith(f"\r\033[{rows}A"), (rows, text))
            self.assertRegex(after.replace("\r\n", "\n"), r"\A\n  fastest ")

    @needs_train
    def test_a_bar_never_wraps(self):
        words = ("train", "--model", "mnist-cnn", "--data", "synthetic", "--batch-size", 8, "--steps", 10, "--threads", 1, "--evaluate", "off",
                 "--output", "none")
        for columns in (50,):
            code, text = self.on_a_terminal(words, columns)
            self.assertEqual(code, 0, text)
            bars = [line for line in self.drawn(text) if " steps  " in line]
            self.assertGreater(len(bars), 1, text)
            self.assertLess(max(map(len, bars)), columns, bars)

    def test_an_error_ends_its_lines_where_the_terminal_does(self):
        words = ("io", "--strategy", "binary", "--files", 2, "--size", 4, "--workers", 3, "--output", "none", "--sweep-workers", "1,2", "--cold", "-k",
                 "--time-limit", "much")
        for columns in (80, 40):
            code, text = self.on_a_terminal(words, columns)
            self.assertEqual(code, 2, text)
            lines = text.splitlines()
            self.assertGreater(len(lines), 1, text)
            self.assertLessEqual(max(map(len, lines)), columns, lines)
        result = ranklab(*words, cwd=self.folder)
        self.assertEqual((result.code, len(result.stderr.splitlines())), (2, 1), "who reads a pipe reads a sentence a line")
        self.assertEqual(" ".join(result.stderr.split()), " ".join(text.split()))

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


if __name__ == "__main__":
    cli.main()
