"""NumPy and h5py as the oracle of `ranklab io`: text files are numpy.savetxt's of the original formula, npy files numpy.save's, both byte by
byte, and the datasets of HDF5 files h5py's, by h5diff and bit by bit. For every rung that --list names, odd sizes, counts that ranks do not
divide, fewer records than ranks and none."""

import functools
import io
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ranklab_cli as cli  # noqa: E402

np, h5py = cli.modules("numpy", "h5py")

if not (cli.BIN / "ranklab-io").exists():
    cli.skip(f"there is no ranklab-io in {cli.BIN}")

RANKS = (1, 2, 3, 4)
# files, size: one that 2, 3 and 4 ranks do not divide; fewer than ranks; none; the smallest records; larger than a buffer or two.
CASES = ((7, 37), (5, 1), (3, 2), (1, 5), (2, 101), (0, 5))
H5DIFF = shutil.which("h5diff")


def f(x, y, n, t):
    """As the original writes it, for scalars and for arrays."""
    return ((x / 10) ** 2 * (y / 10) + (y / 10) ** 2 * (x / 10) + t / n) % 1


def grid(size):
    return np.arange(0 - size / 2, 0 + size / 2, 1), np.arange(500 - size / 2, 500 + size / 2, 1)


@functools.lru_cache(maxsize=64)
def record(n, size, t, loop):
    x, y = grid(size)
    if not loop:
        return f(*np.meshgrid(x, y), n, t)
    data = np.zeros([size, size])
    for i in range(size):
        for j in range(size):
            data[i, j] = f(x[i], y[j], n, t)
    return data


def savetxt(array):
    buffer = io.BytesIO()
    np.savetxt(buffer, array)
    return buffer.getvalue()


def save(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@functools.lru_cache(maxsize=1)
def rungs():
    """The names under the title Strategies of --list."""
    section = re.search(r"^Strategies\b.*\n((?:[ \t]+\S.*\n)+)", cli.ranklab("io", "--list").stdout, re.MULTILINE)
    return re.findall(r"^  (\S+)", section.group(1), re.MULTILINE)


def names(n):
    return [f"data{t:05d}" for t in range(n)]


class IoOracle(cli.Case):
    def ladder(self, strategies, n, size, *words, ranks=1, directory="D"):
        """{strategy: its folder}, after a run that succeeded."""
        place = self.folder / directory
        result = cli.ranklab("io", "--strategy", ",".join(strategies), "--files", n, "--size", size, "--directory", place, "-k", "--output", "none",
                             "--ceilings", "off", *words, ranks=ranks, cwd=self.folder, timeout=300)
        self.assertCode(result, 0)
        return {name: place / name if len(strategies) > 1 else place for name in strategies}

    def check(self, name, folder, n, size):
        """What lies in the folder of the rung is what the original program's libraries write."""
        made = sorted(path.name for path in folder.iterdir())
        if name.startswith("hdf5"):
            self.assertEqual(made, ["data.h5"])
            self.check_hdf5(folder / "data.h5", n, size)
            return
        ending = ".txt" if name.startswith("text") else ".npy"
        self.assertEqual(made, [stem + ending for stem in names(n)])
        for t, file in enumerate(made):
            expected = record(n, size, t, name == "text-loop")
            expected = savetxt(expected) if ending == ".txt" else save(expected)
            if (folder / file).read_bytes() != expected:
                self.fail(f"{name}: {file} is not what NumPy writes: {self.first_difference((folder / file).read_bytes(), expected)}")

    @staticmethod
    def first_difference(got, expected):
        at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
        return f"byte {at} of {len(got)} (NumPy: {len(expected)}): {got[max(0, at - 30):at + 10]!r} and {expected[max(0, at - 30):at + 10]!r}"

    def write_expected(self, n, size):
        path = self.folder / "expected.h5"
        with h5py.File(path, "w") as file:
            file.create_group("output")
            for t, name in enumerate(names(n)):
                file[f"output/{name}"] = record(n, size, t, False)
        return path

    def check_hdf5(self, path, n, size):
        ours = self.write_expected(n, size)
        with h5py.File(path) as got, h5py.File(ours) as expected:
            self.assertEqual(list(got), ["output"])
            self.assertEqual(sorted(got["output"]), names(n))
            for name in names(n):
                a, b = got["output"][name], expected["output"][name]
                self.assertEqual((a.dtype, a.shape, len(a.attrs)), (b.dtype, b.shape, 0))
                self.assertEqual(a[()].tobytes(), b[()].tobytes(), f"{path} {name}")

    def h5diff(self, a, b):
        return subprocess.run([H5DIFF, a, b], capture_output=True, text=True)

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
