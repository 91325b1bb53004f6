"""The short form of docs/fuzzing.md, and that the driver sees what it is there to see."""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs  # noqa: E402
import ranklab_cli as cli  # noqa: E402

TESTS = cli.BIN.parent / "tests"
FUZZ = TESTS / "ranklab_fuzz"
FUZZ_TRAIN = TESTS / "ranklab_fuzz_train"
# A seed of its own for who wants to look further; the same one otherwise, so that a failure is there again.
SEED = os.environ.get("RANKLAB_FUZZ_SEED", "1")
COUNTS = {"results": 400, "texts": 200, "checkpoint": 600, "volume": 300, "npy": 800, "idx": 200, "cifar": 400, "config": 1500,
          "words": 1000}


# What other seeds found: (format, seed, number).
FOUND = (
    ("results", 2028, 19),  # a run that could be read and not copied: sound to `check`, refused by `export`
    ("results", 2029, 403),
    ("results", 7001, 208),  # a link that cannot be decoded: HDF5 freed what it had not filled
    ("results", 7001, 305),
    ("results", 1, 303),  # HDF5 reads all of it, and makes no further group in it: export does
    ("results", 1, 349),  # texts of characters of many bytes: the library took their size for the text's
    ("results", 2, 45),
    ("results", 5, 197),
)


class ShortForm(cli.Case):
    def fuzz(self, program, name, count):
        result = cli.run(program, name, "--count", count, "--seed", SEED, "--keep", self.folder / "found", timeout=600,
                         cwd=self.folder)
        self.assertCode(result, 0)

    def test_files_and_texts(self):
        for name, count in COUNTS.items():
            with self.subTest(name):
                self.fuzz(FUZZ, name, count)

    def test_what_was_found_before(self):
        for name, seed, number in FOUND:
            with self.subTest(f"{name} {seed} {number}"):
                result = cli.run(FUZZ, name, "--seed", seed, "--first", number, "--count", 1, timeout=600, cwd=self.folder)
                self.assertCode(result, 0)

    def test_options_of_train(self):
        if not FUZZ_TRAIN.exists():
            self.skipTest("this build has no LibTorch")
        for name in ("config", "words"):
            with self.subTest(name):
                self.fuzz(FUZZ_TRAIN, name, 1000)

    def test_whole_programs(self):
        self.assertEqual(programs.main(["--count", "60", "--seed", SEED]), 0)


class TheDriver(cli.Case):
    def test_sees_every_kind_of_fault(self):
        found = self.folder / "found"
        result = cli.run(FUZZ, "planted", "--count", "60", "--seed", "5", "--cpu-limit", "0.5", "--memory-limit", "60",
                         "--keep", found, timeout=600, cwd=self.folder)
        self.assertCode(result, 1)
        for fault, letter in (("crash", "c"), ("hang", "h"), ("exit code", "i"), ("memory", "m"), ("sentence", "s"),
                              ("exit code", "u"), ("sentence", "q")):
            self.assertRegex(result.stdout, rf"(?m)^planted --seed 5 --first \d+ --count 1: {fault}: planted {letter}")
        self.assertRegex(result.stdout, r"(?m)^planted: HDF5 crashed on \d+ of them, and a sentence said so: \d")
        self.assertNotIn("planted t", result.stdout)
        self.assertRegex(result.stdout, r"planted: 60 inputs of seed 5 in ")

    def test_makes_a_mutant_again(self):
        found = self.folder / "found"
        once = [FUZZ, "planted", "--seed", "3", "--cpu-limit", "0.5", "--keep", found]
        first = cli.run(*once, "--count", "40", timeout=600, cwd=self.folder)
        self.assertCode(first, 1)
        for number, kind in re.findall(r"--first (\d+) --count 1: ([\w ]+):", first.stdout):
            again = cli.run(*once, "--count", "1", "--first", number, timeout=600, cwd=self.folder)
            self.assertCode(again, 1)
            self.assertIn(f"--first {number} --count 1: {kind}:", again.stdout)
            self.assertTrue((found / f"planted-3-{number}.txt").exists())


if __name__ == "__main__":
    cli.main()
