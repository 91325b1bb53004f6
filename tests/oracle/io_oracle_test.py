"""NumPy and h5py as the oracle of `ranklab io`, for every strategy in --list: counts that ranks do not divide, fewer records than ranks, no record.
More ranks, sizes and options: tests/slow/apps/io_oracle_long_test.py."""

import unittest

import ranklab_cli as cli
from io_oracle import H5DIFF, IoOracleCase, h5py, np, record
from ranklab_cli import rungs


class IoOracle(IoOracleCase):
    def check_all(self, n, size, *words, ranks=1, strategies=None):
        directory = f"{n}-{size}-{ranks}-{len(words)}"
        for name, folder in self.ladder(strategies or rungs(), n, size, *words, ranks=ranks, directory=directory).items():
            with self.subTest(strategy=name, ranks=ranks, files=n, size=size, words=words):
                self.check(name, folder, n, size)

    def test_every_rung(self):
        for ranks, n, size in ((1, 7, 37), (3, 7, 37), (3, 2, 1)):
            self.check_all(n, size, ranks=ranks)

    def test_how_files_are_made_and_work_is_handed_out_changes_no_byte(self):
        self.check_all(7, 5, "--fsync", "--workers", 3, "--chunk", 3, "--alignment", 4096, "--latest-format", "--fill", "-C", ranks=2)
        self.check_all(7, 5, "--async", "--workers", 2, strategies=["process-pool"])

    def test_one_dataset_of_all_records(self):
        expected = np.stack([record(7, 37, t, False) for t in range(7)])
        folders = self.ladder([name for name in rungs() if name.startswith("hdf5")], 7, 37, "--layout", "single", ranks=3)
        for name, folder in folders.items():
            with self.subTest(strategy=name), h5py.File(folder / "data.h5") as file:
                (dataset,) = file["output"].values()
                self.assertEqual((dataset.shape, dataset.dtype, dataset[()].tobytes()), (expected.shape, expected.dtype, expected.tobytes()))

    @unittest.skipUnless(H5DIFF, "h5diff is not installed (Debian: hdf5-tools): here HDF5 files are compared by h5py alone")
    def test_h5diff_finds_nothing(self):
        (folder,) = self.ladder(["hdf5-parallel-collective"], 7, 37, ranks=3).values()
        expected = self.write_expected(7, 37)
        diff = self.h5diff(folder / "data.h5", expected)
        self.assertEqual((diff.returncode, diff.stdout), (0, ""), diff.stderr)
        with h5py.File(expected, "a") as file:
            file["output/data00006"][36, 36] += 1e-15
        self.assertEqual(self.h5diff(folder / "data.h5", expected).returncode, 1)


if __name__ == "__main__":
    cli.main()
