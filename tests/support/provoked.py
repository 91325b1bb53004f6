"""Training runs slowed by one cause each, for `ranklab report --why`, with the expected cause and first advice."""

import json
import pathlib
from dataclasses import dataclass

import ranklab_cli as cli

SLOW_READS = pathlib.Path(cli.BIN).parent / "tests" / "slow_reads.so"
ONE = ("--threads", 1)
CNN = ("--model", "bn-cnn", "--data", "synthetic")
MNIST = ("--model", "mnist-cnn", "--data", "synthetic")
BOUND_TO_A_CORE, FREE, TWO_CORES = ("--bind-to", "core"), ("--bind-to", "none"), ("taskset", "-c", "0,1")


@dataclass
class Provoked:
    words: tuple
    bound: str
    cause: str
    option: str = None  # beginning of the first advice
    launch: tuple = ()  # options of mpirun; none: without mpirun
    ranks: int = 1
    before: tuple = ()  # the launcher
    preload: bool = False


RUNS = {
    "slow input": Provoked(("--model", "resnet50.pt", "--input-shape", "3x32x32", "--classes", 10, "--data", "hdf5", "--inputs", "x.h5:/samples", "--targets", "y.h5:/samples", "--batch-size", 2,
                            "--workers", 0, "--steps", 24, *ONE), "input", "slow_input", "--workers", preload=True),
    "costly loader": Provoked((*CNN, "--loader-cost-us", 1000, "--batch-size", 16, "--workers", 0, "--steps", 60, *ONE), "input", "costly_loader", "--workers", before=TWO_CORES),
    "slow rank": Provoked((*CNN, "--inject-delay", "1:forward:100", "--batch-size", 16, "--steps", 30, *ONE), "imbalance", "late_rank", launch=FREE, ranks=2),
    "two threads on one core": Provoked((*CNN, "--batch-size", 64, "--steps", 60, "--threads", 2), "compute", "threads_on_cores", "mpirun --map-by slot:PE=2", launch=BOUND_TO_A_CORE),
    "tiny batch": Provoked((*MNIST, "--batch-size", 1, "--steps", 100, *ONE), "compute", "small_batch", "--batch-size"),
    "oversubscription": Provoked((*CNN, "--batch-size", 32, "--steps", 60, *ONE), "compute", "ranks_on_cores", launch=("--oversubscribe", *FREE), ranks=4, before=TWO_CORES),
    "healthy": Provoked((*MNIST, "--batch-size", 64, "--steps", 30, *ONE), "compute", "none", launch=FREE, ranks=2),
}


class Case(cli.Case):
    def make_data(self):
        """Makes a small user network and samples in HDF5 files; skips without torch."""
        try:
            import h5py
            import own_networks
        except ImportError as error:
            self.skipTest(f"{error.name} is not installed for this Python")
        own_networks.export("resnet50", self.folder)
        (inputs,), targets = own_networks.samples("resnet50", 500)
        for name, values in (("x", inputs), ("y", targets)):
            with h5py.File(self.folder / f"{name}.h5", "w") as file:
                file["samples"] = values

    def train(self, run, *more, launch=None, ranks=None):
        """Returns the diagnosis of such a run; `words` override its options."""
        if run.preload:
            self.make_data()
        command = [cli.RANKLAB, "train", *run.words, *more, "--output", "r.h5", "--quiet"]
        launch, ranks = run.launch if launch is None else launch, ranks or run.ranks
        if launch:
            command = ["mpirun", "-n", ranks, *launch, *command]
        if run.preload:
            command = ["env", f"LD_PRELOAD={SLOW_READS}", *command]
        self.assertCode(cli.run(*run.before, *command, timeout=120, cwd=self.folder), 0)
        return self.why()

    def why(self):
        shown = cli.ranklab("report", "r.h5", "--why", "--format", "json", cwd=self.folder)
        self.assertCode(shown, 0)
        return json.loads(shown.stdout)
