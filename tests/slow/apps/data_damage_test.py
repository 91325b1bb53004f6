"""`ranklab data` verifies and converts damaged files of many kinds: one message, exit code 3, no partial file."""

import unittest

import ranklab_cli as cli
from data_files import ConvertCase, data
from ranklab_cli import Case, several

try:
    import h5py
    import numpy as np
except ImportError:
    h5py = np = None

EDGE = 10  # divisible by neither 3 nor 4
needs_h5py = unittest.skipIf(h5py is None, "h5py and numpy are not in this Python")


@needs_h5py
class Cosmology(Case):
    def make(self, *words, name="v.h5", ranks=1):
        done = data("make", "cosmology", name, "--edge", EDGE, "--quiet", *words, ranks=ranks, cwd=self.folder)
        self.assertCode(done, 0)
        return self.folder / name

    def spoil(self, name, change):
        with h5py.File(self.folder / name, "w") as file:
            change(file)

    def test_verify_tells_what_is_wrong(self):
        good = np.zeros((5, 4, 4, 4), "f4")

        def both(nbody, hydro=good, **how):
            return lambda file: (file.create_dataset("Nbody", data=nbody, **how), file.create_dataset("Hydro", data=hydro))

        bad = good.copy()
        bad[2, 3, 0, 1] = np.nan
        infinite = good[:4].copy()
        infinite[0, 0, 0, 0] = np.inf
        small = np.zeros((4, 4, 4, 4), "f4")
        cases = {
            "nan.h5": (both(small, bad), "/Hydro", "not finite", "[2, 3, 0, 1]"),
            "inf.h5": (both(infinite), "/Nbody", "not finite", "[0, 0, 0, 0]"),
            "channels.h5": (both(good), "/Nbody", "[5, 4, 4, 4]"),
            "box.h5": (both(np.zeros((4, 4, 4, 5), "f4")), "[4, 4, 4, 5]", "[4, L, L, L]"),
            "edges.h5": (both(np.zeros((4, 3, 3, 3), "f4")), "[4, 3, 3, 3]"),
            "doubles.h5": (both(small.astype("f8")), "float32"),
            "whole.h5": (both(small.astype("i4")), "float32"),
            "missing.h5": (lambda file: file.create_dataset("Nbody", data=small), "/Hydro"),
            "group.h5": (lambda file: (file.create_group("Nbody"), file.create_group("Hydro")), "/Nbody"),
            "foreign.h5": (lambda file: file.create_dataset("x", data=[1, 2, 3]), "/Nbody"),
            "unwritten.h5": (lambda file: (file.create_dataset("Nbody", (4, 10**5, 10**5, 10**5), "f4", chunks=(4, 64, 64, 64)),
                                           file.create_dataset("Hydro", data=good)), "/Nbody"),
        }
        for name, (change, *_) in cases.items():
            self.spoil(name, change)
        whole = self.make(name="cut.h5").read_bytes()
        (self.folder / "cut.h5").write_bytes(whole[:-1000])
        (self.folder / "page.h5").write_bytes(b"<html>404 Not Found</html>" * 99)
        (self.folder / "empty.h5").write_bytes(b"")
        parts = {name: case[1:] for name, case in cases.items()}
        parts |= {"cut.h5": ("truncated",), "page.h5": ("HDF5",), "empty.h5": ("HDF5",), "none.h5": ("none.h5",)}
        runs = [(name, ranks) for name in parts for ranks in ((1, 3) if name in ("nan.h5", "cut.h5", "missing.h5") else (1,))]
        for (name, ranks), done in zip(runs, several(lambda run: data("verify", run[0], ranks=run[1], cwd=self.folder), runs)):
            with self.subTest(name, ranks=ranks):
                self.assertSays(done, 3, name, *parts[name])


@needs_h5py
class Convert(ConvertCase):
    def test_what_verify_refuses_is_not_converted(self):
        """verify and convert share their checks: a damaged file exits with 3 and a message, and no file is made."""
        self.assertCode(data("make", "cosmology", "good.h5", "--edge", 6, "--quiet", cwd=self.folder), 0)
        whole = (self.folder / "good.h5").read_bytes()

        def change(name, how):
            (self.folder / name).write_bytes(whole)
            with h5py.File(self.folder / name, "a") as file:
                how(file)

        def value(file):
            file["Hydro"][4, 5, 3, 1] += 1

        def replace(name, shape, kind="f4"):
            def how(file):
                del file[name]
                file.create_dataset(name, data=np.zeros(shape, kind))
            return how

        def never_written(file):
            del file["Nbody"]
            file.create_dataset("Nbody", (4, 6, 6, 6), "f4")

        def nan(file):
            del file["Nbody"].attrs["checksum_sum64"]
            file["Nbody"][1, 2, 3, 4] = np.nan

        cases = {"value.h5": (value, "Hydro"), "nan.h5": (nan, "[1, 2, 3, 4]"),
                 "wide.h5": (replace("Nbody", (5, 6, 6, 6)), "[5, 6, 6, 6]"), "extents.h5": (replace("Nbody", (4, 6, 6, 7)), "[4, 6, 6, 7]"),
                 "double.h5": (replace("Hydro", (5, 6, 6, 6), "f8"), "float32"), "holes.h5": (never_written, "Nbody"),
                 "flat.h5": (replace("Hydro", 7), "[7]"), "none.h5": (lambda file: file.pop("Hydro"), "/Hydro")}
        for name, (how, _) in cases.items():
            change(name, how)
        (self.folder / "cut.h5").write_bytes(whole[:-500])
        at = whole.rindex(b"SNOD")  # the signature of the table of the datasets
        (self.folder / "header.h5").write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
        parts = {name: part for name, (_, part) in cases.items()} | {"cut.h5": "truncated", "header.h5": "damaged"}
        runs = [(name, ranks, verb) for name in parts for ranks in ((1, 2) if name in ("value.h5", "header.h5") else (1,))
                for verb in (("verify",), ("convert",))]
        before = self.names()
        for (name, ranks, verb), done in zip(runs, several(lambda run: data(*run[2], run[0], *(["o"] if run[2][0] == "convert" else []),
                                                                            "--quiet", ranks=run[1], cwd=self.folder), runs)):
            with self.subTest(name, ranks=ranks, verb=verb):
                self.assertSays(done, 3, name, parts[name])
        self.assertEqual(self.names(), before, "nothing half-made is left")

    def test_values_that_are_not_finite_are_not_converted(self):
        self.nbody[6, 4, 5, 3] = np.inf
        np.save(self.folder / "x_data.npy", self.nbody)
        for ranks in (1, 3):
            self.assertSays(self.convert("x_data.npy,x_label.npy", "x.h5", ranks=ranks), 3, "x_data.npy", "[6, 4, 5, 3]")
        self.assertFalse((self.folder / "x.h5").exists())

    def test_what_cannot_be_converted(self):
        whole = (self.folder / "x_data.npy").read_bytes()
        (self.folder / "cut.npy").write_bytes(whole[:-1])
        (self.folder / "more.npy").write_bytes(whole + b"x")
        (self.folder / "page.npy").write_bytes(b"<html>")
        (self.folder / "huge.npy").write_bytes(whole.replace(b"(7, 5, 6, 4)", b"(9999999999, 9999999999, 9, 4)".ljust(12))[:500])
        np.save(self.folder / "flat.npy", self.nbody.ravel())
        np.save(self.folder / "fortran.npy", np.asfortranarray(self.nbody))
        np.save(self.folder / "records.npy", np.zeros(3, [("a", "f4"), ("b", "i4")]))
        np.save(self.folder / "six.npy", np.zeros((2, 2, 2, 6), "f4"))
        np.save(self.folder / "other.npy", self.hydro[:6])
        cases = [
            (("cut.npy", "o.h5"), 3, "cut.npy", "truncated"), (("more.npy", "o.h5"), 3, "more.npy", "more"),
            (("page.npy", "o.h5"), 3, "npy"), (("huge.npy", "o.h5"), 3, "huge.npy"), (("none.npy", "o.h5"), 3, "none.npy"),
            (("flat.npy", "o.h5"), 3, "[D, H, W, C]"), (("fortran.npy", "o.h5"), 3, "Fortran order"), (("records.npy", "o.h5"), 3, "records.npy"),
            (("six.npy", "o.h5"), 3, "6 channels", "--dataset"), (("x_data.npy,other.npy", "o.h5"), 3, "other.npy"),
            (("x_data.npy,x_data.npy", "o.h5"), 2, "two inputs"), (("x_data.npy", "o.txt"), 2, ".h5"), (("x_data.npy",), 2, "input and an output"),
            (("x_data.npy,x_label.npy", "o.h5", "--dataset", "a"), 2, "--dataset"), (("x_data.npy", "none/o.h5"), 5, "none", "name another folder"),
            (("x_data.npy", "x_label.npy", "o.h5"), 2, "not expected"), (("o.h5", "stem"), 3, "o.h5"),
        ]
        runs = [(case, ranks) for case in cases for ranks in ((1, 3) if case[0][0] in ("cut.npy", "x_data.npy,other.npy") else (1,))]
        for ((words, code, *parts), ranks), done in zip(runs, several(lambda run: self.convert(*run[0][0], ranks=run[1]), runs)):
            with self.subTest(words, ranks=ranks):
                self.assertSays(done, code, *parts)
        self.assertFalse([name for name in self.names() if name.startswith((".", "o.h5"))], "nothing half-made is left")


class Images(Case):
    def test_verify_tells_what_is_wrong(self):
        self.assertCode(data("make", "cifar100", "c", "--train", "100", "--test", "100", cwd=self.folder), 0)
        good = (self.folder / "c/cifar-100-binary/train.bin").read_bytes()
        cli.make_idx(self.folder / "idx")
        images, labels = (self.folder / "idx" / name for name in cli.IDX_FILES[:2])
        files = {
            "cut.bin": (good[:-1], "neither a whole number of tokens"), "more.bin": (good + b"x", "neither a whole number of tokens"), "empty.bin": (b"", "is empty"),
            "fine.bin": (good[:3075] + b"\xff" + good[3076:], "record 1"), "coarse.bin": (good[:3074] + b"\x13" + b"\x00" + good[3076:], "record 1"),
            "cut-idx3-ubyte": (images.read_bytes()[:-1], "truncated"), "more-idx1-ubyte": (labels.read_bytes() + b"x", "holds 65"),
            "label-idx1-ubyte": (labels.read_bytes()[:-1] + b"\x0a", "label 10"),
            "magic-idx3-ubyte": (b"<html>404</html>" * 9, "0x3c68746d"), "notes.txt": (b"hello there", "notes.txt"),
        }
        for name, (content, _) in files.items():
            (self.folder / name).write_bytes(content)
        runs = [(name, ranks) for name in files for ranks in ((1, 3) if name in ("cut.bin", "notes.txt") else (1,))]
        for (name, ranks), done in zip(runs, several(lambda run: data("verify", run[0], ranks=run[1], cwd=self.folder), runs)):
            with self.subTest(name, ranks=ranks):
                self.assertSays(done, 3, name, files[name][1])


if __name__ == "__main__":
    cli.main()
