"""Training runs slowed by known causes, for `ranklab report --why`, with the expected cause and first advice."""

import contextlib
import dataclasses
import json
import pathlib
import socket
import subprocess
import sys

import ranklab_cli as cli

SLOW_READS = pathlib.Path(cli.BIN).parent / "tests" / "slow_reads.so"
SLOW_LINK = cli.SOURCE / "tests" / "support" / "slow_link.c"  # compiled by mpicc
ONE = ("--threads", 1)
CNN = ("--model", "bn-cnn", "--data", "synthetic")
MNIST = ("--model", "mnist-cnn", "--data", "synthetic")
BOUND_TO_A_CORE, FREE, TWO_CORES = ("--bind-to", "core"), ("--bind-to", "none"), ("taskset", "-c", "0,1")


@dataclasses.dataclass
class Provoked:
    words: tuple
    bound: str
    cause: str
    option: str = None  # beginning of the first advice
    launch: tuple = ()  # options of mpirun; none: without mpirun
    ranks: int = 1
    before: tuple = ()  # the launcher
    preload: pathlib.Path = None
    burners: int = 0  # other processes that compute meanwhile
    says: str = ""  # in the sentence

    def is_named(self, found):
        return (found["bound"], found["cause"]) == (self.bound, self.cause) and self.says in found["sentence"]


def late(phase, ms, ranks, *more):
    """The last rank is late in a phase."""
    words = (*CNN, "--inject-delay", f"{ranks - 1}:{phase}:{ms}", "--batch-size", 16, "--steps", 40, *ONE, *more)
    return Provoked(words, "imbalance", "late_rank", launch=FREE, ranks=ranks, before=TWO_CORES, says=f"rank {ranks - 1} on {socket.gethostname()} (its {phase} phase")


RUNS = {
    "slow input": Provoked(("--model", "resnet50.pt", "--input-shape", "3x32x32", "--classes", 10, "--data", "hdf5", "--inputs", "x.h5:/samples", "--targets", "y.h5:/samples", "--batch-size", 2,
                            "--workers", 0, "--steps", 24, *ONE), "input", "slow_input", "--workers", preload=SLOW_READS),
    "costly loader": Provoked((*CNN, "--loader-cost-us", 1000, "--batch-size", 16, "--workers", 0, "--steps", 60, *ONE), "input", "costly_loader", "--workers", before=TWO_CORES),
    "slow rank": Provoked((*CNN, "--inject-delay", "1:forward:100", "--batch-size", 16, "--steps", 30, *ONE), "imbalance", "late_rank", launch=FREE, ranks=2),
    "two threads on one core": Provoked((*CNN, "--batch-size", 64, "--steps", 60, "--threads", 2), "compute", "threads_on_cores", "mpirun --map-by slot:PE=2", launch=BOUND_TO_A_CORE),
    "tiny batch": Provoked((*MNIST, "--batch-size", 1, "--steps", 100, *ONE), "compute", "small_batch", "--batch-size"),
    "oversubscription": Provoked((*CNN, "--batch-size", 32, "--steps", 60, *ONE), "compute", "ranks_on_cores", launch=("--oversubscribe", *FREE), ranks=4, before=TWO_CORES),
    "healthy": Provoked((*MNIST, "--batch-size", 64, "--steps", 30, *ONE), "compute", "none", launch=FREE, ranks=2),
    "slow link": Provoked((*MNIST, "--batch-size", 4, "--steps", 40, *ONE), "communication", "transfer", launch=FREE, ranks=2, preload=SLOW_LINK),
    "one thread on two cores": Provoked((*MNIST, "--batch-size", 64, "--steps", 40, *ONE), "compute", "idle_cores", "--threads 2", before=TWO_CORES),
    "other load": Provoked((*CNN, "--batch-size", 64, "--steps", 60, *ONE), "other_load", "other_load", launch=FREE, ranks=2, before=TWO_CORES, burners=4),
    "late in data": late("data", 150, 2),
    "late in copy": late("copy", 200, 3),
    "late in forward": late("forward", 200, 3),
    "late in backward": late("backward", 150, 2),
    "late in sync": late("sync", 150, 2),
    "late in optimizer": late("optimizer", 200, 3),
    # Two at once: the larger one is named.
    "late by more than the loader costs": late("forward", 200, 2, "--loader-cost-us", 4000, "--workers", 0),
    "other load and a rank late by more": dataclasses.replace(late("data", 200, 3), burners=2),
}
# Each alone, at 1 to 3 ranks, and two mixtures.
KNOWN = [name for name in RUNS if name not in ("slow rank", "healthy")]
# The kernel's counts of waits for cores, which the tests' environment hides. Open MPI yields where it finds too few cores.
REAL = cli.environment(RANKLAB_SYSTEM_ROOT="/", OMPI_MCA_mpi_yield_when_idle=None)


@contextlib.contextmanager
def burning(count):
    """Processes that compute on the first two cores."""
    burners = [subprocess.Popen(["taskset", "-c", str(i % 2), sys.executable, "-c", "while True: pass"]) for i in range(count)]
    try:
        yield
    finally:
        for one in burners:
            one.kill()
            one.wait()


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

    def library(self, source):
        if source.suffix != ".c":
            return source
        made = self.folder / f"{source.stem}.so"
        if not made.exists():
            subprocess.run(["mpicc", "-shared", "-fPIC", "-O1", "-o", made, source], check=True)
        return made

    def train(self, run, *more, launch=None, ranks=None, env=None):
        """Returns the diagnosis of such a run; `words` override its options."""
        if run.preload == SLOW_READS:
            self.make_data()
        command = [cli.RANKLAB, "train", *run.words, *more, "--output", "r.h5", "--quiet"]
        launch, ranks = run.launch if launch is None else launch, ranks or run.ranks
        if launch:
            command = ["mpirun", "-n", ranks, *launch, *command]
        if run.preload:
            command = ["env", f"LD_PRELOAD={self.library(run.preload)}", *command]
        with burning(run.burners):
            self.assertCode(cli.run(*run.before, *command, timeout=120, cwd=self.folder, env=env), 0)
        return self.why()

    def why(self):
        shown = cli.ranklab("report", "r.h5", "--why", "--format", "json", cwd=self.folder)
        self.assertCode(shown, 0)
        return json.loads(shown.stdout)
