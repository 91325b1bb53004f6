"""Builds the programs without LibTorch for MPICH in a separate folder, and runs them by Hydra: the MPI and HDF5 that configuring accepts
and refuses, the launch guard, every strategy, every collective, and the end of a job that lost a rank."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE") or pathlib.Path(__file__).resolve().parents[3])
BUILD = pathlib.Path(os.environ.get("RANKLAB_MPICH_BUILD") or SOURCE / "build" / "release" / "mpich-smoke")
# before ranklab_cli reads them
os.environ |= {"RANKLAB_BIN": str(BUILD / "bin"), "RANKLAB_MPI_FAMILY": "mpich", "RANKLAB_MPIRUN": "mpiexec.mpich"}
sys.path.insert(0, str(SOURCE / "tests" / "apps"))
import ranklab_cli as cli  # noqa: E402

HYDRA = shutil.which("mpiexec.hydra")
OTHER_HDF5 = "/usr/lib/x86_64-linux-gnu/hdf5/openmpi"


def missing():
    """Returns the missing Debian packages."""
    signs = {"libmpich-dev": shutil.which("mpicc.mpich"), "mpich": HYDRA, "libhdf5-mpich-dev": shutil.which("h5pcc.mpich")}
    return [package for package, found in signs.items() if not found]


def configure(folder, *words):
    command = ["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DRANKLAB_MPI=mpich",
               "-DRANKLAB_WITH_TORCH=OFF", "-DRANKLAB_BUILD_TESTS=OFF", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Configured(cli.Case):
    def test_the_launcher_and_hdf5_are_mpichs(self):
        cache = (BUILD / "CMakeCache.txt").read_text()
        self.assertRegex(cache, r"(?m)^MPIEXEC_EXECUTABLE:\w+=\S*/mpiexec\.(mpich|hydra)$")
        self.assertRegex(cache, r"(?m)^RANKLAB_HDF5_LIBRARY:\w+=\S*/hdf5/mpich/libhdf5\.so$")
        linked = subprocess.run(["ldd", BUILD / "bin" / "ranklab-io"], capture_output=True, text=True, check=True).stdout
        self.assertIn("libmpich.so", linked)
        self.assertNotIn("libmpi.so.40", linked)

    @unittest.skipUnless(os.path.exists(OTHER_HDF5), "there is no HDF5 of Open MPI here")
    def test_the_hdf5_of_another_mpi_is_refused_by_name(self):
        done = configure(self.folder / "wrong", f"-DHDF5_ROOT={OTHER_HDF5}")
        self.assertNotEqual(done.returncode, 0)
        said = " ".join(done.stderr.split())
        for part in ("This HDF5 is of another MPI than", "mpicc.mpich", f"{OTHER_HDF5}/lib/libhdf5.so", "loads both", "/libmpi.so", "/libmpich.so",
                     "install libhdf5-mpich-dev", "HDF5_ROOT"):
            self.assertIn(part, said)


class Run(cli.Case):
    @classmethod
    def setUpClass(cls):
        library = BUILD / "libranklab_mpich_yield.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE / "tests" / "mpich_yield.c", "-ldl"], check=True)
        cls.env = cli.environment(LD_PRELOAD=library, OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)

    def hydra(self, ranks, *words, launcher=(HYDRA,), timeout=90):
        return cli.run(*launcher, "-n", ranks, cli.RANKLAB, *words, cwd=self.folder, env=self.env, timeout=timeout)

    def test_doctor(self):
        seen = self.hydra(2, "doctor", "--threads", 1, "--json", "--output", "none")
        self.assertCode(seen, 0)
        found = json.loads(seen.stdout)
        self.assertEqual([one["id"] for one in found["findings"] if one["id"] in ("ranks-not-connected", "different-libraries")], [])
        said = self.hydra(2, "doctor", "--threads", 1, "--verbose", "--output", "none").stdout
        self.assertRegex(said, r"# libraries\.mpi: MPICH \d")
        self.assertIn("# process.launcher: Hydra's mpiexec", said)

    def test_a_crowd_is_told_how_hydra_binds(self):
        cores = len(os.sched_getaffinity(0))
        said = self.hydra(2, "doctor", "--threads", cores, "--output", "none").stdout
        self.assertRegex(said, rf"mpiexec(\.\w+)? -bind-to core:{max(cores // 2, 1)}\b" if cores > 1 else "ranks-share-cores")

    def test_every_way_of_writing(self):
        for ranks in (2, 3):
            done = self.hydra(ranks, "io", "--strategy", "all", "-n", 6, "-s", 20, "-i", 2, "--workers", 2, "--output", f"{ranks}.h5")
            self.assertCode(done, 0)
            runs = json.loads(cli.ranklab("report", f"{ranks}.h5", "--format", "json", cwd=self.folder).stdout)["runs"]
            self.assertEqual({run["config"]["strategy"] for run in runs} - {"all"}, set(cli.rungs()))
            self.assertTrue(all(run["valid"] for run in runs), done)
            wrote_by = {value for run in runs for value in run["tables"].get("mpi_io", {}).get("value", []) if "MPICH" in value}
            self.assertEqual(len(wrote_by), 1, wrote_by)
            self.assertRegex(wrote_by.pop(), r"^ROMIO \(MPICH \d\S*\)$")

    def test_every_collective(self):
        for ranks in (1, 2, 3, 4):
            done = self.hydra(ranks, "comm", "--sizes", "8,64K", "-n", 3, "--output", "none")
            self.assertCode(done, 0)

    def test_a_killed_rank_ends_the_job(self):
        job = self.start(HYDRA, "-n", 2, cli.RANKLAB, "io", "--strategy", "hdf5-parallel-collective", "-n", 1000000, "--size", 64, "--output", "r.h5",
                         env=self.env)
        ranks = job.wait_until(lambda: len(job.ranks()) == 2 and job.ranks())
        os.kill(ranks[1], signal.SIGKILL)
        result = job.finish(60)
        self.assertNotEqual(result.code, 0, str(result))
        self.assertFalse(any(map(cli.alive, ranks.values())), "a rank outlived the job")

    def test_ranks_that_are_not_connected_are_refused(self):
        other = shutil.which("mpirun.openmpi")
        if other:
            result = self.hydra(2, "io", "--strategy", "binary", "--output", "none", launcher=(other,))
            self.assertRegex(result.stderr, "mpirun.*2 processes.*1 rank")
            self.assertCode(result, 5)
        for launcher, variables in (("PALS's mpiexec", {"PALS_RANKID": 0, "PMI_SIZE": 2}), ("Flux's flux run", {"FLUX_TASK_RANK": 0, "FLUX_JOB_SIZE": 2})):
            result = cli.run(cli.RANKLAB, "io", "--strategy", "binary", "--output", "none", cwd=self.folder, env=self.env | {name: str(value) for name, value in variables.items()})
            self.assertSays(result, 5, launcher, "mpiexec", "--expect-ranks 1")


if __name__ == "__main__":
    if missing():
        cli.skip(f"a build for MPICH needs Debian's {' '.join(missing())}: ./bootstrap test installs it")
    for step in (configure(BUILD), subprocess.run(["cmake", "--build", BUILD, "--target", "programs"], capture_output=True, text=True, check=False)):
        if step.returncode != 0:
            sys.exit(f"{step.args}\n{step.stdout[-3000:]}\n{step.stderr[-3000:]}")
    cli.main()
