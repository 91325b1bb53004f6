"""ranklab results: files of another user, full and read-only disks, concurrent appends."""

import os
import shutil

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

(h5py,) = cli.modules("h5py")

WRITER = cli.BIN.parent / "tests" / "results_writer"


def results(*arguments, **how):
    return ranklab("results", *arguments, **how)


def ids(path):
    with h5py.File(path) as file:
        return list(file["runs"])


class ResultsCase(Case):
    """Short runs of `ranklab io`."""

    def setUp(self):
        super().setUp()
        self.file = self.store("r.h5", "a", "b", "b")

    def store(self, name, *labels):
        path = self.folder / name
        for label in labels:
            result = ranklab("io", "--strategy", "binary", "--files", 2, "--size", 10, "--label", label, "--output", path, cwd=self.folder)
            self.assertCode(result, 0)
        return path


class PlacesTest(ResultsCase):
    def test_what_may_not_be_read(self):
        """Another user's file is not reported as a foreign format."""
        self.folder.chmod(0o755)
        self.file.chmod(0)
        as_nobody = ("setpriv", "--reuid=65534", "--clear-groups") if os.geteuid() == 0 else ()
        if as_nobody and cli.run(*as_nobody, "test", "-x", cli.RANKLAB).code != 0:
            self.skipTest("another user may not enter the build folder")
        for words in (("report", self.file), ("results", "list", self.file), ("compare", self.file, self.file)):
            result = cli.run(*as_nobody, cli.RANKLAB, *words, cwd="/")
            self.assertSays(result, 5, self.file)

    def test_a_full_disk_leaves_the_file_as_it_was(self):
        place = self.mount_small_tmpfs(512 << 10)
        shutil.copy(self.file, place / "r.h5")
        cli.run(WRITER, "multiply", self.file, self.folder / "big.h5", 60)
        before = (place / "r.h5").read_bytes()
        self.assertSays(results("merge", place / "r.h5", self.folder / "big.h5"), 5, "no room")
        self.assertEqual((place / "r.h5").read_bytes(), before)
        self.assertEqual([p.name for p in place.iterdir()], ["r.h5"])

    def test_a_place_that_cannot_be_written(self):
        place = self.mount_small_tmpfs(512 << 10)
        shutil.copy(self.file, place / "r.h5")
        self.make_read_only(place)
        result = results("merge", place / "r.h5", self.file)
        self.assertSays(result, 5, "read-only")
        self.assertEqual(result.stdout, "", "nothing was done")
        self.assertNotIn("--output", result.stderr, "which it does not have")

    def test_appends_meanwhile_are_kept(self):
        pattern = self.folder / "pattern.h5"
        shutil.copy(self.file, pattern)
        job = self.start(WRITER, "append", self.file, pattern, "n", 40)
        for _ in range(5):
            done = results("merge", self.file, pattern, cwd=self.folder)
            self.assertCode(done, 0)
            others = [line for line in done.said if not line.startswith("waiting for ")]
            self.assertEqual(others, [], str(done))
        told = job.finish().stdout.split()
        self.assertEqual(len(told), 40)
        self.assertLessEqual(set(told), set(ids(self.file)))


if __name__ == "__main__":
    cli.main()
