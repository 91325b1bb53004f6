"""Extra-P reads `report --format extrap` of runs at 1 (single-device code), 2 and more ranks, in a file with runs of other programs."""

import subprocess
import sys

import ranklab_cli as cli

# Packages of Extra-P 4 without its window.
PACKAGES = ("numpy<2", "matplotlib", "tqdm", "pycubexr<3", "marshmallow<4", "packaging", "scikit-learn")
READ = """
import sys
from extrap.fileio.file_reader.jsonlines_file_reader import read_jsonlines_file
found = read_jsonlines_file(sys.argv[1])
print(len(found.coordinates), *sorted({str(path) for path in found.callpaths}))
"""
WORK = ("--steps", 6, "--warmup", 1, "--evaluate", "off", "--data", "synthetic", "--global-batch-size", 12, "--overlap-steps", 0, "--threads", 1)


class ExtraP(cli.Case):
    def setUp(self):
        super().setUp()
        self.python = self.folder / "venv" / "bin" / "python"
        subprocess.run((sys.executable, "-m", "venv", self.folder / "venv"), check=True)
        for words in (PACKAGES, ("--no-deps", "extrap==4.2.5")):
            if subprocess.run((self.python, "-m", "pip", "install", "-q", *words)).returncode != 0:
                cli.skip("Extra-P cannot be installed here")

    def test_it_reads_a_ladder(self):
        self.assertCode(cli.ranklab("sweep", "train", "--ranks", "1,2,3", "--repeat", 1, "--scaling", "strong", *WORK, "--output", "l.h5", cwd=self.folder), 0)
        self.assertCode(cli.ranklab("io", "-n", 4, "-s", 10, "--strategy", "mpi-scatter", "--ceilings", "off", "--output", "l.h5", ranks=2, cwd=self.folder), 0)
        said = cli.ranklab("report", "l.h5", "--format", "extrap", "--output", "l.jsonl", cwd=self.folder)
        self.assertCode(said, 0)
        self.assertIn("left out", said.stderr)
        found = subprocess.run((self.python, "-c", READ, self.folder / "l.jsonl"), capture_output=True, text=True)
        self.assertEqual(found.returncode, 0, found.stderr)
        points, *paths = found.stdout.split()
        self.assertEqual(points, "3")
        self.assertIn("train/mnist-cnn/ddp/bucketed->forward", paths)
        self.assertFalse([path for path in paths if not path.startswith("train/mnist-cnn/ddp/bucketed")])


if __name__ == "__main__":
    cli.main()
