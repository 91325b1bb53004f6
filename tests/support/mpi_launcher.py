"""Options, variables and messages of the tests' launcher: Open MPI's mpirun, or Hydra's mpiexec of MPICH, as the build says; `mpirun` in PATH
is that one.
"""

import os
import pathlib
import re
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Launcher:
    family: str
    name: str  # ranklab's name of it
    rank_variable: str
    crowded: tuple  # more ranks than cores
    unbound: tuple
    bound: tuple  # a core for each rank
    pmi: str  # of srun --mpi=
    own: str  # ranklab's advice for starting ranks of this build

    @property
    def is_open_mpi(self):
        return self.family == "openmpi"

    def translated(self, script):
        """Returns a script of the documents, written for Open MPI's mpirun, for this launcher (docs/mpi.md)."""
        return script if self.is_open_mpi else script.replace(" --oversubscribe", "")

    def after_signal(self, number):
        """Returns the launcher's possible exit codes after it passed on a signal and its ranks ended with 128 + the signal. Hydra may exit with 0."""
        return {128 + number} | (set() if self.is_open_mpi else {0})

    def killed_by(self, number):
        """Returns the exit code of a job whose ranks were killed by the signal."""
        return 128 + number if self.is_open_mpi else number

    def names_killed(self, output, rank, pid):
        """Returns how often the launcher reports that this rank was killed; Hydra uses stdout."""
        said = rf"process rank {rank} .* exited on signal 9" if self.is_open_mpi else rf"=   PID {pid} RUNNING AT .*\n=   EXIT CODE: 9\n"
        return len(re.findall(said, output))

    def without_its_own(self, lines):
        """Removes the launcher's blocks between bars and its single lines, and UCX's message about a peer that was killed while its memory
        was read."""
        bar = re.compile(r"-{60,}" if self.is_open_mpi else r"={30,}|==== backtrace \(tid: *\d+\) ====")
        own = re.compile(r"\[[^\]]+:\d+\] " if self.is_open_mpi else
                         r"\[(proxy|mpiexec)\S*\] |Abort\(\d+\) on node \d+ |YOUR APPLICATION TERMINATED WITH THE EXIT |"
                         r"This typically refers to a problem with your application|Please see the FAQ page for debugging|"
                         r"\[[^\]]+:\d+\] +\w+\.c:\d+ +process_vm_readv\(.*No such process$")
        kept, in_block = [], False
        for line in lines:
            if bar.fullmatch(line):
                in_block = not in_block
            elif not in_block and not own.match(line):
                kept.append(line)
        return kept


OPEN_MPI = Launcher("openmpi", "Open MPI", "OMPI_COMM_WORLD_RANK", crowded=("--oversubscribe",), unbound=("--bind-to", "none"),
                    bound=("--bind-to", "core"), pmi="pmix", own=os.environ.get("RANKLAB_MPIRUN", "mpirun"))
HYDRA = Launcher("mpich", "Hydra", "PMI_RANK", crowded=(), unbound=("-bind-to", "none"), bound=("-bind-to", "core"),
                 pmi="pmi2", own=os.environ.get("RANKLAB_MPIRUN", "mpiexec.mpich"))


def _family():
    """The MPI family of the build: from ctest's variable, else by the launcher that a build for MPICH puts first in PATH."""
    family = os.environ.get("RANKLAB_MPI_FAMILY")
    if family:
        return family
    source = pathlib.Path(os.environ.get("RANKLAB_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
    own = pathlib.Path(os.environ.get("RANKLAB_BIN") or source / "build" / "release" / "bin").parent / "launcher"
    if own.exists() and str(own) not in os.environ["PATH"].split(":"):
        os.environ["PATH"] = f"{own}:{os.environ['PATH']}"
    try:
        said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        said = ""
    return "mpich" if re.search("HYDRA|Intel|MPICH", said) else "openmpi"


LAUNCHER = HYDRA if _family() == "mpich" else OPEN_MPI
