"""Progress bars, lines and colours on a terminal of 80 columns and on a dumb terminal."""

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
TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--batch-size", 8, "--output", "r.h5")


class ScreenCase(cli.Case):
    def assertNarrow(self, text, but=()):
        wide = [line for line in text.splitlines() if len(line) > COLUMNS and not line.startswith(tuple(but))]
        self.assertEqual(wide, [])


class TerminalTest(ScreenCase):
    def on_a_terminal(self, words, columns=COLUMNS, stdout=None, **environment):
        """Returns the exit code and the text on a terminal of `columns` columns: stderr, and stdout unless `stdout` redirects it."""
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
                pass  # on Linux: the other end is closed

        reader = threading.Thread(target=read)
        reader.start()
        code = process.wait(timeout=120 * cli.patience())
        reader.join()
        os.close(leader)
        return code, shown.decode()

    def drawn(self, text):
        """Returns all texts that were shown on a line, overwritten ones too."""
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

    @needs_train
    def test_a_dumb_terminal_gets_lines(self):
        words = ("train", "--model", "mnist-cnn", "--data", "synthetic", "--batch-size", 8, "--steps", 20, "--threads", 1, "--evaluate", "off",
                 "--output", "none")
        for kind in ("dumb", ""):
            code, text = self.on_a_terminal(words, TERM=kind)
            self.assertEqual(code, 0, text)
            self.assertNotIn("\033", text, repr(kind))
            self.assertNotIn("\r", text.replace("\r\n", "\n"), repr(kind))
        self.assertIn("\033[K", self.on_a_terminal(words, TERM="xterm", NO_COLOR="1")[1], "a bar is no colour")

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
    sys.exit(cli.main())
