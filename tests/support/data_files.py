"""Shared by the tests of `ranklab data`: the program, and a volume as the two .npy files that it converts."""

from ranklab_cli import Case, ranklab

try:
    import numpy as np
except ImportError:
    np = None


def data(*words, ranks=1, **how):
    return ranklab("data", *words, ranks=ranks, **how)


class ConvertCase(Case):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(1)
        self.nbody = random.normal(size=(7, 5, 6, 4)).astype("f4")
        self.hydro = random.normal(size=(7, 5, 6, 5)).astype("f4")
        np.save(self.folder / "x_data.npy", self.nbody)
        np.save(self.folder / "x_label.npy", self.hydro)

    def convert(self, *words, ranks=1):
        return data("convert", *words, "--quiet", ranks=ranks, cwd=self.folder)
