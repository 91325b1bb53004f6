"""Damaged, missing and hostile idx files: exit 3, one sentence that names the file, nothing stored, little memory."""

import gzip
import os
import struct

import ranklab_cli as cli
from ranklab_cli import IDX_FILES, Case, needs_train, train

TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS = IDX_FILES
N_TRAIN, N_TEST = 64, 32
MEMORY = 1 << 30  # a good run takes 0.16 GiB


def header(magic, *numbers):
    return struct.pack(f">I{len(numbers)}I", magic, *numbers)


def change(name, function):
    """What spoils one file: function maps the right bytes to the wrong ones."""
    def spoil(folder):
        path = folder / name
        path.write_bytes(function(path.read_bytes()))
        return name
    return spoil


def remove(name):
    def spoil(folder):
        (folder / name).unlink()
        return name
    return spoil


def make_folder(name):
    def spoil(folder):
        (folder / name).unlink()
        (folder / name).mkdir()
        return name
    return spoil


def pack(name, damage):
    """The file gzipped in place of the plain one, then damaged."""
    def spoil(folder):
        path = folder / name
        packed = path.with_name(f"{name}.gz")
        packed.write_bytes(damage(gzip.compress(path.read_bytes(), 1)))
        path.unlink()
        return packed.name
    return spoil


def flip_middle(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x55]) + data[middle + 1:]


def label_at_end(value):
    return change(TRAIN_LABELS, lambda data: data[:-1] + bytes([value]))


SPOILED = {
    "missing training images": (remove(TRAIN_IMAGES), "train-images-idx3-ubyte"),
    "missing training labels": (remove(TRAIN_LABELS), "does not exist"),
    "missing test images": (remove(TEST_IMAGES), "does not exist"),
    "missing test labels": (remove(TEST_LABELS), "does not exist"),
    "truncated images": (change(TRAIN_IMAGES, lambda d: d[:-1]), "truncated"),
    "truncated in the header": (change(TRAIN_IMAGES, lambda d: d[:10]), "too short"),
    "truncated labels": (change(TRAIN_LABELS, lambda d: d[:-5]), "truncated"),
    "truncated test images": (change(TEST_IMAGES, lambda d: d[:5000]), "truncated"),
    "one byte too many": (change(TRAIN_IMAGES, lambda d: d + b"\0"), "more than"),
    "one label too many": (change(TEST_LABELS, lambda d: d + b"\1"), "more than"),
    "wrong magic": (change(TRAIN_IMAGES, lambda d: b"\x00\x00\x0d\x03" + d[4:]), "0x00000d03"),
    "images and labels mixed up": (change(TRAIN_LABELS, lambda d: cli.idx_bytes(N_TRAIN)[0]), "0x00000803"),
    "a page of HTML": (change(TRAIN_IMAGES, lambda d: b"<html>404 Not Found</html>" * 40), "0x3c68746d"),
    "27 rows": (change(TRAIN_IMAGES, lambda d: cli.idx_bytes(N_TRAIN, (27, 28))[0]), "27 x 28"),
    "27 rows in the test set": (change(TEST_IMAGES, lambda d: cli.idx_bytes(N_TEST, (27, 28))[0]), "27 x 28"),
    "rows and columns of the right product": (change(TRAIN_IMAGES, lambda d: header(0x803, N_TRAIN, 14, 56) + d[16:]), "14 x 56"),
    "fewer labels than images": (change(TRAIN_LABELS, lambda d: cli.idx_bytes(N_TRAIN - 1)[1]), f"{N_TRAIN - 1} labels"),
    "label 10": (label_at_end(10), "label 10 of sample 63"),
    "label 255": (label_at_end(255), "label 255"),
    "empty images": (change(TRAIN_IMAGES, lambda d: b""), "too short"),
    "empty labels": (change(TRAIN_LABELS, lambda d: b""), "too short"),
    "no images in the header": (change(TRAIN_IMAGES, lambda d: header(0x803, 0, 28, 28)), "0 images"),
    "a folder in place of the file": (make_folder(TRAIN_LABELS), "is a folder, not a regular file"),
    "corrupt gzip": (pack(TRAIN_IMAGES, flip_middle), ""),
    "cut gzip": (pack(TRAIN_IMAGES, lambda d: d[: len(d) // 2]), ""),
    "gzip of nothing": (pack(TRAIN_IMAGES, lambda d: gzip.compress(b"")), "too short"),
    "corrupt gzip of labels": (pack(TRAIN_LABELS, flip_middle), ""),
    "hostile count": (change(TRAIN_IMAGES, lambda d: header(0x803, 0xFFFFFFFF, 28, 28) + d[16:]), "truncated"),
    "hostile shape": (change(TRAIN_IMAGES, lambda d: header(0x803, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF) + d[16:]), "4294967295"),
    "hostile product": (change(TRAIN_IMAGES, lambda d: header(0x803, 0x10000, 0x8000, 0x20000) + d[16:]), ""),
    "hostile count of labels": (change(TRAIN_LABELS, lambda d: header(0x801, 0xFFFFFFFF) + d[8:]), "truncated"),
    "a gzip bomb": (pack(TRAIN_IMAGES, lambda d: gzip.compress(header(0x803, N_TRAIN, 28, 28) + bytes(1 << 28), 1)), "more than"),
}
IN_A_JOB = ("missing training images", "truncated images", "wrong magic", "27 rows", "fewer labels than images", "label 10",
            "corrupt gzip", "hostile count")


@needs_train
class DamagedFilesTest(Case):
    def prepare(self, kinds):
        """One folder with good files and one spoiled file per kind: [(kind, folder, file, part of the sentence)]."""
        prepared = []
        for i, kind in enumerate(kinds):
            folder = cli.make_idx(self.folder / f"data{i}", N_TRAIN, N_TEST)
            spoil, part = SPOILED[kind]
            prepared.append((kind, folder, spoil(folder), part))
        return prepared

    def check(self, ranks, kinds):
        prepared = self.prepare(kinds)
        before = self.names()
        results = cli.several(lambda case: train("--data", "fashion-mnist", "--data-dir", case[1], "--steps", 3, "--output", "r.h5",
                                                 ranks=ranks, cwd=self.folder, timeout=30), prepared)
        for (kind, folder, name, part), result in zip(prepared, results):
            with self.subTest(kind=kind, ranks=ranks):
                whole = str(folder) if kind == "missing training images" else str(folder / name)
                self.assertSays(result, 3, whole, part)
                self.assertNotIn("Img/sec", result.stdout)
                self.assertLess(result.max_rss, MEMORY, f"{kind} took {result.max_rss / 2**20:.0f} MiB")
        self.assertEqual(self.names(), before, "a run that could not begin leaves nothing")

    def test_at_one_rank(self):
        self.check(1, SPOILED)

    def test_at_two_ranks(self):
        self.check(2, IN_A_JOB)

    def test_good_files_do_train(self):
        """The same command with nothing spoiled, plain and gzipped, so that the errors above are of what was spoiled."""
        for gz in (False, True):
            folder = cli.make_idx(self.folder / f"good{gz}", N_TRAIN, N_TEST, gz=gz)
            result = train("--data", "fashion-mnist", "--data-dir", folder, "--steps", 3, "--verbose", "--output", "none", cwd=self.folder)
            self.assertCode(result, 0)
            self.assertIn(f"{N_TEST} of {N_TEST} test samples", " ".join(result.stdout.split()))


@needs_train
class DataPlaceTest(Case):
    def refused(self, *parts, env=None, ranks=1, data="fashion-mnist", words=()):
        result = train("--data", data, *words, "--steps", 3, "--output", "none", ranks=ranks, env=env, cwd=self.folder, timeout=30)
        self.assertSays(result, 3, *parts)

    def test_a_data_dir_that_is_a_file_or_not_there(self):
        file = self.folder / "file"
        file.write_text("no folder")
        for ranks in (1, 2):
            self.refused(file, ranks=ranks, words=("--data-dir", file))
            self.refused("/no/such/folder", ranks=ranks, words=("--data-dir", "/no/such/folder"))

    def test_ranklab_data_is_named_when_nothing_is_there(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.refused(empty, "RANKLAB_DATA", "--data-dir", data="mnist", env=cli.environment(RANKLAB_DATA=empty))

    def test_data_are_found_by_ranklab_data_and_below_it(self):
        for below in ("", "mnist", "MNIST/raw"):
            root = self.folder / f"root{len(below)}"
            cli.make_idx(root / below, 64, 16)
            result = train("--data", "mnist", "--steps", 2, "--output", "none", cwd=self.folder, env=cli.environment(RANKLAB_DATA=root))
            self.assertCode(result, 0)

    def test_data_dir_goes_before_ranklab_data(self):
        good, bad = cli.make_idx(self.folder / "good"), cli.make_idx(self.folder / "bad")
        (bad / TRAIN_IMAGES).write_bytes(b"")
        result = train("--data", "mnist", "--data-dir", good, "--steps", 2, "--output", "none", cwd=self.folder,
                       env=cli.environment(RANKLAB_DATA=bad))
        self.assertCode(result, 0)

    def test_a_file_that_may_not_be_read(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        folder = cli.make_idx(self.folder / "data")
        (folder / TRAIN_LABELS).chmod(0)
        self.refused(folder / TRAIN_LABELS, "permissions", words=("--data-dir", folder))

    def test_a_pipe_does_not_hang(self):
        folder = cli.make_idx(self.folder / "data")
        (folder / TRAIN_LABELS).unlink()
        os.mkfifo(folder / TRAIN_LABELS)
        self.refused(folder / TRAIN_LABELS, "is a FIFO (named pipe), not a regular file", words=("--data-dir", folder))


if __name__ == "__main__":
    cli.main()
