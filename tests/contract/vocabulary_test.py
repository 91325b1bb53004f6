"""Every name that the programs store is in the vocabulary with its unit, kind and type, and docs/names.md lists the vocabulary.
`vocabulary_test.py --write` adds what that page lacks, with a ? where a person says what a column or a fact means."""

import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))  # started by hand
import ranklab_cli as cli  # noqa: E402

LIST = cli.BIN.parent / "tests" / "vocabulary_list"
PAGE = cli.SOURCE / "docs" / "names.md"
SMALL = ("--data", "synthetic", "--width", 16, "--train-samples", 320, "--validation-samples", 64, "--threads", 1, "--batch-size", 8)
TYPES = {"number": (float, int, type(None)), "whole": (int,), "text": (str,)}

# (options, ranks): together these runs store all names.
PROGRAMS = {
    "train": (((*SMALL, "--steps", 8, "--overlap-steps", 6, "--sync", "bucketed"), 2),
              ((*SMALL, "--epochs", 1, "--checkpoint", "kept", "--precision", "bf16"), 1),
              ((*SMALL, "--steps", 12, "--target-ci", "90%", "--mode", "dp", "--workers", 1), 1),
              ((*SMALL, "--steps", 4, "--repetitions", 1, "--ablation"), 2),
              ((*SMALL, "--steps", 4, "--zero", 3), 2)),
    "io": ((("--strategy", "all", "-n", 4, "-s", 12, "-i", 2, "--workers", 2, "-e"), 2),
           (("--strategy", "binary", "-n", 6, "-s", 12, "-i", 6, "--target-ci", "90%", "--cold"), 1)),
    "comm": ((("--op", "all", "-n", 6, "-w", 1, "--sizes", "8", "--nonblocking"), 2),
             (("--op", "pairs", "-n", 3, "-w", 1), 2),
             (("--from-model", "mnist-cnn", "-n", 6, "-w", 1), 2)),
}


def vocabulary():
    return json.loads(subprocess.run([LIST], check=True, capture_output=True, text=True).stdout)


class Vocabulary(cli.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.words = vocabulary()
        cls.measurements = {row["name"]: row for row in cls.words["measurements"]}
        cls.tables = {row["name"]: row["columns"] for row in cls.words["tables"]}

    def check_run(self, run):
        for m in run["measurements"]:
            family = m["name"].split(":")[0]
            self.assertIn(family, self.measurements)
            row = self.measurements[family]
            self.assertEqual((m["unit"], m["kind"]), (row["unit"], row["kind"]), m["name"])
        for name, columns in run["tables"].items():
            self.assertIn(name, self.tables)
            self.check_table(name, columns)
        for section, facts in run["context"].items():
            for key in facts:
                fact = f"{section}.{key}"
                self.assertTrue(any(fnmatch.fnmatchcase(fact, row["name"]) for row in self.words["facts"]), fact)

    def check_table(self, name, columns):
        """Checks that the table's columns are in the schema, in order and with their types."""
        known = {column["name"]: column["type"] for column in self.tables[name]}
        self.assertEqual([column for column in known if column in columns], list(columns), name)
        for column, values in columns.items():
            for value in values:
                self.assertIsInstance(value, TYPES[known[column]], f"{name}.{column}")

    def test_all_that_programs_store_is_in_it(self):
        for command in PROGRAMS if cli.HAS_TRAIN else ("io", "comm"):
            for words, ranks in PROGRAMS[command]:
                result = cli.ranklab(command, *words, "--output", f"{command}.h5", ranks=ranks, cwd=self.folder)
                self.assertIn(result.code, (0, 7), result)
            for run in json.loads(cli.ranklab("report", f"{command}.h5", "--format", "json", cwd=self.folder).stdout)["runs"]:
                with self.subTest(run["id"], command=command):
                    self.check_run(run)

    def test_page_is_made_of_it(self):
        page = page_of(self.words, texts_of(PAGE.read_text()))
        if "--write" in WORDS:
            PAGE.write_text(page)
        self.assertMultiLineEqual(PAGE.read_text(), page, "docs/names.md is not what the vocabulary says: "
                                                          "tests/contract/vocabulary_test.py --write")
        self.assertEqual(re.findall(r"`[^`]*`(?:: a row is|: \(\w+\)|:) \?$", page, re.M), [], "docs/names.md does not say what this means")


def table_of(head, rows):
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    lines += [" | ".join(row) for row in rows]
    return "".join(f"| {line} |\n" for line in lines)


def entry(name, text):
    return textwrap.fill(f"- `{name}`: {text}", 100, subsequent_indent="  ", break_on_hyphens=False) + "\n"


def texts_of(page):
    """What the page says of each table, by its name, of each column, by the table's and its own, and of each fact."""
    texts, table = {}, ""
    for block in re.split(r"\n(?=[-#|\n])", page):
        line = " ".join(block.split())
        if line.startswith("## "):
            table = ""
        if heading := re.fullmatch(r"### `(\w+)`: a row is (.*)", line):
            table, texts[heading[1], ""] = heading[1], heading[2]
        if row := re.fullmatch(r"- `([^`]+)`: (?:\((?:surroundings|work|noted|outcome)\) )?(.*)", line):
            texts[table, row[1]] = row[2]
    return texts


def page_of(words, texts):
    code = "`{}`".format
    page = ("# All names\n\n"
            "All names that runs store, and their meaning. The test `contract.vocabulary` fails if a name of\n"
            "`lib/vocabulary` is missing; `--write` adds it.\n\n"
            "## Measurements\n\n"
            "*Better* says whether less or more is an improvement, or neither.\n\n")
    page += table_of(("measurement", "unit", "kind", "better", "part of", "definition"),
                     ((code(row["name"]), row["unit"], row["kind"], row["better"],
                       code(row["part_of"]) if row["part_of"] else "", row["definition"].replace("|", "\\|"))
                      for row in words["measurements"]))
    page += "\n## Tables\n"
    for table in words["tables"]:
        page += f"\n### `{table['name']}`: a row is {texts.get((table['name'], ''), '?')}\n\n"
        page += "".join(entry(row["name"], texts.get((table["name"], row["name"]), "?")) for row in table["columns"])
    page += ("\n## Facts of the context\n\n"
             "Each fact has a role in comparisons. *surroundings*: times depend on it; runs that differ in it are\n"
             "compared or pooled only with `--ignore`. *work*: it describes the work; runs that differ in it are\n"
             "not compared. *noted*: it may matter; a difference is shown. *outcome*: it differs from run to run,\n"
             "or is a result, and is not compared.\n\n")
    page += "".join(entry(row["name"], f"({row['role']}) {texts.get(('', row['name']), '?')}") for row in words["facts"])
    return page


WORDS = [word for word in sys.argv if word == "--write"]

if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--write"]
    cli.main()
