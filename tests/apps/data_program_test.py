"""`ranklab data`: what it makes is what others read and the same at any rank count; what is wrong is told in a sentence. What it
refuses by the command line alone is in tests/refusals/data.json."""

import filecmp
import pathlib
import struct
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, ranklab, several

try:
    import h5py
    import numpy as np
except ImportError:
    h5py = np = None

EDGE = 10  # divisible by neither 3 nor 4
CELLS = EDGE**3
needs_h5py = unittest.skipIf(h5py is None, "h5py and numpy are not in this Python")


def data(*words, ranks=1, **how):
    return ranklab("data", *words, ranks=ranks, **how)


def made(words, ranks, cwd):
    """A data set of that many ranks, in the folder or file name <ranks>."""
    return data(*words, "--output", f"{ranks}.out", "--quiet", ranks=ranks, cwd=cwd)


def mix64(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def sum64(array):
    """docs/data.md's formula, in other words than ranklab's."""
    with np.errstate(over="ignore"):
        places = np.arange(array.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        bits = np.ascontiguousarray(array).ravel().view(np.uint32).astype(np.uint64)
        return int(mix64(places + bits).sum(dtype=np.uint64))


@needs_h5py
class Cosmology(Case):
    def make(self, *words, name="v.h5", ranks=1):
        done = data("make", "cosmology", name, "--edge", EDGE, "--quiet", *words, ranks=ranks, cwd=self.folder)
        self.assertCode(done, 0)
        return self.folder / name

    def test_it_is_the_same_at_any_number_of_ranks(self):
        for chunk in (0, 4):
            words = ("make", "cosmology", "--edge", EDGE, "--chunk", chunk, "--force")
            for done in several(lambda ranks: made(words, ranks, self.folder), (1, 3)):
                self.assertCode(done, 0)
            files = [h5py.File(self.folder / f"{ranks}.out") for ranks in (1, 3)]
            for name, channels in (("Nbody", 4), ("Hydro", 5)):
                one = files[0][name]
                self.assertEqual(one.shape, (channels, EDGE, EDGE, EDGE))
                self.assertEqual(one.dtype, np.dtype("<f4"))
                self.assertEqual(one.chunks, (channels, 4, 4, 4) if chunk else None)
                for file in files[1:]:
                    self.assertEqual(file[name][...].tobytes(), one[...].tobytes(), name)
                    self.assertEqual(dict(file[name].attrs), dict(one.attrs))
                self.assertEqual(int(one.attrs["checksum_sum64"]) % 2**64, sum64(one[...]))
            self.assertEqual({dict(file.attrs)["seed"] for file in files}, {1})
            for file in files:
                file.close()

    def test_its_fields_are_what_the_page_says(self):
        file = h5py.File(self.make("--spectrum", "power-law", "--cutoff", "1", "--gas-smoothing", "1"))
        nbody, hydro = file["Nbody"][...].astype("f8"), file["Hydro"][...]
        self.assertTrue(np.isfinite(nbody).all() and np.isfinite(hydro).all())
        self.assertLess(abs(hydro).max(), 1)
        g = (14 * nbody[0] + 2) / 2  # ln(rho) = 2 g - 2
        self.assertAlmostEqual(g.mean(), 0, places=5)
        self.assertAlmostEqual(g.std(), 1, delta=0.5)
        k = 2 * np.pi * np.fft.fftfreq(EDGE)
        k[EDGE // 2] = 0  # the wave that is its own conjugate has no derivative
        axes = [k.reshape([-1 if a == axis else 1 for a in range(3)]) for axis in range(3)]
        spectrum = np.fft.fftn(g)
        k2 = sum((2 * np.pi * np.fft.fftfreq(EDGE)).reshape(a.shape) ** 2 for a in axes)
        k2[0, 0, 0] = 1
        smooth = np.fft.ifftn(spectrum * np.exp(-k2 / 2)).real  # of width 1 cell; the mean is 0
        np.testing.assert_allclose(hydro[0], np.tanh((2 * smooth - 2) / 14), atol=2e-6)
        for axis in range(3):
            linear = np.fft.ifftn(1j * axes[axis] / k2 * spectrum).real
            scale = (linear * nbody[1 + axis]).sum() / (linear**2).sum()
            self.assertGreater(scale, 0)
            np.testing.assert_allclose(nbody[1 + axis], scale * linear, atol=2e-6)
        gas = [np.fft.ifftn(np.fft.fftn(nbody[1 + axis]) * np.exp(-k2 / 2)).real for axis in range(3)]
        for axis in range(3):
            np.testing.assert_allclose(hydro[1 + axis], np.tanh(gas[axis]), atol=2e-6)
        density, speed2 = 2 * smooth - 2, sum(v**2 for v in gas)
        log_t = np.log(1e4) + 0.6 * density + 4 / (1 + np.exp(-density)) * speed2 / (speed2 + 3 * 0.3**2)
        np.testing.assert_allclose(hydro[4], np.tanh(log_t / 8 - 1.5), atol=5e-6)

    def test_seeds_and_spectra_differ(self):
        files = [self.make(name="a.h5"), self.make("--seed", "2", name="b.h5"), self.make("--spectrum", "power-law", name="c.h5")]
        values = {h5py.File(file)["Nbody"][...].tobytes() for file in files}
        self.assertEqual(len(values), 3)

    def test_chunks_lie_at_pages_unfiltered_and_allocated(self):
        with h5py.File(self.make("--chunk", "4", ranks=2)) as file:
            for name in ("Nbody", "Hydro"):
                dataset = file[name].id
                self.assertEqual(dataset.get_num_chunks(), 27)
                self.assertEqual(dataset.get_create_plist().get_nfilters(), 0)
        with h5py.File(self.make(name="w.h5", ranks=2)) as file:
            for name in ("Nbody", "Hydro"):
                self.assertEqual(file[name].id.get_offset() % 4096, 0)
                raw = np.fromfile(self.folder / "w.h5", "<f4", file[name].size, offset=file[name].id.get_offset())
                self.assertEqual(raw.tobytes(), file[name][...].tobytes(), "the values lie in the file as they are")

    def test_verify_finds_a_flipped_byte(self):
        path = self.make("--chunk", "4")
        with h5py.File(path) as file:
            place = file["Hydro"].id.get_chunk_info(5).byte_offset + 7
        with open(path, "r+b") as raw:
            raw.seek(place)
            byte = raw.read(1)
            raw.seek(place)
            raw.write(bytes([byte[0] ^ 1]))
        for done in several(lambda ranks: data("verify", "v.h5", ranks=ranks, cwd=self.folder), (1, 3)):
            self.assertSays(done, 3, "v.h5", "/Hydro", "sum64:")
            self.assertIn("WRONG", done.stdout)

    def spoil(self, name, change):
        with h5py.File(self.folder / name, "w") as file:
            change(file)

    def test_verify_tells_what_is_wrong(self):
        good = np.zeros((5, 4, 4, 4), "f4")

        def both(nbody, hydro=good, **how):
            return lambda file: (file.create_dataset("Nbody", data=nbody, **how), file.create_dataset("Hydro", data=hydro))

        bad = good.copy()
        bad[2, 3, 0, 1] = np.nan
        small = np.zeros((4, 4, 4, 4), "f4")
        cases = {
            "nan.h5": (both(small, bad), "/Hydro", "not finite", "[2, 3, 0, 1]"),
            "channels.h5": (both(good), "/Nbody", "[5, 4, 4, 4]"),
            "edges.h5": (both(np.zeros((4, 3, 3, 3), "f4")), "edge 3", "4"),
            "doubles.h5": (both(small.astype("f8")), "float64", "float32"),
            "missing.h5": (lambda file: file.create_dataset("Nbody", data=small), "no dataset /Hydro"),
            "unwritten.h5": (lambda file: (file.create_dataset("Nbody", (4, 10**5, 10**5, 10**5), "f4", chunks=(4, 64, 64, 64)),
                                           file.create_dataset("Hydro", data=good)), "/Nbody", "never written"),
        }
        for name, (change, *_) in cases.items():
            self.spoil(name, change)
        whole = self.make(name="cut.h5").read_bytes()
        (self.folder / "cut.h5").write_bytes(whole[:-1000])
        parts = {name: case[1:] for name, case in cases.items()}
        parts |= {"cut.h5": ("truncated",)}
        runs = [(name, ranks) for name in parts for ranks in ((1, 3) if name == "nan.h5" else (1,))]
        for (name, ranks), done in zip(runs, several(lambda run: data("verify", run[0], ranks=run[1], cwd=self.folder), runs)):
            with self.subTest(name, ranks=ranks):
                self.assertSays(done, 3, name, *parts[name])

    def test_a_file_without_checksum_is_right_too(self):
        self.spoil("plain.h5", lambda file: (file.create_dataset("Nbody", data=np.zeros((4, 6, 6, 6), "f4"), compression="gzip"),
                                             file.create_dataset("Hydro", data=np.zeros((5, 6, 6, 6), "f4"))))
        done = data("verify", "plain.h5", ranks=2, cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn("no checksum stored", done.stdout)


@needs_h5py
class Convert(Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        self.nbody = random.normal(size=(7, 5, 6, 4)).astype("f4")
        self.hydro = random.normal(size=(7, 5, 6, 5)).astype("f4")
        np.save(self.folder / "x_data.npy", self.nbody)
        np.save(self.folder / "x_label.npy", self.hydro)

    def convert(self, *words, ranks=1):
        return data("convert", *words, "--quiet", ranks=ranks, cwd=self.folder)

    def test_npy_to_hdf5_and_back(self):
        for ranks, chunk in ((1, 0), (2, 4), (3, 3)):
            with self.subTest(ranks=ranks):
                self.assertCode(self.convert("x_data.npy,x_label.npy", "x.h5", "--chunk", chunk, "--force", ranks=ranks), 0)
                with h5py.File(self.folder / "x.h5") as file:
                    self.assertEqual(file["Nbody"][...].tobytes(), self.nbody.transpose(3, 0, 1, 2).tobytes())
                    self.assertEqual(file["Hydro"][...].tobytes(), self.hydro.transpose(3, 0, 1, 2).tobytes())
                    self.assertEqual(int(file["Hydro"].attrs["checksum_sum64"]) % 2**64, sum64(file["Hydro"][...]))
                self.assertCode(self.convert("x.h5", "y", "--force", ranks=ranks), 0)
                self.assertEqual(np.load(self.folder / "y_data.npy").tobytes(), self.nbody.tobytes())
                self.assertEqual(np.load(self.folder / "y_label.npy").shape, self.hydro.shape)

    def test_what_verify_refuses_is_not_converted(self):
        """One set of checks: a damaged file is exit 3 with a sentence, and nothing is made of it."""
        self.assertCode(data("make", "cosmology", "good.h5", "--edge", 6, "--quiet", cwd=self.folder), 0)
        whole = (self.folder / "good.h5").read_bytes()

        def change(name, how):
            (self.folder / name).write_bytes(whole)
            with h5py.File(self.folder / name, "a") as file:
                how(file)

        def value(file):
            file["Hydro"][4, 5, 3, 1] += 1

        def never_written(file):
            del file["Nbody"]
            file.create_dataset("Nbody", (4, 6, 6, 6), "f4")

        change("value.h5", value)
        change("holes.h5", never_written)
        at = whole.rindex(b"OHDR") + 8  # within a dataset's header
        (self.folder / "header.h5").write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
        before = self.names()
        for name, part in (("value.h5", "the file has changed since"), ("holes.h5", "were never written"), ("header.h5", "damaged")):
            for verb, ranks in (("verify", 1), ("convert", 3 if name == "value.h5" else 1)):
                with self.subTest(name, ranks=ranks, verb=verb):
                    done = data(verb, name, *(["o"] if verb == "convert" else []), "--quiet", ranks=ranks, cwd=self.folder)
                    self.assertSays(done, 3, name, part)
        self.assertEqual(self.names(), before, "nothing half-made is left")

    def test_one_file_into_a_named_dataset(self):
        np.save(self.folder / "d.npy", self.nbody[..., :1].astype("f8"))
        np.save(self.folder / "u.npy", np.arange(4 * 3 * 2 * 2, dtype="u1").reshape(4, 3, 2, 2))
        self.assertCode(self.convert("d.npy", "d.h5", "--dataset", "density", ranks=2), 0)
        self.assertCode(self.convert("u.npy", "u.h5", "--dataset", "u"), 0)
        with h5py.File(self.folder / "d.h5") as file:
            self.assertEqual(file["density"][0].tobytes(), self.nbody[..., 0].tobytes())
        with h5py.File(self.folder / "u.h5") as file:
            self.assertEqual(file["u"][1, 3, 2, 1], 47)

    def test_verify_reads_npy(self):
        done = data("verify", "x_data.npy", ranks=3, cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn("[7, 5, 6, 4] float32", done.stdout)
        self.nbody[6, 4, 5, 3] = np.nan
        np.save(self.folder / "nan.npy", self.nbody)
        self.assertSays(data("verify", "nan.npy", ranks=3, cwd=self.folder), 3, "nan.npy", "[6, 4, 5, 3]")

    def test_what_cannot_be_converted(self):
        whole = (self.folder / "x_data.npy").read_bytes()
        (self.folder / "cut.npy").write_bytes(whole[:-1])
        (self.folder / "more.npy").write_bytes(whole + b"x")
        (self.folder / "huge.npy").write_bytes(whole.replace(b"(7, 5, 6, 4)", b"(9999999999, 9999999999, 9, 4)".ljust(12))[:500])
        np.save(self.folder / "flat.npy", self.nbody.ravel())
        np.save(self.folder / "fortran.npy", np.asfortranarray(self.nbody))
        np.save(self.folder / "records.npy", np.zeros(3, [("a", "f4"), ("b", "i4")]))
        np.save(self.folder / "six.npy", np.zeros((2, 2, 2, 6), "f4"))
        np.save(self.folder / "other.npy", self.hydro[:6])
        cases = [
            (("cut.npy", "o.h5"), 3, "cut.npy", "truncated"), (("more.npy", "o.h5"), 3, "more.npy", "more"),
            (("huge.npy", "o.h5"), 3, "huge.npy"), (("flat.npy", "o.h5"), 3, "[D, H, W, C]"), (("fortran.npy", "o.h5"), 3, "Fortran order"),
            (("records.npy", "o.h5"), 3, "fields"), (("six.npy", "o.h5"), 3, "6 channels", "--dataset"),
            (("x_data.npy,other.npy", "o.h5"), 3, "do not belong together"), (("x_data.npy", "o.txt"), 2, ".h5"),
            (("x_data.npy,x_label.npy", "o.h5", "--dataset", "a"), 2, "--dataset"),
        ]
        runs = [(case, ranks) for case in cases for ranks in ((1, 3) if case[0][0] == "cut.npy" else (1,))]
        for ((words, code, *parts), ranks), done in zip(runs, several(lambda run: self.convert(*run[0][0], ranks=run[1]), runs)):
            with self.subTest(words, ranks=ranks):
                self.assertSays(done, code, *parts)
        self.assertFalse([name for name in self.names() if name.startswith((".", "o.h5"))], "nothing half-made is left")


class Libraries(Case):
    @cli.only_open_mpi  # MPICH 4 as Debian builds it is on UCX, whatever there is
    def test_no_library_of_a_fabric_comes_and_goes(self):
        """UCX has a thread of its own. Where there is no device for it, it would be loaded, asked and unloaded at every start."""
        if any(pathlib.Path("/sys/class").glob("infiniband/*")):
            self.skipTest("there is a fabric here")
        self.assertCode(data("make", "mnist", "m", "--train", 2, "--test", 2, "--quiet", cwd=self.folder), 0)
        for ranks in (1, 2):
            log = self.folder / f"loads{ranks}"
            env = cli.environment(LD_DEBUG="files", LD_DEBUG_OUTPUT=str(log))
            self.assertCode(data("verify", "m", "--quiet", ranks=ranks, cwd=self.folder, env=env), 0)
            loads = [line for file in self.folder.glob(f"{log.name}.*") for line in file.read_text(errors="replace").splitlines()]
            started = [line for line in loads if "calling init:" in line]
            self.assertTrue(any("libc.so" in line for line in started))
            self.assertFalse([line for line in started if "libucs" in line or "libpsm2" in line], f"{ranks} rank(s)")
            if ranks == 1:
                self.assertFalse([line for line in started if "mca_" in line], "MPI is not started for a process alone")


class Images(Case):
    def test_cifar100_is_the_same_at_any_number_of_ranks(self):
        words = ("make", "cifar100", "--train", "250", "--test", "103")
        for done in several(lambda ranks: made(words, ranks, self.folder), (1, 3)):
            self.assertCode(done, 0)
        for name, records in (("train.bin", 250), ("test.bin", 103)):
            files = [self.folder / f"{ranks}.out" / "cifar-100-binary" / name for ranks in (1, 3)]
            self.assertEqual(files[0].stat().st_size, 3074 * records)
            self.assertTrue(filecmp.cmp(*files, False))
            raw = files[0].read_bytes()
            fine, coarse = raw[1::3074], raw[0::3074]
            self.assertEqual(sorted(fine[:100]), list(range(100)), "each class once in a hundred")
            self.assertEqual(len(set(zip(fine, coarse))), 100, "one coarse label to a fine one")
        done = data("verify", "3.out", ranks=2, cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn("250 images", done.stdout)

    def test_mnist_is_the_same_at_any_number_of_ranks(self):
        words = ("make", "mnist", "--train", "120", "--test", "31")
        for done in several(lambda ranks: made(words, ranks, self.folder), (1, 3)):
            self.assertCode(done, 0)
        for name, magic, n in zip(cli.IDX_FILES, (0x803, 0x801) * 2, (120, 120, 31, 31)):
            files = [self.folder / f"{ranks}.out" / name for ranks in (1, 3)]
            raw = files[0].read_bytes()
            self.assertEqual(struct.unpack(">II", raw[:8]), (magic, n))
            self.assertEqual(len(raw), 16 + 784 * n if magic == 0x803 else 8 + n)
            self.assertTrue(filecmp.cmp(*files, False))
        self.assertCode(data("verify", "1.out", cwd=self.folder), 0)

    @cli.needs_train
    def test_training_reads_what_was_made(self):
        self.assertCode(data("make", "mnist", "m", "--train", "64", "--test", "32", cwd=self.folder), 0)
        self.assertCode(cli.train("--data", "mnist", "--data-dir", "m", "--steps", "2", "--batch-size", "8", "--output", "none", cwd=self.folder), 0)

    def test_sizes_of_the_originals(self):
        done = data("make", "cifar100", "--dry-run", cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn(f"# bytes: {153700000 + 30740000}\n", done.stdout)
        done = data("make", "mnist", "--dry-run", cwd=self.folder)
        self.assertIn(f"# bytes: {47040016 + 60008 + 7840016 + 10008}\n", done.stdout)
        self.assertEqual(self.names(), [])

    def test_verify_tells_what_is_wrong(self):
        self.assertCode(data("make", "cifar100", "c", "--train", "100", "--test", "100", cwd=self.folder), 0)
        good = (self.folder / "c/cifar-100-binary/train.bin").read_bytes()
        cli.make_idx(self.folder / "idx")
        images, labels = (self.folder / "idx" / name for name in cli.IDX_FILES[:2])
        files = {
            "cut.bin": (good[:-1], "truncated"), "more.bin": (good + b"x", "1 bytes more"),
            "fine.bin": (good[:3075] + b"\xff" + good[3076:], "record 1"), "coarse.bin": (good[:3074] + b"\x13" + b"\x00" + good[3076:], "record 1"),
            "cut-idx3-ubyte": (images.read_bytes()[:-1], "truncated"), "more-idx1-ubyte": (labels.read_bytes() + b"x", "more than"),
            "label-idx1-ubyte": (labels.read_bytes()[:-1] + b"\x0a", "label 10 of sample 63"),
            "magic-idx3-ubyte": (b"<html>404</html>" * 9, "0x3c68746d"),
        }
        for name, (content, _) in files.items():
            (self.folder / name).write_bytes(content)
        runs = [(name, ranks) for name in files for ranks in ((1, 3) if name == "cut.bin" else (1,))]
        for (name, ranks), done in zip(runs, several(lambda run: data("verify", run[0], ranks=run[1], cwd=self.folder), runs)):
            with self.subTest(name, ranks=ranks):
                self.assertSays(done, 3, name, files[name][1])

    def test_verify_looks_at_a_whole_folder(self):
        cli.make_idx(self.folder / "idx")
        self.assertCode(data("verify", "idx", cwd=self.folder), 0)
        (self.folder / "idx" / cli.IDX_FILES[1]).write_bytes(cli.idx_bytes(63)[1])
        self.assertSays(data("verify", "idx", cwd=self.folder), 3, "64 images", "63 labels")
        (self.folder / "idx" / cli.IDX_FILES[3]).unlink()
        self.assertSays(data("verify", "idx", cwd=self.folder), 3, cli.IDX_FILES[3], "does not exist")


class Places(Case):
    def test_what_is_there_is_kept_unless_forced(self):
        (self.folder / "v.h5").write_bytes(b"precious")
        self.assertSays(data("make", "cosmology", "v.h5", "--edge", "8", ranks=3, cwd=self.folder), 2, "v.h5", "--force")
        self.assertEqual((self.folder / "v.h5").read_bytes(), b"precious")
        self.assertCode(data("make", "cosmology", "v.h5", "--edge", "8", "--force", ranks=2, cwd=self.folder), 0)
        self.assertCode(data("verify", "v.h5", cwd=self.folder), 0)

    def test_a_read_only_folder(self):
        (self.folder / "locked").mkdir()
        self.make_read_only(self.folder / "locked")
        for words in (("cosmology", "locked/v.h5", "--edge", "8"), ("mnist", "locked", "--train", "1", "--test", "1")):
            self.assertSays(data("make", *words, cwd=self.folder), 5, "locked", "writable")
        self.assertEqual(self.names(), [])


class CommandLine(Case):
    def test_help_says_how(self):
        done = data("--help")
        self.assertCode(done, 0)
        for verb in ("make cosmology", "make cifar100", "make mnist", "verify", "convert"):
            self.assertIn(verb, done.stdout)
            one = data(*verb.split(), "--help")
            self.assertCode(one, 0)
            self.assertIn(f"Usage: ranklab data {verb}", one.stdout)
            self.assertIn("Examples:", one.stdout)
        self.assertCode(data("--version"), 0)
        self.assertIn("make mnist", data("--list").stdout)
        self.assertCode(data(), 2)

    def test_a_dry_run_does_nothing_and_says_what_would_be(self):
        done = data("make", "cosmology", "--edge", "1024", "--chunk", "16", "--dry-run", ranks=2, cwd=self.folder)
        self.assertCode(done, 0)
        for line in ("# edge: 1024", f"# bytes: {36 * 1024**3}", f"# memory_per_rank_bytes: {18 * 1024**3}", "# file: cosmology-1024.h5",
                     "# spectral-index: 0.96"):
            self.assertIn(line + "\n", done.stdout)
        self.assertEqual(self.names(), [])

    def test_a_config_file(self):
        (self.folder / "c.ini").write_text("edge = 6\nseed = 9\n")
        done = data("make", "cosmology", "--config", "c.ini", "--seed", "3", cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn("# seed: 3\n", done.stdout)
        self.assertIn("cosmology-6.h5", self.names())


if __name__ == "__main__":
    cli.main()
