"""Helpers of the whole-program tests: they start programs and MPI jobs with a time limit, separate the launcher's messages from
ranklab's, and make input files. Without h5py and numpy, which only some tests import.
"""

import ctypes
import gzip
import importlib
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from mpi_launcher import LAUNCHER

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE") or pathlib.Path(__file__).resolve().parents[2])
BIN = pathlib.Path(os.environ.get("RANKLAB_BIN") or SOURCE / "build" / "release" / "bin")
RANKLAB = BIN / "ranklab"
HAS_TRAIN = (BIN / "ranklab-train").exists()
needs_train = unittest.skipUnless(HAS_TRAIN, "this build has no ranklab-train (RANKLAB_WITH_TORCH=OFF)")

IDX_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
IMAGES_MAGIC, LABELS_MAGIC = 0x803, 0x801

only_open_mpi = unittest.skipUnless(LAUNCHER.is_open_mpi, "this is about Open MPI, and the build is for another MPI")

# Equals RANKLAB_TEST_ENVIRONMENT of lib/cmake/RanklabTests.cmake, so that a test file runs without ctest.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "RANKLAB_SYSTEM_ROOT": "/nonexistent",  # results must not depend on other load
}
if LAUNCHER.is_open_mpi: _ENVIRONMENT |= {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_pml": "^cm,ucx",  # without a search for fabrics a start takes 0.2 s less
}
else:
    _ENVIRONMENT["RANKLAB_SRUN_MPI"] = LAUNCHER.pmi
    if (BIN.parent / "tests" / "libranklab_mpich_yield.so").exists():
        _ENVIRONMENT["LD_PRELOAD"] = str(BIN.parent / "tests" / "libranklab_mpich_yield.so")
    _ENVIRONMENT |= {f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM": "mpir" for name in ("ALLREDUCE", "BARRIER", "BCAST", "REDUCE")}


@dataclass
class Result:
    """The outcome of a program. `said`: lines of its stderr without the launcher's messages."""

    command: list
    code: int
    stdout: str
    stderr: str
    seconds: float
    max_rss: int  # bytes, of the job's largest process

    @property
    def said(self):
        return said_lines(self.stderr)

    def __str__(self):
        return (f"$ {' '.join(map(str, self.command))}\nexit code {self.code} after {self.seconds:.1f} s\n"
                f"--- stdout ---\n{self.stdout[-3000:]}\n--- stderr ---\n{self.stderr[-3000:]}")


def said_lines(stderr):
    """Returns the lines of stderr without the launcher's, and without ranklab's progress lines "now: "."""
    return [line for line in LAUNCHER.without_its_own(stderr.splitlines()) if line.strip() and not line.startswith("now: ")]


def environment(**changes):
    """Returns the tests' environment with changes; None removes a name."""
    env = dict(_ENVIRONMENT, **os.environ)
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    return env


def patience():
    """Returns the factor for time limits, which catch hangs on a busy machine, too: 1.5 times the load per core, at least 1."""
    return max(1.0, 1.5 * os.getloadavg()[0] / (os.cpu_count() or 1))


_VALIDATE = """import json, sys, jsonschema
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.Draft202012Validator(schema).validate(json.load(sys.stdin))"""


def python_with(module):
    """Returns a Python with that module: the tests' own or Debian's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


class Job:
    """A started program; `finish` waits for its end and returns the Result."""

    def __init__(self, command, cwd=None, env=None):
        self.command = [str(word) for word in command]
        self._stdout, self._stderr = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self._start = time.monotonic()
        self.process = subprocess.Popen(self.command, cwd=cwd, env=env or environment(), stdin=subprocess.DEVNULL,
                                        stdout=self._stdout, stderr=self._stderr, start_new_session=True)

    def finish(self, timeout=60):
        deadline = time.monotonic() + timeout * patience()
        usage = None
        while self.process.returncode is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"still running after {timeout} s:\n{self._result(usage)}")
            else:
                time.sleep(0.005)
        result = self._result(usage)
        self._stdout.close()
        self._stderr.close()
        return result

    def _result(self, usage):
        def text(file):
            file.seek(0)
            return file.read().decode(errors="replace")

        return Result(self.command, self.process.returncode, text(self._stdout), text(self._stderr),
                      time.monotonic() - self._start, usage.ru_maxrss * 1024 if usage else 0)

    def ranks(self):
        """Returns {rank: pid} of this job."""
        found = {}
        for pid in descendants(self.process.pid):
            try:
                env = pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                comm = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            except OSError:
                continue
            rank = [e.partition(b"=")[2] for e in env if e.startswith(LAUNCHER.rank_variable.encode() + b"=")]
            if rank and comm.startswith("ranklab-"):
                found[int(rank[0])] = pid
        return found

    def wait_for_stdout(self, words, timeout=30):
        """Waits until stdout contains the words."""
        self.wait_until(lambda: words.encode() in os.pread(self._stdout.fileno(), 1 << 20, 0), timeout)

    def wait_for_stderr(self, words, timeout=30):
        self.wait_until(lambda: words.encode() in os.pread(self._stderr.fileno(), 1 << 20, 0), timeout)

    def wait_until(self, condition, timeout=30):
        """Waits until condition() is true and returns its value; fails if the job ends before."""
        deadline = time.monotonic() + timeout * patience()
        while True:
            value = condition()
            if value:
                return value
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"what was waited for did not come:\n{self._result(None)}")
            time.sleep(0.02)

    def kill(self):
        """Kills the remaining processes of the job by their ids."""
        for pid in [*descendants(self.process.pid), self.process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.process.returncode is None:
            self.process.wait(10)


def alive(pid):
    """True for a running process, False for a zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat[stat.rindex(")") + 2] not in "ZX"


def descendants(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            for child in task.read_text().split():
                found += [*descendants(int(child)), int(child)]
        except OSError:
            continue
    return found


def run(*command, timeout=60, cwd=None, env=None):
    return Job(command, cwd=cwd, env=env).finish(timeout)


def several(function, cases):
    """Returns [function(case) …], three at a time: starting an MPI job is mostly waiting."""
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(function, cases))


def mpirun_words(ranks, *options):
    return ["mpirun", "-n", ranks, *options, *(LAUNCHER.crowded if ranks > 2 else ())]


def mpirun(ranks, *command, timeout=90, cwd=None, env=None, options=()):
    return run(*mpirun_words(ranks, *options), *command, timeout=timeout, cwd=cwd, env=env)


def ranklab(*arguments, ranks=1, **how):
    """Runs `ranklab …`, with mpirun at more than one rank."""
    if ranks == 1:
        return run(RANKLAB, *arguments, **how)
    return mpirun(ranks, RANKLAB, *arguments, **how)


def train(*arguments, ranks=1, **how):
    """Runs a short training: a model of 7,850 parameters, one thread per rank; arguments override. The memory format is fixed, since the
    choice by trial may differ between runs, and with it dropout masks and last bits."""
    words = list(map(str, arguments))
    given = {word.split("=")[0] for word in words}
    for name, value in (("--model", "template-softmax"), ("--data", "synthetic"), ("--threads", "1")):
        if name not in given:
            words += [name, value]
    if not given & {"--memory-format", "--channels-last", "--config"}:
        words += ["--memory-format", "contiguous"]
    return ranklab("train", *words, ranks=ranks, **how)


def skip(why):
    """Skips the whole file: ctest shows it as skipped."""
    print(f"SKIPPED: {why}")
    sys.exit(77)


def need_train():
    if not HAS_TRAIN:
        skip(f"there is no ranklab-train in {BIN}")


def modules(*names):
    """Imports these modules; skips the file if one is missing."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        skip(f"{error.name} is not installed for this Python; ./bootstrap makes one that has it")


def sync_strategies():
    """Returns the names below --sync in `ranklab train --list`."""
    section = re.search(r"^--sync\b.*\n((?:[ \t]+\S.*\n)+)", ranklab("train", "--list").stdout, re.MULTILINE)
    return re.findall(r"^  (\S+)", section.group(1), re.MULTILINE)


def rungs():
    """Returns the names below Strategies in `ranklab io --list`."""
    section = re.search(r"^Strategies\b.*\n((?:[ \t]+\S.*\n)+)", ranklab("io", "--list").stdout, re.MULTILINE)
    return re.findall(r"^  (\S+)", section.group(1), re.MULTILINE)


def idx_bytes(n, shape=(28, 28), classes=10, seed=0):
    """Returns (images file, labels file) as bytes. Each class has its own brightness, so that training can learn."""
    source = random.Random(seed)
    labels = bytes(source.randrange(classes) for _ in range(n))
    pixels = shape[0] * shape[1]
    body = b"".join(bytes((b // 2 + 12 * label) % 256 for b in source.randbytes(pixels)) for label in labels)
    return (struct.pack(">IIII", IMAGES_MAGIC, n, *shape) + body, struct.pack(">II", LABELS_MAGIC, n) + labels)


def make_idx(folder, n_train=64, n_test=32, gz=False, seed=0, shape=(28, 28)):
    """Makes the folder with the four idx files of a data set like MNIST's, and returns it."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    contents = (*idx_bytes(n_train, shape, seed=seed), *idx_bytes(n_test, shape, seed=seed + 1))
    for name, content in zip(IDX_FILES, contents):
        if gz:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content, 1))
        else:
            (folder / name).write_bytes(content)
    return folder


_libc = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_REMOUNT, MS_BIND, MNT_DETACH = 1, 32, 4096, 2


def _mount(source, target, kind, flags, data):
    encode = lambda text: None if text is None else str(text).encode()
    if _libc.mount(encode(source), encode(target), encode(kind), flags, encode(data)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(target))


class Case(unittest.TestCase):
    """A test with a scratch folder, in which the programs run."""

    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def start(self, *command, env=None):
        job = Job(command, cwd=self.folder, env=env)
        self.addCleanup(job.kill)
        return job

    def names(self):
        """Returns all files below the scratch folder."""
        return sorted(str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file())

    def mount_small_tmpfs(self, size, name="small"):
        """Mounts a tmpfs of `size` bytes for this test; skips without the right to mount."""
        place = self.folder / name
        place.mkdir()
        try:
            _mount("tmpfs", place, "tmpfs", 0, f"size={size}")
        except OSError as error:
            self.skipTest(f"a tmpfs cannot be mounted here ({error}): run as root to test full disks")
        self.addCleanup(_libc.umount2, str(place).encode(), MNT_DETACH)
        return place

    def make_read_only(self, folder):
        """Makes the folder read-only: by a bind mount for root, else by its mode."""
        if os.geteuid() != 0:
            folder.chmod(0o555)
            self.addCleanup(folder.chmod, 0o755)
            return
        try:
            _mount(folder, folder, None, MS_BIND, None)
            self.addCleanup(_libc.umount2, str(folder).encode(), MNT_DETACH)
            _mount(folder, folder, None, MS_BIND | MS_REMOUNT | MS_RDONLY, None)
        except OSError as error:
            self.skipTest(f"nothing can be mounted read-only here ({error})")

    def assertCode(self, result, code):
        self.assertEqual(result.code, code, str(result))

    def assertGolden(self, name, text):
        """Checks that the text equals tests/golden/NAME; RANKLAB_BLESS=1 stores it there."""
        file = SOURCE / "tests" / "golden" / name
        if os.environ.get("RANKLAB_BLESS"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        self.assertTrue(file.exists(), f"{file} is missing: RANKLAB_BLESS=1 stores it")
        self.assertMultiLineEqual(file.read_bytes().decode(), text, f"{name} differs; if that is meant, run this test with RANKLAB_BLESS=1")

    def assertSchema(self, name, text):
        """Checks the JSON against docs/schema/NAME.schema.json."""
        python = python_with("jsonschema")
        self.assertIsNotNone(python, "python3-jsonschema is missing: ./bootstrap installs it")
        schema = SOURCE / "docs" / "schema" / f"{name}.schema.json"
        done = subprocess.run([python, "-c", _VALIDATE, schema], input=text, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def assertSays(self, result, code, *parts):
        """Checks the exit code, and for one message on stderr with all parts and without a backtrace."""
        self.assertCode(result, code)
        said = [line for line in result.said if not re.match(r"warning: |\d+/\d+ (steps|files) ", line)]
        self.assertEqual(len(said), 1, f"not one sentence: {said}\n{result}")
        self.assertTrue(said[0].isprintable(), f"not fit for a terminal: {said[0]!r}")
        for part in parts:
            self.assertIn(str(part), said[0], str(result))
        for trace in ("terminate called", "Traceback", "what():", "frame #", "Segmentation", "Exception raised from"):
            self.assertNotIn(trace, result.stderr, str(result))


def main():
    unittest.main(verbosity=2)
