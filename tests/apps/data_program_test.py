"""`ranklab data`: the files that it makes are read by other programs and are equal at any rank count; each error is one message.
Refusals of the command line: tests/refusals/data.json."""

import filecmp
import struct
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


def made(words, ranks, cwd):
    """Makes a data set at `ranks` ranks, in a folder or file named after that number."""
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
        values = {h5py.File(self.make("--seed", 2))["Nbody"][...].tobytes()}
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
            values.add(files[0]["Nbody"][...].tobytes())
            for file in files: file.close()
        self.assertEqual(len(values), 2, "the seed decides, the chunks do not")

    def test_its_fields_are_what_the_page_says(self):
        file = h5py.File(self.make())
        nbody, hydro = file["Nbody"][...].astype("f8"), file["Hydro"][...]
        self.assertTrue(np.isfinite(nbody).all() and np.isfinite(hydro).all())
        self.assertLess(abs(hydro).max(), 1)
        noise = [(14 * nbody[0] + 2) / 2] + [v / 0.3 for v in nbody[1:]]  # ln(rho) = 2 n - 2
        self.assertLess(max(abs(n).max() for n in noise), 5)
        around = []  # of all voxels but those at the faces
        for n in noise:
            for axis in range(3):
                below, here, above = (np.take(n, range(i, i + n.shape[axis] - 2), axis) for i in range(3))
                n = (below + 2 * here + above) / 4
            around.append(n)
        inside = hydro[:, 1:-1, 1:-1, 1:-1]
        density = 2 * around[0] - 2
        np.testing.assert_allclose(inside[0], np.tanh(density / 14), atol=2e-6)
        for axis in range(3):
            np.testing.assert_allclose(inside[1 + axis], np.tanh(0.3 * around[1 + axis]), atol=2e-6)
        squares = sum(m**2 for m in around[1:])
        log_t = np.log(1e4) + 0.6 * density + 4 / (1 + np.exp(-density)) * squares / (squares + 3)
        np.testing.assert_allclose(inside[4], np.tanh(log_t / 8 - 1.5), atol=5e-6)

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
        content = bytearray(path.read_bytes())
        content[place] ^= 1
        path.write_bytes(content)
        for done in several(lambda ranks: data("verify", "v.h5", ranks=ranks, cwd=self.folder), (1, 3)):
            self.assertSays(done, 3, "v.h5", "/Hydro", "sum64:")
            self.assertIn("INVALID", done.stdout)

    def test_verify_tells_what_is_wrong(self):
        whole = self.make(name="cut.h5").read_bytes()
        (self.folder / "cut.h5").write_bytes(whole[:-1000])
        for name, kind, bad in (("nan.h5", "f4", np.nan), ("doubles.h5", "f8", 0)):
            with h5py.File(self.folder / name, "w") as file:
                file["Nbody"], file["Hydro"] = np.zeros((4, 4, 4, 4), kind), np.zeros((5, 4, 4, 4), "f4")
                file["Hydro"][2, 3, 0, 1] = bad
        for name, ranks, *parts in (("cut.h5", 1, "truncated"), ("nan.h5", 3, "/Hydro", "[2, 3, 0, 1]"), ("doubles.h5", 1, "not hold float32")):
            with self.subTest(name):
                self.assertSays(data("verify", name, ranks=ranks, cwd=self.folder), 3, name, *parts)

    def test_a_file_without_checksum_is_right_too(self):
        with h5py.File(self.folder / "plain.h5", "w") as file:
            file.create_dataset("Nbody", data=np.zeros((4, 6, 6, 6), "f4"), compression="gzip")
            file["Hydro"] = np.zeros((5, 6, 6, 6), "f4")
        done = data("verify", "plain.h5", ranks=2, cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn("checksum", done.stdout)


@needs_h5py
class Convert(ConvertCase):
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
        """verify and convert share their checks: a damaged file exits with 3 and a message, and no file is made."""
        self.assertCode(data("make", "cosmology", "value.h5", "--edge", 6, "--quiet", cwd=self.folder), 0)
        with h5py.File(self.folder / "value.h5", "a") as file:
            file["Hydro"][4, 5, 3, 1] += 1
        before = self.names()
        for words, ranks in ((("verify", "value.h5"), 1), (("convert", "value.h5", "o"), 3)):
            self.assertSays(data(*words, "--quiet", ranks=ranks, cwd=self.folder), 3, "value.h5")
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
        done = data("verify", "x_data.npy", cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn("[7, 5, 6, 4] float32", done.stdout)

    def test_memory_does_not_grow_with_the_file(self):
        shape = (512, 512, 512, 1)
        with open(self.folder / "zeros.npy", "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
            file.truncate(file.tell() + 4 * np.prod(shape))  # a hole
        size = (self.folder / "zeros.npy").stat().st_size
        for words in (("verify", "zeros.npy"), ("convert", "zeros.npy", "zeros.h5", "--dataset", "zeros")):
            with self.subTest(words[0]):
                done = data(*words, "--quiet", cwd=self.folder)
                self.assertCode(done, 0)
                self.assertLess(done.max_rss, size / 2)
        (self.folder / "zeros.h5").unlink()

    def test_what_cannot_be_converted(self):
        (self.folder / "cut.npy").write_bytes((self.folder / "x_data.npy").read_bytes()[:-1])
        np.save(self.folder / "fortran.npy", np.asfortranarray(self.nbody))
        np.save(self.folder / "six.npy", np.zeros((2, 2, 2, 6), "f4"))
        np.save(self.folder / "other.npy", self.hydro[:6])
        for words, ranks, code, *parts in ((("cut.npy", "o.h5"), 3, 3, "cut.npy", "truncated"), (("fortran.npy", "o.h5"), 1, 3, "Fortran order"),
                                           (("six.npy", "o.h5"), 1, 3, "6 channels", "--dataset"),
                                           (("x_data.npy,other.npy", "o.h5"), 1, 3, "do not belong together"),
                                           (("x_data.npy", "o.txt"), 1, 2, ".h5"),
                                           (("x_data.npy,x_label.npy", "o.h5", "--dataset", "a"), 1, 2, "--dataset")):
            with self.subTest(words):
                self.assertSays(self.convert(*words, ranks=ranks), code, *parts)
        self.assertFalse([name for name in self.names() if name.startswith((".", "o.h5"))], "nothing half-made is left")


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
        (self.folder / "fine.bin").write_bytes(raw[:3075] + b"\xff" + raw[3076:])
        self.assertSays(data("verify", "fine.bin", ranks=3, cwd=self.folder), 3, "fine.bin", "record 1")

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

    def test_verify_looks_at_a_whole_folder(self):
        cli.make_idx(self.folder / "idx")
        (self.folder / "idx" / cli.IDX_FILES[1]).write_bytes(cli.idx_bytes(63)[1])
        self.assertSays(data("verify", "idx", cwd=self.folder), 3, "64 images", "63 labels")
        cli.make_idx(self.folder / "both")
        packed = self.folder / "both" / f"{cli.IDX_FILES[0]}.gz"
        packed.write_bytes(b"\x1f\x8b broken")  # training does not look beside the plain file
        self.assertSays(data("verify", "both", cwd=self.folder), 3, packed.name)


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
        for verb in ("make cosmology", "make cifar100", "make mnist", "verify", "convert"):
            self.assertIn(verb, data("--help").stdout)
            done = data(*verb.split(), "--help")
            self.assertCode(done, 0)
            self.assertIn(f"ranklab data {verb}", done.stdout)

    def test_a_dry_run_does_nothing_and_says_what_would_be(self):
        done = data("make", "cosmology", "--edge", "1024", "--chunk", "16", "--dry-run", ranks=2, cwd=self.folder)
        self.assertCode(done, 0)
        for line in ("# edge: 1024", f"# bytes: {36 * 1024**3}", "# file: cosmology-1024.h5"):
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
