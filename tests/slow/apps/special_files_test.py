"""What a user names is a regular file: a FIFO, a device, a socket, a folder, a link to nothing, to itself or to a FIFO
is refused in one sentence, at once, by every option that names a file."""

import os
import socket

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

IO = ("io", "--strategy", "binary", "--files", 1, "--size", 2)
LIMIT = 30  # seconds; a FIFO or /dev/zero would take for ever


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def link_to_fifo(path):
    os.mkfifo(f"{path}.target")
    os.symlink(f"{path}.target", path)


# How to make it, and what it is called.
KINDS = {
    "fifo": (os.mkfifo, "FIFO"),
    "zero": (lambda path: os.symlink("/dev/zero", path), "device"),
    "folder": (os.mkdir, "folder"),
    "socket": (make_socket, "socket"),
    "dangling": (lambda path: os.symlink("not_there", path), "link"),
    "loop": (lambda path: os.symlink(path.name, path), "link"),
    "link_to_fifo": (link_to_fifo, "FIFO"),
}


class SpecialCase(Case):
    def refused(self, code, path, *words, kinds=KINDS, said=None, **how):
        """`path` below the scratch folder is each of the kinds in turn; the command ends with one sentence of it."""
        for name in kinds:
            make, called = KINDS[name]
            path = self.folder / path
            path.parent.mkdir(parents=True, exist_ok=True)
            make(path)
            with self.subTest(kind=name, words=words):
                result = ranklab(*words, cwd=self.folder, timeout=LIMIT, **how)
                self.assertSays(result, code, said or called)
                self.assertRegex(result.stderr, rf"{path.name}|/dev/zero")  # where a link leads may stand for it
            self.assertFalse((path.parent / "not_there").exists(), "what a link leads to was made")
            os.rmdir(path) if name == "folder" else os.unlink(path)
            if name == "link_to_fifo":
                os.unlink(f"{path}.target")


class SpecialFilesTest(SpecialCase):
    def test_config(self):
        self.refused(2, "c.ini", *IO, "--output", "none", "--config", "c.ini")
        self.refused(2, "c.ini", *IO, "--output", "none", "--config", "c.ini", ranks=2, kinds=("fifo", "zero"))

    def test_a_config_file_without_end(self):
        with open(self.folder / "c.ini", "w") as file:
            file.truncate(1 << 40)  # a sparse TiB
        self.assertSays(ranklab(*IO, "--config", "c.ini", cwd=self.folder, timeout=LIMIT), 2, "c.ini", "1 MiB")

    def test_output(self):
        # A link to nothing is where the file is to be made.
        self.refused(2, "r.h5", *IO, "--output", "r.h5", kinds=("fifo", "zero", "folder", "socket", "link_to_fifo"))
        self.refused(2, "r.h5", *IO, "--output", "r.h5", kinds=("loop",), said="links")
        self.assertCode(ranklab(*IO, "--output", "real.h5", cwd=self.folder), 0)
        os.symlink("real.h5", self.folder / "link.h5")
        self.assertCode(ranklab(*IO, "--output", "link.h5", cwd=self.folder), 0)
        self.assertIn("2 run(s)", ranklab("results", "list", "real.h5", cwd=self.folder).stdout)

    def test_lock_files(self):
        for ending in (".lock", ".owner.lock"):
            self.refused(5, "r.h5" + ending, *IO, "--output", "r.h5", said="lock")
        self.assertFalse((self.folder / "r.h5").exists())

    def test_results_files_to_read(self):
        for words in (("report", "x.h5"), ("results", "list", "x.h5"), ("results", "check", "x.h5"), ("compare", "x.h5", "x.h5"),
                      ("results", "merge", "all.h5", "x.h5"), ("results", "export", "x.h5", "--output", "y.h5")):
            self.refused(2, "x.h5", *words, kinds=("fifo", "zero", "folder", "socket", "link_to_fifo"))
            self.refused(2, "x.h5", *words, kinds=("dangling", "loop"), said="x.h5")

    def test_what_a_report_writes(self):
        self.assertCode(ranklab(*IO, "--output", "r.h5", cwd=self.folder), 0)
        self.refused(2, "page.html", "report", "r.h5", "--format", "html", "--output", "page.html",
                     kinds=("fifo", "zero", "folder", "socket", "link_to_fifo"))
        self.refused(2, "y.h5", "results", "export", "r.h5", "--output", "y.h5", kinds=("fifo", "zero", "folder", "socket", "link_to_fifo"))

    def test_records_that_are_read_back(self):
        ranklab(*IO, "--output", "none", "--keep", "--directory", "d", cwd=self.folder)
        os.unlink(self.folder / "d" / "data00000.npy")
        self.refused(3, "d/data00000.npy", *IO, "--output", "none", "--read-only", "--directory", "d",
                     kinds=("fifo", "folder", "zero", "link_to_fifo"))

    def test_hdf5_records_that_are_read_back(self):
        words = ("io", "--strategy", "hdf5-serial", "--files", 1, "--size", 2, "--output", "none", "--directory", "d")
        ranklab(*words, "--keep", cwd=self.folder)
        os.unlink(self.folder / "d" / "data.h5")
        self.refused(3, "d/data.h5", *words, "--read-only", kinds=("fifo", "folder", "zero", "link_to_fifo"))

    def test_data_files(self):
        for name in ("x.h5", "x.npy", "train-images-idx3-ubyte", "train.bin"):
            self.refused(3, name, "data", "verify", name, kinds=set(KINDS) - {"folder"})  # which holds files
        for name in ("x.h5", "x.npy"):
            other = "y.npy" if name.endswith("h5") else "y.h5"
            self.refused(3, name, "data", "convert", name, other, kinds=("fifo", "zero", "folder", "socket", "link_to_fifo", "loop"),
                         said=name)

    def test_what_data_writes(self):
        self.refused(2, "y.h5", "data", "make", "cosmology", "y.h5", "--edge", 8, "--force",
                     kinds=("fifo", "zero", "socket", "link_to_fifo"), said="y.h5")


@cli.needs_train
class TrainingFilesTest(SpecialCase):
    TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--steps", 2, "--threads", 1, "--output", "none")

    def test_checkpoint(self):
        self.refused(2, "c/checkpoint.h5", *self.TRAIN, "--checkpoint", "c", "--resume")

    def test_parameter_file(self):
        self.refused(2, "p.h5", *self.TRAIN, "--save-parameters", "p.h5")
        # ranklab's own name beside it: a link is refused as such, wherever it leads
        for kinds, said in ((("zero", "link_to_fifo", "dangling", "loop"), "link"), (("fifo",), "FIFO"), (("folder",), "folder")):
            self.refused(2, "p.h5.tmp", *self.TRAIN, "--save-parameters", "p.h5", kinds=kinds, said=said)

    def test_data_sets(self):
        cli.make_idx(self.folder / "idx")
        os.unlink(self.folder / "idx" / "train-images-idx3-ubyte")
        self.refused(3, "idx/train-images-idx3-ubyte", *self.TRAIN[:3], "--data", "fashion-mnist", "--data-dir", "idx", *self.TRAIN[5:],
                     kinds=("fifo", "zero", "folder", "link_to_fifo"))


if __name__ == "__main__":
    cli.main()
