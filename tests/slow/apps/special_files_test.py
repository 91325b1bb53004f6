"""A FIFO, a device or a folder in the place of a file is refused in one sentence, at once."""

import os

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

IO = ("io", "--strategy", "binary", "--files", 1, "--size", 2)
KINDS = {"FIFO": os.mkfifo, "device": lambda path: os.symlink("/dev/zero", path), "folder": os.mkdir}


class SpecialFilesTest(Case):
    def test_each_is_refused(self):
        for code, name, *words in ((2, "c.ini", *IO, "--output", "none", "--config", "c.ini"), (2, "r.h5", *IO, "--output", "r.h5"),
                                   (2, "r.h5", "report", "r.h5"), (2, "r.h5", "results", "merge", "all.h5", "r.h5"), (3, "x.npy", "data", "convert", "x.npy", "y.h5")):
            for said, make in KINDS.items():
                with self.subTest(words=words, kind=said):
                    path = self.folder / name
                    make(path)
                    result = ranklab(*words, cwd=self.folder, timeout=30)
                    os.rmdir(path) if said == "folder" else os.unlink(path)
                    self.assertSays(result, code, said)
                    self.assertRegex(result.stderr, f"{name}|/dev/zero")


if __name__ == "__main__":
    cli.main()
