"""The commands of docs/tutorials and of the README, typed as they stand, in order, on short data; and the lines that they quote.

A fence says what is done with its block:
    sh          typed into a shell, in one folder a page; it has to succeed
    sh setup    not typed: what brought this build here
    sh gpu      each training is asked for as a dry run, which needs no GPU
    sh slurm    job scripts have to be there; `srun` starts its command as a dry run
    text        lines that the output of the block before has, in this order: `...` stands for anything, a number for any number"""

import os
import re
import shlex

import ranklab_cli as cli

PAGES = sorted((cli.SOURCE / "docs" / "tutorials").glob("[!R]*.md")) + [cli.SOURCE / "README.md"]
FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|n/a|nan|inf)"
IMAGES = (1280, 256)  # training and test images


def pattern_of(line):
    """A quoted line as a regular expression."""
    parts = re.split(r"(\.\.\.|\s+|(?<![\w.-])[-+]?\d[\d.]*(?:e[-+]?\d+)?(?![\w-]))", line.strip())
    made = []
    for part in parts:
        if part == "...": made.append(r".*")
        elif part.isspace(): made.append(r"\s+")
        elif re.fullmatch(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?", part): made.append(NUMBER)
        else: made.append(re.escape(part))
    return re.compile(r"^\s*" + "".join(made).replace(r"\s+.*", r"(?:\s.*)?") + r"\s*$")


def missing_lines(quoted, output):
    """Those that are not there, or not behind the one before."""
    lines, at, missing = output.splitlines(), 0, []
    for quote in filter(str.strip, quoted.splitlines()):
        pattern = pattern_of(quote)
        found = next((i for i in range(at, len(lines)) if pattern.match(lines[i])), None)
        if found is None: missing.append(quote)
        else: at = found + 1
    return missing


def commands_of(block):
    """Its lines, with those joined that end in a backslash; without comments."""
    joined = block.replace("\\\n", " ")
    return [line for line in (shlex.split(one, comments=True) for one in joined.splitlines()) if line]


class QuotesTest(cli.Case):
    """The test itself: a line that is not there is missed."""

    def test_numbers_differ_and_words_do_not(self):
        output = "  threads  runs  epoch_time_s\n  1           1         2.628\n  2           1         1.679\n"
        self.assertEqual(missing_lines("  threads  runs  epoch_time_s\n  1  1  99.5", output), [])
        self.assertEqual(missing_lines("threads ...\n2 ...", output), [])
        self.assertEqual(missing_lines("threads  epoch_time_s", output), ["threads  epoch_time_s"])
        self.assertEqual(missing_lines("ranks ...", output), ["ranks ..."])
        self.assertEqual(missing_lines("1 ...\nthreads ...", output), ["threads ..."], "not in this order")


class PageTest(cli.Case):
    def setUp(self):
        super().setUp()
        for name in ("configs", "jobscripts", "docs"): (self.folder / name).symlink_to(cli.SOURCE / name)
        self.env = cli.environment(PATH=f"{cli.BIN}:{os.environ['PATH']}", RANKLAB_DATA=self.images(), OMP_NUM_THREADS=None)

    def images(self):
        folder = self.folder / "images"
        train, test = IMAGES
        made = cli.ranklab("data", "make", "mnist", folder, "--train", train, "--test", test, "--quiet")
        self.assertCode(made, 0)
        return folder

    def shell(self, script):
        return cli.run("bash", "-ec", script, cwd=self.folder, env=self.env, timeout=300)

    def typed(self, page, block):
        result = self.shell(cli.LAUNCHER.translated(block))
        self.assertEqual(result.code, 0, f"{page}:\n{block}\n{result}")
        return result.stdout + result.stderr

    def dry(self, page, words):
        """A command for another machine: its options are right, and its files are there."""
        if words[0] == "sbatch":
            script = next(word for word in words if word.endswith(".slurm"))
            result = cli.run("bash", "-n", cli.SOURCE / script)
            return self.assertEqual(result.code, 0, f"{page}: {script}")
        if words[0] == "srun": words = ["mpirun", *cli.LAUNCHER.crowded, *words[1:]]
        if "train" not in words and "io" not in words: return None
        result = cli.run(*words, "--dry-run", "--output", "none", cwd=self.folder, env=self.env)
        return self.assertIn(result.code, (0, 5), f"{page}: {shlex.join(words)}\n{result}")

    def follow(self, path):
        """All blocks of a page."""
        output = ""
        for kind, block in FENCE.findall(path.read_text()):
            with self.subTest(page=path.name, block=block):
                if kind == "sh": output = self.typed(path.name, block)
                elif kind in ("sh gpu", "sh slurm"):
                    for words in commands_of(block): self.dry(path.name, words)
                elif kind == "text":
                    missing = missing_lines(block, output)
                    self.assertEqual(missing, [], f"{path.name}: not in\n{output}")
                else: self.assertEqual(kind, "sh setup", f"{path.name} has a block of an unknown kind")


def test_of(path):
    return lambda self: self.follow(path)


for one in PAGES: setattr(PageTest, f"test_{one.stem}", test_of(one))

if __name__ == "__main__":
    cli.main()
