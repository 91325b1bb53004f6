"""A results file with runs of `io`, made once per class: at 1 and 2 ranks, and one with a label of arbitrary bytes."""

import json
import os
import pathlib
import tempfile

import ranklab_cli as cli

FORMATS = ("text", "markdown", "json", "csv", "gbench", "extrap", "chrome-trace")
BAD_LABEL = os.fsdecode(b'a"\\\x01\x1b[31m\xff\xc3 \xed\xa0\x80,b')


class ReportCase(cli.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = tempfile.TemporaryDirectory(prefix="ranklab-test-")
        cls.addClassCleanup(cls.made.cleanup)
        cls.file = pathlib.Path(cls.made.name) / "r.h5"
        write = ("io", "-n", 4, "-s", 20, "--ceilings", "off", "--output", "r.h5")
        for words, ranks in ((("--strategy", "mpi-send", "-i", 3, "--label", "one"), 1), (("--strategy", "mpi-send", "-i", 3, "--label", "two"), 2),
                             (("--strategy", "binary", "-i", 2, "--label", BAD_LABEL), 1)):
            result = cli.ranklab(*write, *words, ranks=ranks, cwd=cls.made.name)
            assert result.code == 0, str(result)

    def report(self, *words, file=None):
        return cli.ranklab("report", file or self.file, *words, cwd=self.folder)

    def read(self, *words):
        result = self.report(*words)
        self.assertCode(result, 0)
        return result.stdout

    def runs(self, *words):
        return json.loads(self.read("--format", "json", *words))["runs"]
