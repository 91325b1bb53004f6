"""What a results file promises, at full length: 200 writers killed at random moments lose no stored run and leave a file
that ranklab and h5py open; of 8 writers at once every run is there."""

import ctypes
import errno
import os
import platform
import random
import signal
import struct
import subprocess
import time

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

(h5py,) = cli.modules("h5py")

WRITER = cli.BIN.parent / "tests" / "results_writer"
KILLS = int(os.environ.get("RANKLAB_KILLS", "200"))


def ids(path):
    with h5py.File(path) as file:
        return set(file["runs"])


def without_flock():
    """For preexec_fn: from here on flock fails as on a file system that has none (seccomp)."""
    number = {"x86_64": 73, "aarch64": 32}[platform.machine()]
    program = struct.pack("=" + "HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, number, 0x06, 0, 0, 0x00050000 | errno.ENOLCK, 0x06, 0, 0, 0x7FFF0000)
    buffer = ctypes.create_string_buffer(program, len(program))
    filters = ctypes.create_string_buffer(struct.pack("=H6xQ", 4, ctypes.addressof(buffer)), 16)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, filters, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


class ResultsCase(Case):
    def setUp(self):
        super().setUp()
        self.file, self.pattern = self.folder / "r.h5", self.folder / "pattern.h5"
        for path in (self.file, self.pattern):
            result = ranklab("io", "--strategy", "binary", "--files", 2, "--size", 10, "--output", path, cwd=self.folder)
            self.assertCode(result, 0)

    def append(self, prefix, count):
        return self.start(WRITER, "append", self.file, self.pattern, prefix, count)


class LockTest(ResultsCase):
    def test_no_flock_whatever_hdf5_is_told_about_locks(self):
        """HDF5_USE_FILE_LOCKING in the environment changes nothing."""
        for number, value in enumerate((None, "TRUE", "FALSE", "BEST_EFFORT")):
            with self.subTest(HDF5_USE_FILE_LOCKING=value):
                command = [WRITER, "append", self.file, self.pattern, f"n{number}", "2"]
                try:
                    result = subprocess.run(command, env=cli.environment(HDF5_USE_FILE_LOCKING=value), preexec_fn=without_flock,
                                            capture_output=True, text=True, timeout=60)
                except subprocess.SubprocessError as error:
                    self.skipTest(f"no seccomp here: {error}")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertLessEqual(set(result.stdout.split()), ids(self.file))
                self.assertCode(cli.ranklab("results", "check", self.file, env=cli.environment(HDF5_USE_FILE_LOCKING=value)), 0)


class CrashTest(ResultsCase):
    def killed_after(self, prefix, seconds):
        """The ids that a writer told of as stored before it was killed, `seconds` after its first."""
        job = self.append(prefix, 0)
        job.wait_until(lambda: os.pread(job._stdout.fileno(), 1, 0))
        time.sleep(seconds)
        os.kill(job.process.pid, signal.SIGKILL)
        result = job.finish()
        self.assertEqual(result.code, -signal.SIGKILL, str(result))
        return set(result.stdout.split())

    def test_no_kill_loses_a_stored_run(self):
        stored, in_the_middle = ids(self.file), 0
        source = random.Random(7)
        for kill in range(KILLS):
            stored |= self.killed_after(f"k{kill}", source.uniform(0, 0.03))
            in_the_middle += any(name.name.endswith(".tmp") for name in self.folder.iterdir())
            self.assertLessEqual(stored, ids(self.file), f"after kill {kill}: h5py misses runs")
            if kill % 10 == 9 or kill == KILLS - 1:
                listed = ranklab("results", "list", self.file)
                self.assertCode(listed, 0)
                self.assertIn(f"{len(ids(self.file))} run(s)", listed.stdout)
        self.assertGreater(in_the_middle, KILLS // 20, "hardly a kill fell into an append")
        self.assertCode(ranklab("results", "check", self.file), 0)
        self.assertCode(self.append("after", 1).finish(), 0)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".")], [], "what they left is tidied")

    def test_many_writers_at_once(self):
        jobs = [self.append(f"w{writer}", 50) for writer in range(8)]
        for job in jobs:
            result = job.finish(120)
            self.assertCode(result, 0)
            self.assertEqual(len(result.stdout.split()), 50)
        wanted = {f"w{writer}-{run}" for writer in range(8) for run in range(50)}
        self.assertLessEqual(wanted, ids(self.file))
        self.assertEqual(len(ids(self.file)), 401)
        self.assertIn("401 run(s)", ranklab("results", "list", self.file).stdout)


if __name__ == "__main__":
    cli.main()
