"""Answers and tables on a terminal of 80 columns. Bars, colours, dumb terminals and runs that fail: tests/slow/apps/screen_test.py.
Help and lists: cli_test.py."""

import re

import ranklab_cli as cli
from ranklab_cli import needs_train, ranklab

RUN_LINE = re.compile(r"(?m); \d{8}T\S+ in r\.h5$")
COPIED = ("  typed", "  next", "  stored")  # commands to copy stay on one line
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
        self.check((*IO, "--strategy", "binary", "-i", 3), parts=("  write ", "  breakdown ", "  verified "))
        words = (*IO, "--strategy", "text-vectorized,binary,mpi-send", "-i", 3)
        text = self.check(words, ranks=2, parts=("  result ",))
        self.assertRegex(text, r"(?m)^  strategy +job time +write +read$")
        self.check((*words, "--verbose"), ranks=2, but=("# ",), parts=("over text-vectorized, ",))

    def test_quiet_has_a_line_a_run(self):
        result = ranklab(*IO, "--strategy", "text-loop,binary", "--quiet", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertEqual(len(RUN_LINE.findall(result.stdout)), 3, result.stdout)  # two strategies and the summary run
        self.assertEqual(result.stderr, "")

    def test_of_the_doctor(self):
        text = self.check(("doctor", "--threads", 1), 2, but=("warning: ", "# "))
        self.assertRegex(text, r"(?m)^ +rank +local +host +cores +threads +cpus +numa +gpu$")
        self.assertEqual(len(re.findall(r"(?m)^ +[01] +[01] +\S+ +\d+ +1 ", text)), 2)

    @needs_train
    def test_of_a_training(self):
        text = self.check((*TRAIN, "--steps", 5), parts=("  breakdown ", "  verified ", "5 counted"))
        self.assertNotIn("steps, the default", text)
        self.check(TRAIN, parts=("# steps: 100\n", "only 100 steps, the default", "100 counted"))
        self.check((*TRAIN, "--steps", 5, "--verbose"), 3, but=("# ",), parts=("\nMeasurements\n", "\nverification\n"))


if __name__ == "__main__":
    cli.main()
