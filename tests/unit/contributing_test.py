"""The diffs in CONTRIBUTING.md still fit the sources: git applies each as it stands, without fuzz. README lists the presets that there are."""

import json
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
TEXT = (SOURCE / "CONTRIBUTING.md").read_text()
DIFFS = re.findall(r"^```diff\n(.*?^)```$", TEXT, re.MULTILINE | re.DOTALL)


def applies(diff):
    check = subprocess.run(["git", "apply", "--check", "-p0", "-"], input=diff, cwd=SOURCE, capture_output=True, text=True, timeout=60)
    return check.stderr


def code(text, name):
    """Without comment lines, blanks and the entry's own name in its three spellings."""
    spellings = (name, name.replace("_", "-"), name.replace("_", " ").title().replace(" ", ""))
    text = re.sub(r'\.summary = "[^"]*"', "", re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    return re.sub("|".join(spellings), "NAME", "".join(text.split()))


class Diffs(unittest.TestCase):
    def test_apply(self):
        self.assertGreaterEqual(len(DIFFS), 5)
        for diff in DIFFS:
            self.assertEqual(applies(diff), "", diff)

    def test_what_does_not_fit_is_seen(self):
        (option,) = (diff for diff in DIFFS if "cudnn-benchmark" in diff)
        self.assertIn("patch does not apply", applies(option.replace("cudnn-benchmark", "another-row")))

    def test_each_edits_rows_and_one_place(self):
        """The place is a hunk's file, or a new file and its word in CMake."""
        for diff in DIFFS:
            files = [name for name in re.findall(r"^\+\+\+ (\S+)", diff, re.MULTILINE) if not name.startswith("lib/vocabulary/")]
            is_new = diff.count("--- /dev/null")
            self.assertLessEqual(len(files), 1 + is_new, files)
            self.assertEqual(sum(name.endswith("CMakeLists.txt") for name in files), is_new, files)

    def test_new_entries_are_the_tested_templates(self):
        for name, template in (("process_rounds", "template_workers"), ("bigram", "template_tokens")):
            (diff,) = (diff for diff in DIFFS if f"/{name}.cpp" in diff)
            added = "".join(re.findall(r"^\+(.*\n)", diff[diff.index(f"/{name}.cpp") :], re.MULTILINE))
            template_text = (SOURCE / f"tests/contract/{template}.cpp").read_text()
            self.assertEqual(code(added, name), code(template_text, template))


class Presets(unittest.TestCase):
    def test_readme_lists_them(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]
        (listed,) = re.findall(r"^Presets: `([a-z ]+)`", (SOURCE / "README.md").read_text(), re.MULTILINE)
        self.assertEqual(sorted(listed.split()), sorted(one["name"] for one in presets if not one.get("hidden")))


if __name__ == "__main__":
    unittest.main()
