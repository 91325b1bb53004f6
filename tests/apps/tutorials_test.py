"""Runs the commands of docs/tutorials and of the README in order, with small sizes (SMALLER) and data, and compares quoted output.

The word of a fence says how its block is used:
    sh          run by a shell, in one folder per page; exit code 0
    sh setup    not run: it made this build, or needs packages that the tests lack
    sh gpu      each training as a dry run, without a GPU
    sh slurm    job scripts must exist; `srun` starts its command as a dry run
    text        lines of the preceding block's output, in this order: `...` matches anything, a number any number"""

import os
import re
import shlex
import sys

import ranklab_cli as cli

PAGES = sorted((cli.SOURCE / "docs" / "tutorials").glob("[!R]*.md")) + [cli.SOURCE / "README.md"]
FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = r"[-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|n/a|nan|inf)"
IMAGES = (64, 16)  # training and test images
SMALLER = ((r"--steps \d+", "--steps 7"), (r"--repetitions \d+", "--repetitions 1"), (r"(--global-batch-size|--batch-size) (32|64)", r"\1 8"),
           (r"(ranklab (?:sweep )?io.*) -n \d+", r"\1 -n 8"), (r" -s \d+", " -s 10"), (r" -i \d+", " -i 2"), (r"(for run in) [\d ]+", r"\1 1"),
           (r"(for round in) [\d ]+", r"\1 1"), (r"--train 400 --test 100", "--train 64 --test 16"), (r"--edge 128", "--edge 16"),
           (r"(unet3d_smoke.*)--steps \d+", r"\1--steps 1 --warmup 0 --batch-size 1"), (r"--ablation", "--ablation --repetitions 1"),
           (r"(--ablation.*)--steps \d+|--steps \d+(?=.*--ablation)", r"\1--steps 1"),
           (r"(--image-size 32.*)--steps \d+", r"\1--steps 1"), (r"ranklab train(?!.*batch-size)", "ranklab train --batch-size 8"),
           (r"(mpirun.*ranklab train)(?!.*--threads)", r"\1 --threads 1"),
           (r"ranklab train", "ranklab train --memory-format contiguous --overlap-steps 0 --validation-samples 8"),
           (r"ranklab campaign run (configs/campaigns/document)", r"ranklab campaign plan \1"),
           (r"ranklab sweep (\w+)", r"ranklab sweep \1 --repeat 1"), (r"ranklab comm", "ranklab comm -w 1 -n 3"), (r"(?<=-w 1 -n 3)( *#|$)", r" -e 64K\1"))


def pattern_of(line):
    """Returns a quoted line as a regular expression."""
    parts = re.split(r"(\.\.\.|\s+|(?<![\w.-])[-+]?\d[\d.]*(?:e[-+]?\d+)?(?![\w-]))", line.strip())
    made = []
    for part in parts:
        if part == "...": made.append(r".*")
        elif part.isspace(): made.append(r"\s+")
        elif re.fullmatch(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?", part): made.append(NUMBER)
        else: made.append(re.escape(part))
    return re.compile(r"^\s*" + "".join(made).replace(r"\s+.*", r"(?:\s.*)?") + r"\s*$")


def smaller(block):
    block = re.sub(r"\\\n\s*", "", block)
    for pattern, words in SMALLER: block = re.sub(pattern, words, block, flags=re.MULTILINE)
    return block


def missing_lines(quoted, output):
    """Returns the lines that are missing or in the wrong order."""
    lines, at, missing = output.splitlines(), 0, []
    for quote in filter(str.strip, quoted.splitlines()):
        pattern = pattern_of(quote)
        found = next((i for i in range(at, len(lines)) if pattern.match(lines[i])), None)
        if found is None: missing.append(quote)
        else: at = found + 1
    return missing


def commands_of(block):
    """Returns the lines without comments; lines that end in a backslash are joined."""
    joined = block.replace("\\\n", " ")
    return [line for line in (shlex.split(one, comments=True) for one in joined.splitlines()) if line]


class QuotesTest(cli.Case):
    """Checks missing(): it reports a line that is not there."""

    def test_numbers_differ_and_words_do_not(self):
        output = "  threads  runs  epoch_time_s\n  1           1         2.628\n  2           1         1.679\n"
        self.assertEqual(missing_lines("  threads  runs  epoch_time_s\n  1  1  99.5", output), [])
        self.assertEqual(missing_lines("1 ...\nthreads ...", output), ["threads ..."], "not in this order")


class PageTest(cli.Case):
    def setUp(self):
        super().setUp()
        self.faults = []
        self.assertCode(cli.ranklab("data", "make", "mnist", self.folder / "images", "--train", IMAGES[0], "--test", IMAGES[1], "--quiet"), 0)
        self.env = cli.environment(PATH=f"{cli.BIN}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}", RANKLAB_DATA=self.folder / "images", OMP_NUM_THREADS=None)

    def typed(self, block, folder):
        result = cli.run("bash", "-ec", cli.LAUNCHER.translated(smaller(block)), cwd=folder, env=self.env, timeout=300)
        if result.code != 0: self.faults.append(f"{folder.name}:\n{block}\n{result}")
        return result.stdout + result.stderr

    def dry(self, words, folder):
        """A command for another machine: its options are valid, and its files exist."""
        if words[0] == "sbatch":
            result = cli.run("bash", "-n", cli.SOURCE / next(word for word in words if word.endswith(".slurm")))
        else:
            if words[0] == "srun": words = ["mpirun", *cli.LAUNCHER.crowded, *words[1:]]
            if "train" not in words and "io" not in words: return
            result = cli.run(*words, "--dry-run", "--output", "none", cwd=folder, env=self.env)
        if result.code not in (0, 5): self.faults.append(f"{folder.name}: {result}")

    def follow(self, path):
        folder, output = self.folder / path.stem, ""
        folder.mkdir()
        for name in ("configs", "jobscripts", "docs"): (folder / name).symlink_to(cli.SOURCE / name)
        for kind, block in FENCE.findall(path.read_text()):
            if kind == "sh": output = self.typed(block, folder)
            elif kind in ("sh gpu", "sh slurm"):
                for words in commands_of(block): self.dry(words, folder)
            elif kind == "text":
                missing = missing_lines(block, output)
                if missing: self.faults.append(f"{path.name}: {missing} not in\n{output}")
            elif kind != "sh setup": self.faults.append(f"{path.name} has a block of the unknown kind {kind}")

    def test_all_pages(self):
        self.assertGreater(len(PAGES), 9)
        cli.several(self.follow, sorted(PAGES, key=lambda page: -page.stat().st_size))
        self.assertEqual(self.faults, [], "\n".join(self.faults))


if __name__ == "__main__":
    cli.main()
