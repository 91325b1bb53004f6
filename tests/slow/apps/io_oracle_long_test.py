"""NumPy and h5py as the oracle of `ranklab io`, for every rung that --list names at 1 to 4 ranks: odd sizes, counts that ranks do not divide, fewer
records than ranks and none; every option that must change no byte; large files and many. The short form: tests/oracle/io_oracle_test.py."""

import shutil
import unittest

import ranklab_cli as cli
from io_oracle import H5DIFF, IoOracleCase, h5py, np, record, save
from ranklab_cli import rungs

RANKS = (1, 2, 3, 4)
# files, size: one that 2, 3 and 4 ranks do not divide; fewer than ranks; none; the smallest records; larger than a buffer or two.
CASES = ((7, 37), (5, 1), (3, 2), (1, 5), (2, 101), (0, 5))


class IoOracle(IoOracleCase):
    @unittest.skipUnless(H5DIFF, "h5diff is not installed (Debian: hdf5-tools): here HDF5 files are compared by h5py alone")
    def test_h5diff_finds_nothing(self):
        for ranks in RANKS:
            folders = self.ladder([name for name in rungs() if name.startswith("hdf5")], 7, 37, ranks=ranks)
            expected = self.write_expected(7, 37)
            for name, folder in folders.items():
                with self.subTest(strategy=name, ranks=ranks):
                    diff = self.h5diff(folder / "data.h5", expected)
                    self.assertEqual((diff.returncode, diff.stdout), (0, ""), diff.stderr)
            with h5py.File(expected, "a") as file:
                file["output/data00006"][36, 36] += 1e-15
            self.assertEqual(self.h5diff(folder / "data.h5", expected).returncode, 1)
            shutil.rmtree(self.folder / "D")

    def test_every_rung_at_every_number_of_ranks(self):
        for ranks in RANKS:
            for n, size in CASES:
                folders = self.ladder(rungs(), n, size, ranks=ranks)
                for name, folder in folders.items():
                    with self.subTest(strategy=name, ranks=ranks, files=n, size=size):
                        self.check(name, folder, n, size)
                shutil.rmtree(self.folder / "D")

    def test_a_rung_alone_writes_into_the_directory_itself(self):
        for name in rungs():
            for folder in self.ladder([name], 3, 5, directory=f"alone-{name}", ranks=2).values():
                with self.subTest(strategy=name):
                    self.check(name, folder, 3, 5)

    def test_how_files_are_made_changes_no_byte(self):
        for words in (("--rename",), ("--fsync",), ("--workers", 3, "--chunk", 3, "--alignment", 4096, "--latest-format"),
                      ("--workers", 2, "--fill", "--collective-metadata", "off", "--allocation", "late", "-C")):
            folders = self.ladder(rungs(), 7, 5, *words, ranks=2)
            for name, folder in folders.items():
                with self.subTest(strategy=name, words=words):
                    self.check(name, folder, 7, 5)
            shutil.rmtree(self.folder / "D")

    def test_forms_of_handing_out_work_change_no_byte(self):
        for name, words in (("process-pool", ("--async", "--workers", 2)), ("mpi-send", ("--dynamic", "--chunk-files", 2))):
            if name not in rungs():
                continue
            for ranks in (1, 3):
                folders = self.ladder([name], 7, 5, *words, ranks=ranks, directory=f"{name}-{ranks}")
                with self.subTest(strategy=name, ranks=ranks):
                    self.check(name, folders[name], 7, 5)

    def test_single_layout_is_one_dataset_of_all_records(self):
        shared = [name for name in rungs() if name.startswith("hdf5")]
        for ranks in (1, 3):
            for n, size in ((7, 37), (2, 5)):
                folders = self.ladder(shared, n, size, "--layout", "single", ranks=ranks)
                expected = np.stack([record(n, size, t, False) for t in range(n)])
                for name, folder in folders.items():
                    with self.subTest(strategy=name, ranks=ranks, files=n), h5py.File(folder / "data.h5") as file:
                        (dataset,) = file["output"].values()
                        self.assertEqual((dataset.shape, dataset.dtype), (expected.shape, expected.dtype))
                        self.assertEqual(dataset[()].tobytes(), expected.tobytes())
                shutil.rmtree(self.folder / "D")

    def test_more_records_than_five_digits_and_a_large_one(self):
        for name in [name for name in rungs() if name in ("binary", "text-vectorized", "hdf5-serial")]:
            with self.subTest(strategy=name):
                self.check(name, self.ladder([name], 2, 613, directory=f"large-{name}")[name], 2, 613)
        folder = self.ladder(["binary"], 100001, 1, "--no-verify", directory="many")["binary"]
        self.assertEqual((folder / "data100000.npy").read_bytes(), save(record(100001, 1, 100000, False)))
        self.assertEqual((folder / "data00007.npy").read_bytes(), save(record(100001, 1, 7, False)))


if __name__ == "__main__":
    cli.main()
