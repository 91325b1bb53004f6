"""A user who did not build the programs: no name, no HOME, umask 077, a read-only checkout; and the locales, time zones, limits,
temporary folders and standard streams of sites and batch systems. Each command works, or writes one message and ends with the
documented exit code.

As root the tests become another user in a mount namespace with a read-only build; otherwise they run as the user who starts them.
"""

import os
import pathlib
import shutil
import subprocess
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, needs_train

USER = "65533"  # has no name
BOOTSTRAP = cli.SOURCE / "bootstrap"

AS_USER = r"""
set -e
stage=$1 build=$2 packages=$3 source=$4 work=$5; shift 5
mount --bind "$build" "$stage/build" && mount -o remount,ro,bind "$stage/build"
mount --bind "$source" "$stage/source" && mount -o remount,ro,bind "$stage/source"
[ -z "$packages" ] || mount --bind "$packages" "$stage/packages"
cd "$work"
exec setpriv --reuid %s --regid %s --clear-groups "$@"
""" % (USER, USER)


def is_open_mpi():
    said = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout if shutil.which("mpirun") else ""
    return "Open MPI" in said


only_open_mpi = unittest.skipUnless(is_open_mpi(), "this is about what Open MPI starts beside a process")


def may_become_another():
    return (os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("unshare")
            and subprocess.run(["unshare", "-m", "mount", "--bind", "/proc", "/proc"], capture_output=True).returncode == 0)


def torch_packages():
    train = cli.BIN / "ranklab-train"
    said = subprocess.run(["ldd", train], capture_output=True, text=True).stdout if train.exists() else ""
    found = [line.split()[2] for line in said.splitlines() if "libtorch_cpu.so => /" in line]
    return pathlib.Path(found[0]).parents[2] if found else None


class AnyUserTest(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = may_become_another()

    def setUp(self):
        super().setUp()
        self.stage = self.folder / "stage"
        self.work = self.folder / "work"
        for folder in (self.work, *(self.stage / name for name in ("build", "source", "packages"))):
            folder.mkdir(parents=True)
        for folder in (self.folder, self.stage, self.work):
            folder.chmod(0o755)
        if self.other:
            os.chown(self.work, int(USER), int(USER))

    def shell(self, line, before="", **variables):
        """Runs the line in a shell of that user after `before`; $RANKLAB and $BOOTSTRAP name the programs."""
        packages = torch_packages()
        env = {"PATH": os.environ["PATH"], "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "RANKLAB_SYSTEM_ROOT": "/nonexistent", "OMP_NUM_THREADS": "1"}
        if self.other:
            env |= {"RANKLAB": str(self.stage / "build/bin/ranklab"), "BOOTSTRAP": str(self.stage / "source/bootstrap")}
            if packages:
                env["LD_LIBRARY_PATH"] = str(self.stage / "packages/torch/lib")
        else:
            env |= {"RANKLAB": str(cli.RANKLAB), "BOOTSTRAP": str(BOOTSTRAP), "HOME": os.environ.get("HOME", "/")}
        env |= variables
        command = ["env", "-i", *(f"{name}={value}" for name, value in env.items()), "/bin/bash", "-c", f"umask 077; {before}\n{line}"]
        if self.other:
            command = ["unshare", "-m", "sh", "-c", AS_USER, "sh", self.stage, cli.BIN.parent, packages or "", cli.SOURCE, self.work, *command]
        return cli.run(*command, cwd=self.work, env=dict(os.environ))

    def io(self, ranks=1):
        launch = f"mpirun -n {ranks} " if ranks > 1 else ""
        return f"{launch}$RANKLAB io --strategy text-vectorized,hdf5-serial -n 2 -s 10 -i 1 --output r.h5"

    def assertOneSentence(self, result, code, *words):
        """`said` leaves out Open MPI's message between dashed lines."""
        self.assertCode(result, code)
        self.assertEqual(len(result.said), 1, str(result))
        for word in words:
            self.assertIn(word, result.said[0])

    # -- the user

    def test_a_user_without_name_and_home_measures_and_reads(self):
        self.assertCode(self.shell("HOME=/ $RANKLAB doctor"), 0)
        self.assertCode(self.shell(f"export HOME=/; {self.io(2)} && mpirun -n 2 $RANKLAB comm -n 2 -e 64 --output r.h5"), 0)
        result = self.shell("$RANKLAB report r.h5 && $RANKLAB results list r.h5 && $RANKLAB report r.h5 --format html --output p.html")
        self.assertCode(result, 0)
        self.assertIn("comm allreduce", result.stdout)
        if self.other:
            self.assertEqual({path.stat().st_mode & 0o077 for path in self.work.glob("*.h5")}, {0}, "umask 077")

    @needs_train
    def test_such_a_user_trains(self):
        train = "HOME=/ $RANKLAB train --model template-softmax --data synthetic --batch-size 8 --steps 3 --output r.h5"
        self.assertCode(self.shell(f"{train} --label a && {train} --label b && $RANKLAB report r.h5"), 0)

    def test_a_read_only_checkout_is_said(self):
        if not self.other:
            self.skipTest("a read-only checkout needs root to be mounted")
        self.assertCode(self.shell("$BOOTSTRAP where && $BOOTSTRAP help", RANKLAB_CACHE="/some/where"), 0)
        self.assertOneSentence(self.shell("$BOOTSTRAP where"), 5, "no home folder", "RANKLAB_CACHE")
        for word in ("build", "run", "test"):
            self.assertOneSentence(self.shell(f"$BOOTSTRAP {word}", RANKLAB_APT="OFF", RANKLAB_CACHE="/some/where"), 5,
                                   "clone ranklab into a folder of your own")

    def test_a_folder_that_may_only_be_read_is_said(self):
        if os.geteuid() == 0 and not self.other:
            self.skipTest("root may write everywhere")
        self.assertOneSentence(self.shell(self.io(), before="cd /"), 5, "r.h5")

    # -- locale, time zone, gnuplot

    def test_locales_and_time_zones(self):
        """A decimal comma, a dotless i, unknown time zones."""
        self.assertCode(self.shell(self.io()), 0)
        plain = self.shell("$RANKLAB report r.h5 --format csv").stdout
        for variables in ({"LC_ALL": "tr_TR.UTF-8"}, {"LC_ALL": "de_DE.UTF-8"}, {"LC_ALL": "C"}, {"LC_ALL": "no_SUCH.UTF-8"},
                          {"LANG": "\x01/../.."}, {"TZ": "Asia/Kathmandu"}, {"TZ": "garbage"}, {"TZ": "x" * 3000}):
            with self.subTest(variables=variables):
                self.assertCode(self.shell(self.io(), **variables), 0)
                result = self.shell("$RANKLAB report r.h5 --format csv", **variables)
                self.assertCode(result, 0)
                self.assertTrue(result.stdout.startswith(plain.rstrip("\n")), "what was stored reads the same")

    def test_pictures_in_any_locale(self):
        if not shutil.which("gnuplot"):
            self.skipTest("gnuplot is not here")
        self.assertCode(self.shell(self.io()), 0)
        result = self.shell("$RANKLAB report r.h5 --plots plots", LC_ALL="C")
        self.assertCode(result, 0)
        self.assertEqual(result.said, [])

    # -- limits and streams

    @only_open_mpi
    def test_few_descriptors(self):
        self.assertCode(self.shell(self.io(), before="ulimit -n 32"), 0)
        self.assertCode(self.shell(f"export HOME=/; {self.io(2)}", before="ulimit -n 64"), 0)

    def test_few_processes(self):
        if not self.other:
            self.skipTest("the limit holds for another user than root, whose processes are counted")
        self.assertCode(self.shell("$RANKLAB --version", before="ulimit -u 1"), 0)

    @only_open_mpi
    def test_no_folder_for_temporary_files(self):
        self.assertCode(self.shell(f"{self.io()} && $RANKLAB report r.h5", TMPDIR="/nonexistent"), 0)

    def test_closed_streams(self):
        self.assertCode(self.shell("exec <&-; HOME=/ $RANKLAB doctor && $BOOTSTRAP where", RANKLAB_CACHE="/some/where"), 0)
        self.assertCode(self.shell("exec 2>&-; HOME=/ $RANKLAB doctor"), 0)
        self.assertOneSentence(self.shell("exec >&-; $RANKLAB report --help"), 5, "stdout")
        self.assertOneSentence(self.shell("exec >&-; $BOOTSTRAP where", RANKLAB_CACHE="/some/where"), 5, "stdout")
        self.assertCode(self.shell("exec <&- >&- 2>&-; $RANKLAB report --help"), 5)
        if self.other:
            self.assertCode(self.shell("exec 2>&-; $BOOTSTRAP build", RANKLAB_APT="OFF"), 5)

    def test_no_path_no_terminal_no_folder(self):
        self.assertCode(self.shell("$RANKLAB --version && $RANKLAB io --strategy binary -n 2 -s 10 -i 1 --output r.h5", PATH="/nonexistent"), 0)
        self.assertCode(self.shell("HOME=/ $RANKLAB doctor", TERM=""), 0)
        self.assertCode(self.shell("mkdir gone; cd gone; rmdir ../gone; $RANKLAB --version"), 0)


if __name__ == "__main__":
    unittest.main()
