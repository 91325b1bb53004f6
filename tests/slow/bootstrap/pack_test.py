"""The archive of ./bootstrap pack, made of the built tree: its size, no path out of it, and that it runs with nothing but a shell
and the C library: no MPI, no HDF5, no libstdc++, no network, another user.

The bare root has this machine's shell and glibc. It needs root or user namespaces for unshare and chroot; the test is skipped
without them.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BIN = pathlib.Path(os.environ.get("RANKLAB_BIN") or SOURCE / "build" / "release" / "bin")
MAKE = SOURCE / "lib/cmake/pack/make_archive"
HAS_TRAIN = (BIN / "ranklab-train").exists()
LARGEST = 64 << 20
SHELL = ("sh", "bash", "env", "id", "readlink", "sed", "grep", "sort", "tr", "head", "cat", "mkdir", "ls", "sleep")
# Not in the archive: the C library and LibTorch.
OUTSIDE = re.compile(r"^(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|resolv|util)\.so\..*|libtorch.*|libc10.*)$")
NOBODY = "65534"
# The part of Slurm that a job script needs, for one rank.
SRUN = """#!/bin/sh
until [ "${1##*/}" = ranklab ]; do shift; done
exec "$@"
"""
READ_ONLY = r"""
set -e
mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
shift
exec "$@"
"""

IN_ROOT = r"""
set -e
root=$1; packages=$2; shift 2
mount -t tmpfs tmpfs "$root/dev" && mkdir "$root/dev/shm" && chmod 1777 "$root/dev/shm"
for device in null zero urandom; do : >"$root/dev/$device" && mount --bind "/dev/$device" "$root/dev/$device"; done
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
if [ -n "$packages" ]; then
  for folder in torch nvidia; do
    [ ! -d "$packages/$folder" ] || mount --bind "$packages/$folder" "$root/site/$folder"
  done
fi
ip link set lo up 2>/dev/null || true
exec chroot --userspec="%s:%s" "$root" "$@"
""" % (NOBODY, NOBODY)


def tools_missing():
    return [tool for tool in ("patchelf", "ldd", "strip", "unshare", "chroot") if not shutil.which(tool)]


def loaded_by(program):
    """Returns the libraries that the loader takes here."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", said)


def torch_packages():
    """Returns the folder of this build's torch/ and nvidia/."""
    for file in loaded_by(BIN / "ranklab-train") if HAS_TRAIN else ():
        if file.endswith("/libtorch_cpu.so"):
            return pathlib.Path(file).parents[2]
    return None


def may_unshare():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "-n", "-p", "-f", "true"], capture_output=True).returncode == 0


@unittest.skipIf(tools_missing(), f"packing needs {', '.join(tools_missing())}")
class PackTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="ranklab pack ")))
        cls.scratch.chmod(0o755)
        cls.archive = cls.scratch / "my archive.tar.gz"
        cls.made = subprocess.run([MAKE, "--build", BIN.parent, "--with-mpi", "-o", cls.archive], capture_output=True, text=True)
        if cls.made.returncode == 5 and "--with-mpi packs Open MPI" in cls.made.stderr:
            raise unittest.SkipTest(cls.made.stderr.strip())
        if cls.made.returncode != 0:
            return
        cls.root = cls.scratch / "root"
        cls.make_bare_root()
        with tarfile.open(cls.archive) as archive:
            archive.extractall(cls.root / "opt")
        (cls.home,) = (cls.root / "opt").iterdir()

    @classmethod
    def make_bare_root(cls):
        for folder in ("bin", "opt", "dev", "proc", "sys", "site/torch", "site/nvidia", "other/lib", "work", "etc"):
            (cls.root / folder).mkdir(parents=True)
        (cls.root / "work").chmod(0o777)
        (cls.root / "tmp").mkdir()
        (cls.root / "tmp").chmod(0o1777)
        (cls.root / "other/lib/libtorch_cpu.so").touch()
        (cls.root / "other/version.py").write_text("__version__ = '2.10.1+cpu'\n")
        (cls.root / "half/lib").mkdir(parents=True)
        (cls.root / "half/lib/libtorch_cpu.so").touch()
        (cls.root / "half/version.py").write_text("__version__ = '2.11.0+cpu'\n")
        files = set()
        for name in SHELL:
            program = shutil.which(name)
            shutil.copy(program, cls.root / "bin" / name)
            files |= set(loaded_by(program))
        # Libraries that programs find by name as they run, and the parts of the C library that LibTorch needs.
        for name in ("libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libresolv.so.2", "libutil.so.1"):
            files |= {file for folder in ("/lib/x86_64-linux-gnu", "/lib64") if os.path.exists(file := f"{folder}/{name}")}
        for file in files:
            to = cls.root / file.lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(file), to)

    def setUp(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)

    def bare(self, command, torch=True, **variables):
        """Runs the command in the bare root, as nobody, without a network."""
        if not may_unshare():
            self.skipTest("a bare root needs root and namespaces (unshare, chroot)")
        if torch and torch_packages():
            variables = {"RANKLAB_TORCH_ROOT": "/site/torch", **variables}
        bin_folder = f"/opt/{self.home.name}/bin"
        words = [f"{name}={value}" for name, value in {
            "PATH": f"{bin_folder}:/bin", "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "RANKLAB_SYSTEM_ROOT": "/nonexistent", **variables}.items()]
        return subprocess.run(
            ["unshare", "-m", "-n", "-p", "-f", "sh", "-c", IN_ROOT, "sh", self.root, torch_packages() or "",
             "/bin/env", "-i", *words, "/bin/sh", "-c", f"cd /work; {command}"],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=200)

    def assertRuns(self, result):
        self.assertEqual(result.returncode, 0, f"{result.stdout[-3000:]}\n---\n{result.stderr[-3000:]}")

    def assertRefuses(self, result, *words):
        """Checks for one message at any number of ranks, and exit code 5."""
        said = [line for line in result.stderr.splitlines() if words[0] in line]
        self.assertEqual((result.returncode, len(said)), (5, 1), result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, said[0])
        self.assertNotIn("shared object file", result.stderr)

    # -- what is inside

    def test_its_size_is_printed_and_small(self):
        size = self.archive.stat().st_size
        self.assertLess(size, LARGEST)
        self.assertIn(f"{self.archive}: {size} bytes (", self.made.stdout)

    def binaries(self):
        for file in self.home.rglob("*"):
            if file.is_file() and not file.is_symlink():
                with file.open("rb") as opened:
                    if opened.read(4) == b"\x7fELF":
                        yield file

    def test_nothing_leads_outside(self):
        """Each needed library lies in its RUNPATH or belongs to the machine; no path names this machine."""
        for file in self.binaries():
            with self.subTest(file=file.relative_to(self.home)):
                asked = subprocess.run(["patchelf", "--print-rpath", file], capture_output=True, text=True, check=True).stdout.strip()
                folders = [pathlib.Path(part.replace("$ORIGIN", str(file.parent))) for part in asked.split(":") if part]
                self.assertTrue(all(part.startswith("$ORIGIN") for part in asked.split(":") if part), asked)
                needed = subprocess.run(["patchelf", "--print-needed", file], capture_output=True, text=True, check=True).stdout.split()
                gcc = self.home / "lib/gcc"  # found by the loader's default paths, or by LD_LIBRARY_PATH if launch sets it
                self.assertEqual([name for name in needed if not OUTSIDE.match(name)
                                  and not any((folder / name).exists() for folder in [*folders, gcc])], [])

    def test_everybody_may_read_it(self):
        for file in self.home.rglob("*"):
            if not file.is_symlink():
                wanted = 0o555 if file.is_dir() or file.stat().st_mode & 0o100 else 0o444
                self.assertEqual(file.stat().st_mode & wanted, wanted, file)

    def test_any_processor_will_do(self):
        """No code needs instructions beyond the x86-64 baseline."""
        flags = (BIN.parent / "build.ninja").read_text()
        self.assertNotRegex(flags, r"-m(arch|tune|cpu)=native")

    # -- what runs

    def test_programs_of_the_login_node(self):
        for command in ("ranklab --version", "ranklab report --help", "ranklab compare --help", "ranklab results --help",
                        "ranklab campaign --help", "ranklab --help"):
            self.assertRuns(self.bare(command))

    def test_ranks_write_and_talk(self):
        self.assertRuns(self.bare("mpirun -n 2 ranklab doctor --threads 1"))
        result = self.bare("mpirun -n 2 ranklab io --workers 1 -n 4 -s 20 -i 1 --output io.h5 && mpirun -n 2 ranklab comm -n 2 -e 64 "
                           "--output io.h5 && ranklab report io.h5")
        self.assertRuns(result)
        for words in ("hdf5-parallel-collective", "process-pool", "comm allreduce"):
            self.assertIn(words, result.stdout)

    def test_streams_that_are_closed(self):
        command = "mpirun -n 2 ranklab io --workers 1 -n 4 -s 20 -i 1 --output closed.h5"
        for closed in ("<&-", ">&-", "<&- >&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                self.assertRuns(self.bare(f"{command} {closed}"))

    @unittest.skipUnless(HAS_TRAIN, "this build has no ranklab-train")
    def test_ranks_train_on_the_sample(self):
        result = self.bare("mpirun -n 2 ranklab train --batch-size 32 --steps 3 --threads 1 --output train.h5 && mpirun -n 2 ranklab-train "
                           "--model template-softmax --batch-size 32 --steps 3 --threads 1 --output none")
        self.assertRuns(result)
        self.assertIn("parameters equal on all ranks", " ".join(result.stdout.split()))

    @unittest.skipUnless(HAS_TRAIN, "this build has no ranklab-train")
    def test_what_is_wrong_with_libtorch_is_one_sentence(self):
        for ranks in ("", "mpirun -n 2 "):
            self.assertRefuses(self.bare(f"{ranks}ranklab train --steps 2", torch=False), "RANKLAB_TORCH_ROOT", "LibTorch 2.")
            self.assertRefuses(self.bare(f"{ranks}ranklab train --steps 2", RANKLAB_TORCH_ROOT="/other"), "2.10.1+cpu")
            self.assertRefuses(self.bare(f"{ranks}ranklab train --steps 2", RANKLAB_TORCH_ROOT="/a/torch-2.11.0.whl"), "wheel", "pip install")
            self.assertRefuses(self.bare(f"{ranks}ranklab train --steps 2", RANKLAB_TORCH_ROOT="/half"), "cannot be loaded", "file too short", "/half")
            self.assertRefuses(self.bare(f"{ranks}ranklab train --steps 2", RANKLAB_TORCH_ROOT="/a:b"), "/a:b", "a folder without them")
        self.assertRefuses(self.bare("ranklab-train --steps 2", RANKLAB_TORCH_ROOT="/nowhere"), "/nowhere", "libtorch_cpu.so")
        for one, other in (("/site/torch", "/nowhere"), ("/nowhere", "/site/torch")):
            mixed = self.bare(f"mpirun -n 1 -x RANKLAB_TORCH_ROOT={one} ranklab train --steps 2 : -n 1 -x RANKLAB_TORCH_ROOT={other} ranklab train --steps 2")
            self.assertRefuses(mixed, "/nowhere", "libtorch_cpu.so", *(["rank 1 on"] if other == "/nowhere" else []))

    def test_a_missing_mpi_is_one_sentence(self):
        mpi = self.home / "lib/mpi"
        away = mpi.rename(mpi.with_name("away"))
        self.addCleanup(away.rename, mpi)
        for program in ("io", "comm", "doctor", "data"):
            self.assertRefuses(self.bare(f"ranklab {program} --dry-run"), "Open MPI", "--with-mpi")
            self.assertTellsOfItself(program)

    def assertTellsOfItself(self, program):
        """--help and --version work on machines on which the program cannot start."""
        for words, start in (("--help", f"Usage: ranklab {program}"), ("--version", "ranklab ")):
            result = self.bare(f"ranklab {program} {words}", torch=False)
            self.assertRuns(result)
            self.assertIn(start, result.stdout)

    @unittest.skipUnless(HAS_TRAIN, "this build has no ranklab-train")
    def test_without_libtorch_train_tells_of_itself(self):
        self.assertTellsOfItself("train")
        two = self.bare("mpirun -n 2 ranklab train --help", torch=False)
        self.assertRuns(two)
        self.assertEqual(two.stdout.count("Usage: "), 1)

    @unittest.skipUnless(torch_packages(), "the check for GPUs wants a LibTorch")
    def test_the_check_for_gpus_takes_the_archives_programs(self):
        done = subprocess.run([sys.executable, self.home / "tests/gpu/check", torch_packages() / "torch", "--only", "doctor,device"], capture_output=True,
                              text=True, cwd=self.enterContext(tempfile.TemporaryDirectory()), timeout=100,
                              env={"PATH": os.environ["PATH"], "CUDA_VISIBLE_DEVICES": "", "RANKLAB_SYSTEM_ROOT": "/nonexistent"})
        if not (BIN.parent / "tests/gpu_test").exists():
            self.assertEqual((done.returncode, "take an archive" in done.stderr), (5, True), done.stderr)
            return
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith(f"programs: {self.home}/bin: ranklab "), done.stdout)
        self.assertIn("0 failed", done.stdout)

    # -- the job scripts, in a read-only archive

    def job(self, script, *words, **variables):
        if not may_unshare():
            self.skipTest("a folder that may only be read needs root and namespaces (unshare)")
        work = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="ranklab-job-")))
        (work / "srun").write_text(SRUN)
        (work / "srun").chmod(0o755)
        variables |= {"RANKLAB_TORCH_ROOT": str(torch_packages() / "torch")} if torch_packages() else {}
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", READ_ONLY, "sh", self.home, "bash", self.home / "share/ranklab/jobscripts" / script, *words],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=work, timeout=200,
            env={"HOME": str(work), "OMPI_MCA_mpi_yield_when_idle": "1", "RANKLAB_SYSTEM_ROOT": "/nonexistent", **variables, "PATH": f"{work}:{variables.get('PATH', os.environ['PATH'])}"})
        self.assertRuns(done)
        self.assertTrue((work / "results/ranklab.h5").exists(), done.stdout)

    @unittest.skipUnless(HAS_TRAIN, "this build has no ranklab-train")
    def test_job_scripts_work_in_the_callers_folder(self):
        words = ("--data", "synthetic", "--steps", "3", "--warmup", "1", "--evaluate", "off")
        configs = self.home / "share/ranklab/configs/mnist"
        self.job("mpirun.sh", "2", configs / "ddp2.ini", *words, OMP_NUM_THREADS="1", RANKLAB_BIN=f"{self.home}/bin", OMPI_ALLOW_RUN_AS_ROOT="1",
                 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.job("cpu.slurm", configs / "serial.ini", *words, SLURM_JOB_ID="17", PATH=f"{self.home}/bin:{os.environ['PATH']}")


if __name__ == "__main__":
    sys.exit(unittest.main())
