"""Compares files of `ranklab io` with NumPy's and h5py's: text files with numpy.savetxt's and npy files with numpy.save's byte by byte, datasets of
HDF5 files with h5py's by h5diff and bit by bit."""

import functools
import io
import shutil
import subprocess

import ranklab_cli as cli

np, h5py = cli.modules("numpy", "h5py")

H5DIFF = shutil.which("h5diff")


def f(x, y, n, t):
    """The original's formula, for scalars and arrays."""
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


def names(n):
    return [f"data{t:05d}" for t in range(n)]


class IoOracleCase(cli.Case):
    def ladder(self, strategies, n, size, *words, ranks=1, directory="D"):
        """Runs the strategies and returns {strategy: its folder}."""
        place = self.folder / directory
        result = cli.ranklab("io", "--strategy", ",".join(strategies), "--files", n, "--size", size, "--directory", place, "-k", "--output", "none",
                             "--ceilings", "off", *words, ranks=ranks, cwd=self.folder, timeout=300)
        self.assertCode(result, 0)
        return {name: place / name if len(strategies) > 1 else place for name in strategies}

    def check(self, name, folder, n, size):
        """Checks that the strategy's folder has exactly the files that NumPy or h5py write, and the mark."""
        mark, *made = sorted(path.name for path in folder.iterdir())
        self.assertTrue(mark.startswith(".ranklab-io."), mark)
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
