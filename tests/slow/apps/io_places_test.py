"""`ranklab io` on full, read-only and vanishing folders, with too many workers and killed processes: one message, the documented exit
code, no hang and no partial file, at 1 and 3 ranks."""

import ctypes
import os
import shutil
import signal
import time

import ranklab_cli as cli
from io_runs import workers_of
from ranklab_cli import Case, ranklab

RUNGS = cli.rungs()
RANKS = (1, 3)


def io(*arguments, **how):
    return ranklab("io", "--output", "none", *arguments, **how)


class TooManyProcesses(Case):
    def test_workers_that_cannot_be_are_refused(self):
        few_pipes = ["bash", "-c", 'ulimit -n 256; exec "$@"', "bash"]
        self.assertSays(io("--strategy", "process-pool", "--workers", 5000000, cwd=self.folder), 2, "--workers", "4096")
        for ranks in (1, 2):
            result = cli.run(*few_pipes, *(() if ranks == 1 else cli.mpirun_words(ranks)), cli.BIN / "ranklab", "io", "--output", "none",
                             "--strategy", "process-queue", "--workers", 900, cwd=self.folder)
            self.assertSays(result, 5, "--workers")
        self.assertEqual(self.names(), [])


class Places(Case):
    def everywhere(self, directory, code, *parts, rungs=("binary", "text-loop", "process-queue", "mpi-scatter",
                                                         "hdf5-serial", "hdf5-parallel-collective"), extra=(), ranks=RANKS):
        cases = [(rung, n) for rung in rungs for n in ranks]
        results = cli.several(lambda case: io("--strategy", case[0], "--directory", directory, *extra, ranks=case[1]), cases)
        for case, result in zip(cases, results):
            with self.subTest(case=case):
                self.assertSays(result, code, *parts)

    @cli.only_open_mpi
    def test_a_semaphore_that_a_killed_rank_left_locked(self):
        """Open MPI names it after the file. Without --stall-timeout a job that waits for it is ended after 600 s."""
        libc = ctypes.CDLL(None, use_errno=True)
        name = b"/OMPIO_data.h5"
        libc.sem_open.restype = ctypes.c_void_p
        self.assertIsNotNone(libc.sem_open(name, os.O_CREAT, 0o644, 0))
        self.addCleanup(libc.sem_unlink, name)
        result = io("--strategy", "hdf5-parallel-collective", "-n", 2, "-s", 4, "--stall-timeout", 20, ranks=2, cwd=self.folder)
        self.assertCode(result, 0)

    def test_a_path_too_long(self):
        self.everywhere(self.folder / ("a" * 300), 2, "File name too long", rungs=("binary", "hdf5-serial"))

    def test_an_hdf5_file_of_somebody_else_stays(self):
        out = self.folder / "out"
        out.mkdir()
        words = ("--strategy", "hdf5-serial", "-n", 2, "-s", 4, "--directory", out)
        results = self.folder / "r.h5"
        self.assertCode(ranklab("io", "-n", 1, "-s", 2, "--strategy", "binary", "--output", results, cwd=self.folder), 0)
        for content in (results.read_bytes(), b"no HDF5"):
            (out / "data.h5").write_bytes(content)
            for ranks in RANKS:
                self.assertSays(io(*words, ranks=ranks), 2, out / "data.h5")
            self.assertEqual((out / "data.h5").read_bytes(), content)
        (out / "data.h5").unlink()
        for _ in range(2):  # a file of its own is replaced
            self.assertCode(io(*words, "-k"), 0)

    def test_a_read_only_folder(self):
        place = self.folder / "ro"
        place.mkdir()
        self.make_read_only(place)
        self.everywhere(place, 5, "--directory")
        self.everywhere(place / "sub", 5, "--directory", rungs=("binary",))

    def test_a_full_disk_before_the_work(self):
        place = self.mount_small_tmpfs(4 << 20)
        (place / "filler").write_bytes(b"x" * (3 << 20))
        self.everywhere(place / "o", 5, "120 x 120", extra=("-s", 120))
        self.assertEqual(sorted(os.listdir(place)), ["filler"])

    def test_a_folder_that_vanishes(self):
        for rung in RUNGS:
            for ranks in RANKS:
                with self.subTest(rung=rung, ranks=ranks):
                    out = self.folder / f"{rung}{ranks}"
                    words = cli.mpirun_words(ranks) if ranks > 1 else []
                    job = self.start(*words, cli.RANKLAB, "io", "--strategy", rung, "-n", 500 if rung.startswith("hdf5") else 200000,
                                     "-i", 100, "-s", 20, "--workers", 2, "--directory", out, "--output", "none", "--ceilings", "off",
                                     "--stall-timeout", 10)
                    job.wait_until(lambda: out.exists() and len(os.listdir(out)) > 0)
                    shutil.rmtree(out, ignore_errors=True)
                    while out.exists():
                        shutil.rmtree(out, ignore_errors=True)
                    result = job.finish(120)
                    self.assertIn(result.code, (3, 5), str(result))
                    if not rung.startswith("hdf5-parallel"):  # there MPI-IO may hang until the watchdog ends the job
                        self.assertIn(str(out), result.stderr)


class Processes(Case):
    def test_workers_do_not_outlive_a_killed_parent(self):
        job = self.start(cli.BIN / "ranklab-io", "--strategy", "process-pool", "-n", 200000, "-s", 20, "--workers", 3,
                         "--directory", self.folder / "o", "--output", "none")
        workers = job.wait_until(lambda: len(workers_of(job)) == 3 and workers_of(job))
        os.kill(job.process.pid, signal.SIGKILL)
        job.process.wait(10)
        deadline = time.monotonic() + 10
        while any(cli.alive(pid) for pid in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([pid for pid in workers if cli.alive(pid)], [])

    def test_a_killed_rank_ends_the_job(self):
        for rung in ("mpi-send", "hdf5-parallel-collective"):
            job = self.start(*cli.mpirun_words(3), cli.RANKLAB, "io", "--strategy", rung, "-n", 200000, "-s", 20,
                             "--directory", self.folder / rung, "--output", "none")
            ranks = job.wait_until(lambda: len(job.ranks()) == 3 and job.ranks())
            job.wait_until(lambda: (self.folder / rung).exists() and len(os.listdir(self.folder / rung)) > 0)
            os.kill(ranks[1], signal.SIGKILL)
            self.assertNotEqual(job.finish(30).code, 0)


if __name__ == "__main__":
    cli.main()
