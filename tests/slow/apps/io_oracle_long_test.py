"""NumPy and h5py as the oracle of `ranklab io`, for every strategy in --list at 1 to 4 ranks: sizes and counts that ranks do not divide, fewer
records than ranks, no record, large files, many files. Options that change no byte, and the short form: tests/oracle/io_oracle_test.py."""

import shutil

import ranklab_cli as cli
from io_oracle import IoOracleCase, record, save
from ranklab_cli import rungs

RANKS = (1, 2, 3, 4)
# (files, size): not divisible by 2, 3 or 4 ranks; fewer than ranks; smallest records; larger than two buffers.
CASES = ((7, 37), (5, 1), (3, 2), (1, 5), (2, 101))


class IoOracle(IoOracleCase):
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

    def test_more_records_than_five_digits_and_a_large_one(self):
        for name in [name for name in rungs() if name in ("binary", "text-vectorized", "hdf5-serial")]:
            with self.subTest(strategy=name):
                self.check(name, self.ladder([name], 2, 613, directory=f"large-{name}")[name], 2, 613)
        folder = self.ladder(["binary"], 100001, 1, "--no-verify", directory="many")["binary"]
        self.assertEqual((folder / "data100000.npy").read_bytes(), save(record(100001, 1, 100000, False)))
        self.assertEqual((folder / "data00007.npy").read_bytes(), save(record(100001, 1, 7, False)))


if __name__ == "__main__":
    cli.main()
