"""./bootstrap with stand-ins for the programs that it calls: no network, no installation, seconds.

Each test has a checkout (in a path with a space) with only the files that bootstrap reads, and a folder of stand-in programs
before PATH.
"""

import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))

FAKE_CMAKE = """
echo "cmake $*" >>"$CALLS"
case "$1" in
  --version) echo "cmake version 3.25.1" ;;
  --build) mkdir -p "$2/bin"; [ -z "${BUILD_FAILS:-}" ] || { echo "error: it does not compile"; exit 1; }; : >"$2/bin/ranklab" ;;
  *) folder=build/release; case " $* " in *" --preset mpich "*) folder=build/mpich ;; esac
     mkdir -p $folder; : >$folder/build.ninja
     for word in "$@"; do case "$word" in -D*) echo "${word#-D}" | sed 's/=/:STRING=/' ;; esac; done >$folder/CMakeCache.txt ;;
esac
"""

# Answers as CPython 3.11 does to bootstrap; "-m venv" copies it into the environment.
FAKE_PYTHON = """
echo "python $*" >>"$CALLS"
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  "-m pip") [ -z "${PIP_FAILS:-}" ] || { echo "ERROR: no network"; exit 1; } ;;
esac
"""


class BootstrapTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="ranklab bootstrap ")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.repo = self.scratch / "my clone"
        (self.repo / "lib/cmake").mkdir(parents=True)
        shutil.copy(SOURCE / "bootstrap", self.repo)
        for lock in ("torch.lock", "oracle.lock"):
            shutil.copy(SOURCE / "lib/cmake" / lock, self.repo / "lib/cmake")
        (self.repo / "CMakePresets.json").write_text("{}")
        self.calls = self.scratch / "calls"
        self.calls.touch()
        self.programs = self.scratch / "programs"
        self.programs.mkdir()
        self.program("id", "echo 1000")
        self.program("cmake", FAKE_CMAKE)
        self.environment = {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "HOME": str(self.scratch / "home"),
            "CALLS": str(self.calls),
            "RANKLAB_CHECK": "OFF",
        }

    def program(self, name, script):
        path = self.programs / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return path

    def bootstrap(self, *words, cwd=None, **environment):
        return subprocess.run(
            [str(self.repo / "bootstrap"), *words], cwd=cwd or self.scratch, env=self.environment | environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def own_torch(self):
        """Returns the variable that names a LibTorch of the user: then nothing is downloaded."""
        library = self.scratch / "torch/lib/libtorch_cpu.so"
        library.parent.mkdir(parents=True, exist_ok=True)
        library.touch()
        return {"RANKLAB_TORCH_ROOT": str(library.parents[1])}

    def called(self, start):
        return [line for line in self.calls.read_text().splitlines() if line.startswith(start)]

    # -- words

    def test_help_is_shown_on_stdout(self):
        for words in ([], ["help"], ["-h"], ["--help"]):
            result = self.bootstrap(*words)
            self.assertEqual(result.returncode, 0, words)
            for word in ("run", "test", "build", "RANKLAB_CACHE", "RANKLAB_TORCH_ROOT", "RANKLAB_NCCL_ROOT"):
                self.assertIn(word, result.stdout)

    def test_an_unknown_word_is_a_usage_error_in_one_sentence(self):
        for words in (["frobnicate"], ["build", "fast"], ["where", "now"]):
            result = self.bootstrap(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertEqual(self.calls.read_text(), "")

    # -- the MPI

    def test_mpich_has_a_folder_of_its_own(self):
        self.program("ctest", 'echo "ctest $*"')
        for words, environment in ((["test", "--mpi", "mpich", "-L", "unit"], {}), (["test", "-L", "unit", "--mpi=mpich"], {}),
                                   (["test", "-L", "unit"], {"RANKLAB_MPI": "mpich"})):
            result = self.bootstrap(*words, **self.own_torch(), **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, "^ctest --test-dir .*build/mpich --output-on-failure .*-L unit$")
        (configured,) = self.called("cmake --preset mpich ")
        self.assertIn("-DRANKLAB_MPI=mpich", configured)
        self.assertFalse((self.repo / "build/release").exists())

    def test_an_mpi_that_is_none_is_a_usage_error(self):
        for words in (["test", "--mpi", "lam"], ["run", "--mpi"]):
            result = self.bootstrap(*words, **self.own_torch())
            self.assertEqual(result.returncode, 2, words)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn("mpich", result.stderr)

    def test_an_archive_is_open_mpis_and_another_is_refused_before_it_is_built(self):
        self.program("patchelf", "")
        said = {"2": self.bootstrap("pack", "--mpi", "mpich", **self.own_torch())}
        for family, code in (("MPICH", "5"), ("OTHER", "5 other")):
            self.program("cmake", FAKE_CMAKE + f"[ ! -e build/release ] || echo RANKLAB_MPI_IS_{family}:INTERNAL=1 >>build/release/CMakeCache.txt\n")
            said[code] = self.bootstrap("pack", cwd=self.repo, **self.own_torch())
        for code, result in said.items():
            self.assertEqual(result.returncode, int(code[0]), result.stderr)
            self.assertIn("--mpi openmpi", result.stderr)
            self.assertIn("another MPI" if "other" in code else "MPICH", result.stderr)
        self.assertEqual(self.called("cmake --build"), [])

    def test_a_wheel_is_no_libtorch(self):
        wheel = self.scratch / "torch-2.11.0-cp311.whl"
        wheel.touch()
        result = self.bootstrap("build", RANKLAB_TORCH_ROOT=str(wheel))
        self.assertEqual(result.returncode, 5)
        self.assertIn("--target DIR", result.stderr)

    # -- the cache

    def test_the_python_packages_lie_in_a_cache_that_all_clones_share(self):
        digest = hashlib.sha256((SOURCE / "lib/cmake/torch.lock").read_bytes()).hexdigest()[:12]
        name = f"venv-{digest}-py3.11"
        for environment, folder in (
                ({}, self.scratch / "home/.cache/ranklab"),
                ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/ranklab"),
                ({"XDG_CACHE_HOME": "/xdg", "RANKLAB_CACHE": "/my cache"}, "/my cache"),
                ({"RANKLAB_CACHE": "here"}, self.scratch / "here")):
            result = self.bootstrap("where", **environment)
            self.assertEqual((result.returncode, result.stdout), (0, f"{folder}/{name}\n"), result.stderr)

    def test_another_lock_file_means_another_environment(self):
        before = self.bootstrap("where").stdout
        with open(self.repo / "lib/cmake/torch.lock", "a") as lock:
            lock.write("# changed\n")
        self.assertNotEqual(self.bootstrap("where").stdout, before)

    # -- where nothing may be installed

    def test_what_is_missing_is_named_with_package_and_variable(self):
        bare = self.scratch / "bare"
        bare.mkdir()
        for name in ("bash", "cat", "dirname", "env", "date", "mkdir", "readlink", "sha256sum", "stat", "uname"):
            (bare / name).symlink_to(shutil.which(name))
        (bare / "id").symlink_to(self.programs / "id")
        script = 'source "$1"; include_folders() { :; }; main build'
        result = subprocess.run(
            [shutil.which("bash"), "-c", script, "bash", str(self.repo / "bootstrap")],
            env={"PATH": str(bare), "HOME": str(self.scratch)}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 5, result.stderr)
        for word in ("RANKLAB_TORCH_ROOT", "RANKLAB_NCCL_ROOT", "HDF5_ROOT", "MPI_HOME", "CMAKE_PREFIX_PATH", "mpicc",
                     "parallel HDF5", "CMake 3.25", "Ninja", "g++ 12", "libhdf5-openmpi-dev", "libopenmpi-dev",
                     "libboost-program-options-dev", "libfmt-dev", "nlohmann-json3-dev", "zlib1g-dev",
                     "libgtest-dev"):
            self.assertIn(word, result.stderr)
        self.assertNotIn("command not found", result.stderr)

    def test_fetch_leaves_out_what_it_brings(self):
        def missing(*words):
            script = 'source "$1"; has_header() { return 1; }; shift; take_own_words build "$@"; target=programs; find_folders; list_missing_things; printf "%s\\n" "${rows[@]}"'
            return subprocess.run(["bash", "-c", script, "bash", str(self.repo / "bootstrap"), *words], env=self.environment, capture_output=True, text=True, timeout=60).stdout

        fetched = ("fmt", "nlohmann json", "kainjow mustache", "hwloc 2", "GoogleTest")
        self.assertTrue(all(name in missing() for name in fetched))
        self.assertFalse(any(name in missing("--fetch") for name in fetched))
        self.assertIn("Boost.Math", missing("--fetch"))
        result = self.bootstrap("build", "--fetch", **self.own_torch(), FETCHCONTENT_SOURCE_DIR_FMT="/my fmt")
        self.assertEqual(result.returncode, 0, result.stderr)
        (configured,) = self.called("cmake --preset release ")
        for option in ("-DRANKLAB_FETCH=ON", "-DRANKLAB_BUILD_TESTS=OFF", "-DFETCHCONTENT_SOURCE_DIR_FMT=/my fmt"):
            self.assertIn(option, configured)

    def test_an_own_torch_is_used_and_a_wrong_one_refused(self):
        torch = self.scratch / "own torch"
        result = self.bootstrap("build", RANKLAB_TORCH_ROOT=str(torch))
        self.assertEqual(result.returncode, 5)
        self.assertIn("RANKLAB_TORCH_ROOT", result.stderr)
        (torch / "lib").mkdir(parents=True)
        (torch / "lib/libtorch_cpu.so").touch()
        result = self.bootstrap("build", RANKLAB_TORCH_ROOT=str(torch), RANKLAB_NCCL_ROOT="/own/nccl")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"-DRANKLAB_TORCH_ROOT={torch}", self.called("cmake")[0])
        self.assertIn("-DRANKLAB_NCCL_ROOT=/own/nccl", self.called("cmake")[0])
        self.assertEqual(list((self.scratch / "home/.cache/ranklab").glob("venv-*")), [])

    # -- root on Debian

    def test_root_installs_what_is_missing_and_only_that(self):
        self.program("id", "echo 0")
        self.program("apt-get", 'echo "apt-get $*" >>"$CALLS"')
        self.program("dpkg-query", 'shift 3; for p in "$@"; do [ $p = ninja-build ] || printf "installed:%s " $p; done')
        result = self.bootstrap("build", RANKLAB_WITH_TORCH="OFF")
        self.assertEqual(result.returncode, 0, result.stderr)
        install = self.called("apt-get")[-1]
        self.assertIn("--no-install-recommends", install)
        self.assertEqual(install.split()[-1], "ninja-build")
        self.assertNotIn("cmake", install)
        self.program("dpkg-query", 'shift 3; for p in "$@"; do printf "installed:%s " $p; done')
        self.calls.write_text("")
        self.assertEqual(self.bootstrap("build", RANKLAB_WITH_TORCH="OFF").returncode, 0)
        self.assertEqual(self.called("apt-get"), [])

    def test_only_the_tests_need_a_browser_and_the_tests_built(self):
        self.program("id", "echo 0")
        self.program("apt-get", 'echo "apt-get $*" >>"$CALLS"')
        self.program("dpkg-query", "exit 1")
        self.program("mpirun", "exit 0")
        self.program("ctest", "exit 0")
        for word, targets, installs in (("run", ["main_job", "programs"], False), ("build", ["programs"], False), ("test", ["all"], True)):
            with self.subTest(word):
                self.calls.write_text("")
                result = self.bootstrap(word, **self.own_torch())
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual("chromium" in self.called("apt-get")[-1].split(), installs)
                self.assertEqual([call.split()[-1] for call in self.called("cmake --build")], targets)

    # This apt-get installs ninja-build only after pip has started.
    APT_THAT_WAITS = """
echo "apt-get $*" >>"$CALLS"
case "$*" in
  *ninja-build*) for i in $(seq 300); do ! grep -q "python -m pip" "$CALLS" || exit 0; sleep 0.1; done; exit 1 ;;
esac
"""

    def test_the_download_goes_on_beside_the_other_packages(self):
        self.program("id", "echo 0")
        self.program("apt-get", self.APT_THAT_WAITS)
        self.program("dpkg-query", "exit 1")
        environment = {"RANKLAB_PYTHON": str(self.program("python-stand-in", FAKE_PYTHON))}
        result = self.bootstrap("build", PIP_FAILS="1", **environment)
        self.assertEqual(result.returncode, 5)  # one message, from the second try, which waits for the first
        self.assertEqual(result.stderr.count("ERROR: no network"), 1, result.stderr)
        self.assertTrue(self.called("apt-get")[1].endswith("ca-certificates python3 python3-venv"))
        self.assertFalse((self.repo / "build/.python_ahead").exists())
        self.calls.write_text("")
        self.assertEqual(self.bootstrap("build", **environment).returncode, 0)
        self.assertEqual(len([line for line in self.called("python") if "-m venv" in line]), 1)

    # -- the Python packages

    def test_an_environment_counts_only_once_it_is_complete(self):
        python = self.program("python-stand-in", FAKE_PYTHON)
        environment = {"RANKLAB_PYTHON": str(python), "RANKLAB_CACHE": str(self.scratch / "my cache")}
        venv = pathlib.Path(self.bootstrap("where", **environment).stdout.strip())
        result = self.bootstrap("build", PIP_FAILS="1", **environment)
        self.assertEqual(result.returncode, 5)
        for words in ("ERROR: no network", "bootstrap.log", "RANKLAB_TORCH_ROOT"):
            self.assertIn(words, result.stderr)
        self.assertFalse((venv / ".complete").exists())
        (venv / "left over").touch()
        result = self.bootstrap("build", **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((venv / ".complete").exists())
        self.assertFalse((venv / "left over").exists())
        self.assertIn("--require-hashes", self.called("python -m pip")[-1])
        self.calls.write_text("")
        self.assertEqual(self.bootstrap("build", **environment).returncode, 0)
        self.assertEqual(self.called("python -m"), [])

    def test_the_oracles_packages_come_later_and_may_fail(self):
        """Only the tests need them: they are added later to an environment, and a failure is no error."""
        self.program("ctest", "exit 0")
        python = self.program("python-stand-in", FAKE_PYTHON)
        environment = {"RANKLAB_PYTHON": str(python)}
        venv = pathlib.Path(self.bootstrap("where", **environment).stdout.strip())
        digest = hashlib.sha256((SOURCE / "lib/cmake/oracle.lock").read_bytes()).hexdigest()[:12]
        oracle = venv / f"oracle-{digest}"
        self.assertEqual(self.bootstrap("build", **environment).returncode, 0)
        self.assertFalse(oracle.exists())
        self.assertEqual(self.bootstrap("test", **environment).returncode, 0)
        self.assertTrue((oracle / ".complete").exists())
        shutil.rmtree(oracle)
        self.calls.write_text("")
        result = self.bootstrap("test", PIP_FAILS="1", **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("oracle.models", result.stderr)
        self.assertFalse(oracle.exists())
        self.assertTrue((venv / ".complete").exists())
        (pip,) = self.called("python -m pip")
        for words in (f"--target {oracle}", "--require-hashes", "oracle.lock"):
            self.assertIn(words, pip)
        self.calls.write_text("")
        result = self.bootstrap("test", **environment)
        self.assertEqual((result.returncode, len(self.called("python -m pip"))), (0, 1), result.stderr)
        self.assertNotIn("skipped", result.stderr)
        self.assertTrue((oracle / ".complete").exists())

    def test_a_full_disk_is_said_before_anything_is_downloaded(self):
        python = self.program("python-stand-in", FAKE_PYTHON)
        self.program("df", 'printf "head\\nfile 9999 1 102400 1%% /\\n"')
        result = self.bootstrap("build", RANKLAB_PYTHON=str(python), RANKLAB_CACHE=str(self.scratch / "cache"))
        self.assertEqual(result.returncode, 5)
        self.assertIn("100 MiB", result.stderr)
        self.assertIn("RANKLAB_CACHE", result.stderr)
        self.assertEqual(self.called("python -m"), [])

    # -- configure and build

    def test_a_second_run_configures_only_what_has_changed(self):
        own_torch = self.own_torch()
        for environment, configured in (
                ({"RANKLAB_WITH_TORCH": "OFF"}, True), ({"RANKLAB_WITH_TORCH": "OFF"}, False),
                (own_torch, True), (own_torch, False)):
            self.calls.write_text("")
            result = self.bootstrap("build", **environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(any("--preset release" in call for call in self.called("cmake")), configured, environment)
            self.assertEqual(len(self.called("cmake --build")), 1)

    def test_a_step_ends_with_the_bootstrap_that_is_told_to(self):
        self.program("cmake", FAKE_CMAKE.replace("--build)", '--build) echo $$ >"$BUILD_ID"; sleep 100;'))
        build = self.scratch / "build id"
        for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)):
            build.unlink(missing_ok=True)
            job = subprocess.Popen([str(self.repo / "bootstrap"), "build"], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                   env=self.environment | {"RANKLAB_WITH_TORCH": "off", "BUILD_ID": str(build)})
            while not build.exists() or not build.read_text():
                self.assertIsNone(job.poll())
                time.sleep(0.02)
            job.send_signal(number)
            self.assertEqual(job.wait(30), code)
            self.assertFalse(self.is_alive(int(build.read_text())), number)
            self.assertEqual(self.called("python"), [])

    def is_alive(self, process):
        """Waits up to 10 s for its end."""
        for _ in range(200):
            if not pathlib.Path(f"/proc/{process}").exists():
                return False
            time.sleep(0.05)
        return True

    def test_the_main_job_needs_libtorch(self):
        for off in ("OFF", "off", "0", "no"):
            result = self.bootstrap("run", RANKLAB_WITH_TORCH=off)
            self.assertEqual(result.returncode, 2)
            self.assertIn("LibTorch", result.stderr)
        self.assertEqual(self.calls.read_text(), "")

    def test_a_failed_build_shows_its_end_and_names_the_log(self):
        result = self.bootstrap("build", RANKLAB_WITH_TORCH="OFF", BUILD_FAILS="1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("it does not compile", result.stderr)
        self.assertIn(str(self.repo / "build/bootstrap.log"), result.stderr)
        self.assertIn("it does not compile", (self.repo / "build/bootstrap.log").read_text())

    # -- the job and the tests

    def test_run_passes_words_on_and_returns_the_exit_code_of_the_job(self):
        self.program("mpirun", 'echo "mpirun $*"; exit 7')
        result = self.bootstrap("run", "--epochs", "3", **self.own_torch())
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 1, "stdout belongs to the job")
        main_job = "mpirun -n 2 .*build/release/bin/ranklab train --config .*configs/mnist/ddp2.ini "
        self.assertRegex(result.stdout, f"{main_job}--output .*results/ranklab.h5 --epochs 3$")
        result = self.bootstrap("run", **self.own_torch())
        self.assertRegex(result.stdout, f"{main_job}--epochs 1 --output .*results/ranklab.h5$")
        result = self.bootstrap("run", "--steps=9", **self.own_torch())
        self.assertRegex(result.stdout, f"{main_job}--output .*results/ranklab.h5 --steps=9$")
        result = self.bootstrap("run", "--output", "mine.h5", "--config=my.ini", **self.own_torch())
        self.assertTrue(result.stdout.endswith("ranklab train --output mine.h5 --config=my.ini\n"), result.stdout)

    def test_a_signal_stops_the_main_job_and_nothing_is_built_after_it(self):
        self.program("mpirun", 'trap \'echo stopped; exit 143\' TERM; echo started; for i in $(seq 300); do sleep 0.1; done')
        started = subprocess.Popen([self.repo / "bootstrap", "run"], env=self.environment | self.own_torch(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(started.stdout.readline(), "started\n")
        started.terminate()
        self.assertEqual(started.communicate()[0], "stopped\n")
        self.assertEqual(started.returncode, 143)
        self.assertEqual(len(self.called("cmake --build")), 1)

    def test_test_passes_words_on_and_returns_the_exit_code_of_ctest(self):
        self.program("ctest", 'echo "ctest $*"; exit 8')
        result = self.bootstrap("test", "-L", "unit", RANKLAB_WITH_TORCH="OFF")
        self.assertEqual(result.returncode, 8, result.stderr)
        self.assertRegex(result.stdout, r"^ctest --test-dir .*build/release --output-on-failure .*-LE \^slow\$ -L unit$")

    def test_all_and_a_slice_build_and_choose_tests_of_the_second_suite(self):
        self.program("ctest", 'echo "ctest $*"')
        for words, chosen in ((["--all"], r"test_times\.xml"), (["--slice", "3/4"], r"-L \^slice3\$"), (["--slice=1/4"], r"-L \^slice1\$")):
            result = self.bootstrap("test", *words, "-R", "x", RANKLAB_WITH_TORCH="OFF")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stdout, f"^ctest .*{chosen} -R x\n$")
            self.assertTrue(self.called("cmake --build")[-1].endswith("all slow_tests"), words)
        for words in (["--slice"], ["--slice", "0/4"], ["--slice", "5/4"], ["--slice=2"]):
            result = self.bootstrap("test", *words, RANKLAB_WITH_TORCH="OFF")
            self.assertEqual(result.returncode, 2, words)
            self.assertIn("4/4", result.stderr)

    def test_open_mpi_is_allowed_to_run_as_root_only_for_root(self):
        self.program("mpirun", 'echo "root ${OMPI_ALLOW_RUN_AS_ROOT:-no} ${OMPI_ALLOW_RUN_AS_ROOT_CONFIRM:-no}"')
        environment = {**self.own_torch(), "RANKLAB_APT": "OFF"}
        self.assertEqual(self.bootstrap("run", **environment).stdout, "root no no\n")
        self.program("id", "echo 0")
        self.assertEqual(self.bootstrap("run", **environment).stdout, "root 1 1\n")

    def test_closed_stdin_and_a_strict_umask_do_no_harm(self):
        command = f'umask 077; exec "{self.repo}/bootstrap" build <&-'
        result = subprocess.run(["bash", "-c", command], env=self.environment | {"RANKLAB_WITH_TORCH": "OFF"},
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
