"""The patterns of the ReFrame, JUBE and Ramble files under docs/integration match ranklab's output."""

import ast
import re

import ranklab_cli as cli

cli.need_train()

FOLDER = cli.SOURCE / "docs" / "integration"
FORMATS = cli.SOURCE / "docs" / "output_formats.md"


def texts_of_calls(path, function, keyword=None):
    """Returns the literal patterns of all calls of that name: the first argument or the keyword argument."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        values = node.args[:1] if keyword is None else [k.value for k in node.keywords if k.arg == keyword]
        if name == function:
            found += [ast.literal_eval(value) for value in values]
    return found


def jube_patterns():
    return re.findall(r"\{name: \w+, type: \w+,(?: unit: \S+,)? _: '(\^[^']+)'\}", (FOLDER / "jube_ranklab.yaml").read_text())


def documented():
    """Returns the patterns in the tables of docs/output_formats.md: code that begins with a caret."""
    return [text.replace(r"\|", "|") for text in re.findall(r"\| `(\^[^`]+)` \|", FORMATS.read_text())]


class Patterns(cli.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cli.tempfile.TemporaryDirectory(prefix="ranklab-test-")
        cls.addClassCleanup(made.cleanup)
        cls.made = made.name
        train = cli.train("--steps", 8, "--warmup", 1, "--output", "r.h5", "--verbose", ranks=2, cwd=cls.made)
        write = cli.ranklab("io", "--strategy", "binary", "-n", 2, "-s", 20, "-i", 6, "--ceilings", "off", "--output", "r.h5", "--verbose",
                            cwd=cls.made)
        talk = cli.ranklab("comm", "--sizes", "8,64K", "-n", 6, "-w", 1, "--output", "r.h5", ranks=2, cwd=cls.made)
        assert train.code == 0 and write.code == 0 and talk.code == 0, f"{train}\n{write}\n{talk}"
        cls.lines = {"train": train.stdout.splitlines(), "io": write.stdout.splitlines(), "comm": talk.stdout.splitlines()}

    def found(self, pattern, command):
        """Searches line by line, as ReFrame, JUBE and Ramble do."""
        return [match for line in self.lines[command] if (match := re.search(pattern, line))]

    def assertFinds(self, pattern):
        """Each pattern matches the output of at least one command; a numeric group matches a number."""
        matches = [match for command in self.lines for match in self.found(pattern, command)]
        self.assertTrue(matches, f"{pattern} finds nothing in\n" + "\n".join(sum(self.lines.values(), [])))
        return matches[0]

    def test_each_pattern_finds_its_number(self):
        reframe = texts_of_calls(FOLDER / "reframe_ranklab.py", "extractsingle")
        ramble = texts_of_calls(FOLDER / "ramble_application.py", "figure_of_merit", "fom_regex")
        self.assertGreaterEqual((len(reframe), len(ramble)), (3, 3))
        for pattern in reframe + ramble:
            match = self.assertFinds(pattern)
            self.assertGreater(float(match.group(match.lastindex)), 0, pattern)

    def test_sanity_patterns_hold_for_both_commands(self):
        patterns = texts_of_calls(FOLDER / "reframe_ranklab.py", "assert_found")
        patterns += texts_of_calls(FOLDER / "ramble_application.py", "success_criteria", "match")
        self.assertGreaterEqual(len(patterns), 4)
        for pattern in patterns:
            for command in ("train", "io"):
                self.assertTrue(self.found(pattern, command), f"{pattern} is not in the output of {command}")

    def test_jube_and_the_documentation(self):
        jube, table = jube_patterns(), documented()
        self.assertGreaterEqual((len(jube), len(table)), (5, 9))
        for pattern in jube + table: self.assertFinds(pattern)

    def test_an_invalid_run_has_no_rate_to_be_mistaken(self):
        result = cli.train("--optimizer", "sgd", "--lr", "1e38", "--steps", 20, "--output", "bad.h5", cwd=self.folder)
        self.assertCode(result, 3)
        for pattern in texts_of_calls(FOLDER / "reframe_ranklab.py", "extractsingle")[:2]: self.assertNotRegex(result.stdout, f"(?m){pattern}")

    def test_the_numbers_are_those_of_the_file(self):
        result = cli.ranklab("report", "r.h5", "--where", "command=train", "--format", "csv", cwd=self.made)
        median = float(re.search(r",throughput_samples_per_s,samples/s,rate,\d+,([^,]+),", result.stdout).group(1))
        printed = float(self.found(r"^Total img/sec on 2 rank\(s\): ([0-9.]+) ", "train")[0].group(1))
        self.assertAlmostEqual(printed / median, 1, places=3)


if __name__ == "__main__":
    cli.main()
