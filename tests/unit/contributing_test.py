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


class Diffs(unittest.TestCase):
    def test_apply(self):
        self.assertEqual(len(DIFFS), 3)
        for diff in DIFFS:
            self.assertEqual(applies(diff), "", diff)

    def test_what_does_not_fit_is_seen(self):
        self.assertIn("patch does not apply", applies(DIFFS[0].replace("cudnn-benchmark", "another-row")))

    def test_each_is_a_row_and_a_place(self):
        """An option also has a field that its row binds; a column of the report is a row alone."""
        for diff, rows, places in zip(DIFFS, (2, 1, 1), (1, 1, 0)):
            files = re.findall(r"^\+\+\+ (\S+)", diff, re.MULTILINE)
            self.assertEqual(len(files), rows + places)
            self.assertEqual(sum("vocabulary" in name for name in files), rows)


class Presets(unittest.TestCase):
    def test_readme_lists_them(self):
        presets = json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]
        (listed,) = re.findall(r"^Presets: `([a-z ]+)`", (SOURCE / "README.md").read_text(), re.MULTILINE)
        self.assertEqual(sorted(listed.split()), sorted(one["name"] for one in presets if not one.get("hidden")))


if __name__ == "__main__":
    unittest.main()
