"""How a job is started and how it ends: the launch guard, doctor, lost and stopped ranks, time limits, NaN losses."""

import json
import os
import re
import signal
import threading
import time

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab, train

try:
    import h5py
except ImportError:
    h5py = None  # the doctor's tests do without

UNCONNECTED = (
    ("Open MPI", {"OMPI_COMM_WORLD_SIZE": 2, "OMPI_COMM_WORLD_RANK": 0}),
    ("PMI", {"PMI_SIZE": 2, "PMI_RANK": 0}),
    ("Hydra's mpiexec", {"PMI_SIZE": 2, "PMI_RANK": 0, "MPI_LOCALNRANKS": 2}),
    ("PALS's mpiexec", {"PMI_SIZE": 2, "PMI_RANK": 0, "PALS_RANKID": 0}),
    ("Flux's flux run", {"FLUX_JOB_SIZE": 2, "FLUX_TASK_RANK": 0}),
    ("JSM's jsrun", {"JSM_NAMESPACE_SIZE": 2, "JSM_NAMESPACE_RANK": 0}),
    ("Slurm", {"SLURM_NTASKS": 2, "SLURM_PROCID": 0}),
    ("Slurm", {"SLURM_STEP_NUM_TASKS": 4, "SLURM_NTASKS": 4, "SLURM_PROCID": 0}),
)


def mend_of(launcher):
    """How the ranks of this build are connected."""
    by_flux = "flux run -o pmi=" + ("pmix" if cli.LAUNCHER.is_open_mpi else "simple")
    return f"({by_flux if 'Flux' in launcher else f'srun --mpi={cli.LAUNCHER.pmi}'}, or its own {cli.LAUNCHER.own})"


def stored_runs(path):
    with h5py.File(path) as file:
        return [{"exit_code": int(run.attrs["exit_code"]), "valid": int(run.attrs["valid"]), "warnings": json.loads(run.attrs["warnings_json"]),
                 "names": {name.decode() if isinstance(name, bytes) else name for name in run["measurements"]["name"]},
                 "steps": run["samples/step_time_s"].shape[0] if "step_time_s" in run["samples"] else 0} for run in file["runs"].values()]


class BusySystem:
    """A /proc/stat that counts so many busy cores, whatever this machine does."""

    def __init__(self, root, cores):
        self.file, self.root, self.cores = root / "proc" / "stat", root, cores
        self.file.parent.mkdir(parents=True)
        self.cpus, self.start, self.end = sorted(os.sched_getaffinity(0)), time.monotonic(), threading.Event()
        self.thread = threading.Thread(target=self.tick)

    def __enter__(self):
        self.write()
        self.thread.start()
        return self.root

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()

    def tick(self):
        while not self.end.wait(0.02):
            self.write()

    def write(self):
        passed = 100 * (time.monotonic() - self.start)
        busy = passed * self.cores / len(self.cpus)
        rows = [f"cpu{cpu} {int(busy)} 0 0 {int(passed)} 0 0 0 0 0 0\n" for cpu in self.cpus]
        part = self.file.with_name("part")
        part.write_text("cpu  0 0 0 0 0 0 0 0 0 0\n" + "".join(rows))
        part.replace(self.file)


def allow_cpus(root, cpus):
    """A system whose cgroup allows so much CPU time, as docker's --cpus does."""
    for file, text in (("proc/self/cgroup", "0::/"), ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup rw"),
                       ("sys/fs/cgroup/cpu.max", f"{int(100000 * cpus)} 100000")):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text + "\n")
    return cli.environment(RANKLAB_SYSTEM_ROOT=str(root), OMP_NUM_THREADS=None)


class DoctorTest(Case):
    def test_says_where_each_rank_is_and_what_there_is(self):
        for ranks in (1, 2):
            result = ranklab("doctor", "--threads", "1", "--verbose", ranks=ranks, cwd=self.folder)
            self.assertCode(result, 0)
            self.assertEqual(result.said, [])
            for fact in (f"# libraries.mpi: {'Open MPI' if cli.LAUNCHER.is_open_mpi else 'MPICH'}", "# libraries.hdf5: 1.", "# build.version: ", "# build.type: ", "# host.kernel: Linux",
                         "# host.cpu: ", "# process.allocator: "):
                self.assertIn(fact, result.stdout, str(result))
            lines = result.stdout.splitlines()
            head = next(i for i, line in enumerate(lines) if re.match(r"\s*rank\s+local\s+host\s+cores\s+threads\s+cpus\s+GPUs", line))
            for rank in range(ranks):
                # rank, local rank, host, cores, threads, cpus, then the GPUs or why there are none
                self.assertRegex(lines[head + 1 + rank], rf"^\s*{rank}\s+{rank}\s+{re.escape(os.uname().nodename)}\s+\d+\s+1\s+[\d,-]+\s+\S+")
            self.assertIn("Nothing wrong was found.", result.stdout)
            self.assertTrue(result.stdout.replace("\n", "").isprintable(), "stray control characters")
        self.assertEqual(self.names(), [])

    def test_the_verdict_comes_first_and_what_is_seldom_asked_for_only_when_asked(self):
        env = cli.environment(**{f"SLURM_VARIABLE_{i}": "1" for i in range(60)})
        result = ranklab("doctor", "--threads", "1", cwd=self.folder, env=env)
        self.assertCode(result, 0)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], "Nothing wrong was found.")
        self.assertLessEqual(len(lines), 12, f"more than half of a screen:\n{result.stdout}")
        self.assertNotIn("SLURM_VARIABLE", result.stdout)
        self.assertIn("SLURM_VARIABLE_7", ranklab("doctor", "--threads", "1", "--verbose", cwd=self.folder, env=env).stdout)

    def test_a_login_node_is_named(self):
        (self.folder / "usr" / "bin").mkdir(parents=True)
        (self.folder / "usr" / "bin" / "sbatch").touch()
        (self.folder / "etc" / "slurm").mkdir(parents=True)
        (self.folder / "etc" / "slurm" / "slurm.conf").touch()
        env = cli.environment(RANKLAB_SYSTEM_ROOT=str(self.folder), PATH="/bin:/usr/bin", SLURM_JOB_ID=None)
        result = ranklab("doctor", "--threads", "1", cwd=self.folder, env=env)
        self.assertRegex(result.stdout.splitlines()[0], "warning: .* has Slurm's commands, and this is no job of it: on a login node")

    def test_others_on_the_cpus_are_named_by_doctor_and_by_every_run(self):
        with BusySystem(self.folder / "system", cores=4) as root:
            env = cli.environment(RANKLAB_SYSTEM_ROOT=str(root))
            doctor = ranklab("doctor", "--threads", "1", cwd=self.folder, env=env)
            # As long as the limit says, so that the system's hundredths of seconds can be counted.
            ranklab("io", "--strategy", "binary", "-i", "2", "--target-ci", "0.0001%", "--time-limit", "3", "--output", "r.h5", cwd=self.folder, env=env)
        self.assertRegex(doctor.stdout.splitlines()[0], r"warning: .*: other programs or the kernel kept \d\.\d of the ranks' CPUs busy \(what the kernel")
        run = json.loads(ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"][0]
        self.assertTrue(any("other programs or the kernel kept " in text for text in run["warnings"]), run["warnings"])
        self.assertGreater(float(run["context"]["place"]["others_cores"]), 1)

    def test_a_quota_of_cpu_time_is_told_caps_the_threads_and_is_stored(self):
        env = allow_cpus(self.folder / "system", 1.5)
        doctor = ranklab("doctor", "--verbose", cwd=self.folder, env=env)
        self.assertCode(doctor, 0)
        self.assertEqual(doctor.stdout.splitlines()[0], "Nothing wrong was found.")
        self.assertIn("# CPUs whose time the cgroups allow on a host: 1.5\n", doctor.stdout)
        self.assertIn("# host.cpu_quota: 1.5\n", doctor.stdout)
        self.assertRegex(doctor.stdout, r"\n +0 +0 +\S+ +\d+ +1 ", "one thread of the one CPU and a half")
        ranklab("io", "--strategy", "binary", "-i", "2", "--output", "r.h5", cwd=self.folder, env=env)
        run = json.loads(ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"][0]
        self.assertEqual(run["context"]["host"]["cpu_quota"], "1.5")

    def test_more_threads_than_a_quota_allows_are_named_by_doctor_and_by_every_run(self):
        env = allow_cpus(self.folder / "system", 1)
        words = "the cgroup allows 1 CPU; 2 threads of ranks 0-1 are throttled"
        doctor = ranklab("doctor", "--threads", "1", ranks=2, cwd=self.folder, env=env)
        self.assertIn(words, doctor.stdout)
        io = ranklab("io", "--strategy", "binary", "--dry-run", ranks=2, cwd=self.folder, env=env)
        self.assertTrue(any(words in line for line in io.said), str(io))

    @needs_train
    def test_threads_default_to_what_a_quota_allows(self):
        env = allow_cpus(self.folder / "system", 1)
        self.assertIn("# threads: 1", train("--dry-run", cwd=self.folder, env=env).stdout.splitlines())

    def test_more_threads_than_cores_are_named_with_the_mend(self):
        result = ranklab("doctor", "--threads", "64", cwd=self.folder)
        self.assertCode(result, 0)
        warning = next(line for line in result.stdout.splitlines() if line.startswith("warning: "))
        for part in ("64 threads", "cpuset", "--threads"):
            self.assertIn(part, warning)
        for part in ("Open MPI", "mpirun", "mpiexec", "srun", "rank 0"):
            self.assertNotIn(part, warning)

    @cli.only_open_mpi
    def test_open_mpis_binding_at_two_ranks_is_named(self):
        result = cli.mpirun(2, cli.RANKLAB, "doctor", "--threads", "2", options=("--bind-to", "core"), cwd=self.folder)
        self.assertCode(result, 0)
        warnings = [line for line in result.stdout.splitlines() if line.startswith("warning: ")]
        self.assertEqual(sum("binds each rank to one core" in line for line in warnings), 1, str(result))
        self.assertTrue(any("ranks 0-1: 2 threads, but the cpuset holds 1 core" in line for line in warnings), str(result))


    def test_a_rank_with_too_few_cores_is_told_how_its_launcher_gives_more(self):
        result = cli.mpirun(2, cli.RANKLAB, "doctor", "--threads", "2", options=cli.LAUNCHER.bound, cwd=self.folder)
        self.assertCode(result, 0)
        warning = next(line for line in result.stdout.splitlines() if "the cpuset holds 1 core" in line)
        self.assertIn("mpirun --map-by slot:PE=2 --bind-to core" if cli.LAUNCHER.is_open_mpi else " -bind-to core:2", warning)


class UnusableThreadsTest(Case):
    def test_doctor_names_an_omp_num_threads_that_it_does_not_take(self):
        for value in ("0", "garbage", "-1", "", "99999999999", "0,2"):
            result = ranklab("doctor", cwd=self.folder, env=cli.environment(OMP_NUM_THREADS=value))
            self.assertCode(result, 0)
            warned = [line for line in result.said if f"OMP_NUM_THREADS is '{value}'" in line]
            self.assertEqual(len(warned), 1, str(result))
            self.assertIn("one for each core of its cpuset", warned[0])
        for value, words in (("2,1", ()), (" 1", ()), ("0", ("--threads", 1)), (None, ())):
            result = ranklab("doctor", *words, cwd=self.folder, env=cli.environment(OMP_NUM_THREADS=value))
            self.assertCode(result, 0)
            self.assertNotIn("OMP_NUM_THREADS is", result.stderr)


class LaunchGuardTest(Case):
    def test_ranks_of_different_commands_are_named(self):
        write = (cli.RANKLAB, "io", "-n", 4, "-s", 20, "--strategy", "binary", "--output", "none")
        doctor = (cli.RANKLAB, "doctor")
        for one, other in ((write, doctor), (doctor, write)):
            result = cli.run("mpirun", "-n", 1, *one, ":", "-n", 1, *other, cwd=self.folder)
            self.assertCode(result, 2)
            for part in ("started with different options", "'ranklab io", "'ranklab doctor'"):
                self.assertIn(part, result.stderr)
        result = cli.run("mpirun", "-n", 1, *doctor, "--threads", 1, ":", "-n", 1, *doctor, cwd=self.folder)
        self.assertCode(result, 0)

    def test_doctor_names_unconnected_processes(self):
        for launcher, env in UNCONNECTED:
            with self.subTest(env=env):
                result = ranklab("doctor", env=cli.environment(**env), cwd=self.folder)
                self.assertCode(result, 5)
                wrong = [line for line in result.stdout.splitlines() if line.startswith("WRONG: ")]
                self.assertEqual(len(wrong), 1, str(result))
                for part in (launcher, "MPI connects 1 rank", mend_of(launcher)):
                    self.assertIn(part, wrong[0])

    @needs_train
    def test_unconnected_processes_do_not_train(self):
        for launcher, env in UNCONNECTED:
            with self.subTest(env=env):
                result = train("--steps", 3, "--output", "r.h5", env=cli.environment(**env), cwd=self.folder)
                self.assertSays(result, 5, launcher, "MPI connects 1 rank", mend_of(launcher), "--expect-ranks 1")
                self.assertNotIn("Img/sec", result.stdout)
        self.assertEqual(self.names(), [])

    @needs_train
    def test_two_singletons_both_refuse_and_one_says_why(self):
        jobs = [self.start(cli.RANKLAB, "train", "--steps", "3", "--output", "r.h5", env=cli.environment(SLURM_NTASKS=2, SLURM_PROCID=rank))
                for rank in range(2)]
        self.assertSays(jobs[0].finish(), 5, "MPI connects 1 rank")
        other = jobs[1].finish()
        self.assertEqual((other.code, other.stdout, other.stderr), (5, "", ""))
        self.assertEqual(self.names(), [])

    @needs_train
    def test_one_process_alone_may_be_meant(self):
        env = cli.environment(SLURM_NTASKS=2, SLURM_PROCID=0)
        self.assertCode(train("--steps", 3, "--expect-ranks", 1, "--output", "none", env=env, cwd=self.folder), 0)
        # In a batch script, outside srun, Slurm tells the number of tasks but this process is none of them.
        env = cli.environment(SLURM_NTASKS=2, SLURM_PROCID=None)
        self.assertCode(train("--steps", 3, "--output", "none", env=env, cwd=self.folder), 0)

    @needs_train
    def test_expect_ranks(self):
        self.assertSays(train("--steps", 3, "--expect-ranks", 2, cwd=self.folder), 5, "--expect-ranks 2", "MPI connects 1 rank")
        self.assertSays(train("--steps", 3, "--expect-ranks", 3, ranks=2, cwd=self.folder), 5, "--expect-ranks 3", "2 ranks")
        self.assertCode(train("--steps", 3, "--expect-ranks", 2, "--output", "none", ranks=2, cwd=self.folder), 0)
        self.assertEqual(self.names(), [])
        self.assertCode(ranklab("doctor", "--expect-ranks", "2", "--threads", "1"), 5)

    @needs_train
    @cli.only_open_mpi
    def test_a_wrong_binding_is_warned_of_and_stored(self):
        result = cli.mpirun(2, cli.RANKLAB, "train", "--model", "template-softmax", "--threads", "2", "--steps", "5", "--output", "r.h5",
                            options=("--bind-to", "core"), cwd=self.folder)
        self.assertCode(result, 0)
        warned = [line for line in result.said if line.startswith("warning: ") and "binds each rank to one core" in line]
        self.assertEqual(len(warned), 1, str(result))
        self.assertIn("--threads 1", warned[0])
        if h5py:
            (run,) = stored_runs(self.folder / "r.h5")
            self.assertTrue(any("binds each rank to one core" in warning for warning in run["warnings"]), run)

    @needs_train
    def test_threads_default_to_the_ranks_cores(self):
        for unusable in (None, "", "many", "-2", "5000"):
            with self.subTest(OMP_NUM_THREADS=unusable):
                result = cli.mpirun(2, cli.RANKLAB, "train", "--dry-run", options=cli.LAUNCHER.bound, cwd=self.folder,
                                    env=cli.environment(OMP_NUM_THREADS=unusable))
                self.assertCode(result, 0)
                self.assertIn("# threads: 1", result.stdout.splitlines())
                # GNU's OpenMP library writes its sentence in pieces, and two ranks' pieces come mixed.
                said = "".join(line for line in result.said if not line.startswith("warning: ")).replace("libgomp: ", "")
                self.assertEqual(said.replace("Invalid value for environment variable OMP_NUM_THREADS", ""), "")
                warned = [line for line in result.said if line.startswith("warning: ")]
                self.assertEqual(len(warned), int(unusable is not None), str(result))
                if warned:
                    self.assertIn(f"OMP_NUM_THREADS is '{unusable}', which is no number from 1 to", warned[0])

    @needs_train
    def test_threads_default_to_omp_num_threads_where_it_is_set(self):
        for value, words, threads in (("3", (), 3), (" 2,1", (), 2), ("3", ("--threads", 1), 1)):
            result = ranklab("train", "--dry-run", *words, cwd=self.folder, env=cli.environment(OMP_NUM_THREADS=value))
            self.assertCode(result, 0)
            self.assertIn(f"# threads: {threads}", result.stdout.splitlines())


@needs_train
class LostRankTest(Case):
    """A long job, into a file that holds a run already. It must end within 20 s, not with 0, and lose nothing."""

    def setUp(self):
        super().setUp()
        if h5py is None:
            self.skipTest("h5py is not installed for this Python")
        self.file = self.folder / "r.h5"
        self.assertCode(train("--steps", 5, "--output", self.file), 0)
        self.before = self.file.read_bytes()

    def start_long_job(self, *words):
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "train", "--model", "mnist-cnn", "--data", "synthetic", "--threads", "1",
                         "--batch-size", "16", "--steps", "20000", "--output", self.file, *words)
        job.wait_for_stdout("# model:")
        ranks = job.wait_until(lambda: (found := job.ranks()) and len(found) == 2 and found)
        time.sleep(1.5)  # into the steps
        self.assertIsNone(job.process.poll())
        return job, ranks

    def check_end(self, job, ranks):
        result = job.finish(20)
        self.assertNotEqual(result.code, 0, str(result))
        self.assertNotIn("Img/sec", result.stdout)
        deadline = time.monotonic() + 5
        while any(map(cli.alive, ranks.values())) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertFalse([pid for pid in ranks.values() if cli.alive(pid)], "a rank outlived the job")
        self.assertEqual(self.file.read_bytes(), self.before)
        self.assertEqual([run["valid"] for run in stored_runs(self.file)], [1])
        self.assertCode(train("--steps", 5, "--output", self.file), 0)  # no lock stays behind
        self.assertEqual(len(stored_runs(self.file)), 2)
        return result

    def test_a_killed_rank_ends_the_job(self):
        for rank in (1, 0):
            with self.subTest(rank=rank):
                job, ranks = self.start_long_job()
                os.kill(ranks[rank], signal.SIGKILL)
                result = self.check_end(job, ranks)
                self.assertIn("signal 9", result.stderr + result.stdout)  # the launcher's sentence, which Hydra says on stdout
                self.file.write_bytes(self.before)

    def test_a_stopped_rank_is_noticed_by_the_others(self):
        job, ranks = self.start_long_job("--stall-timeout", "3")
        os.kill(ranks[1], signal.SIGSTOP)
        result = self.check_end(job, ranks)
        self.assertEqual(result.code, 5, str(result))
        said = [line for line in result.said if "no progress for 3 s" in line]
        self.assertEqual(len(said), 1, str(result))
        self.assertRegex(said[0], r"rank 1 on \S+ does not answer .*; rank 0: \w+.*--stall-timeout")

    def test_an_interrupted_launcher_ends_the_ranks(self):
        job, ranks = self.start_long_job()
        os.kill(job.process.pid, signal.SIGTERM)
        result = job.finish(60)
        if cli.LAUNCHER.is_open_mpi:  # Hydra's may be 0
            self.assertNotEqual(result.code, 0, str(result))
        deadline = time.monotonic() + 20
        while any(map(cli.alive, ranks.values())) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertFalse([pid for pid in ranks.values() if cli.alive(pid)], "a rank outlived the job")
        first, *partial = stored_runs(self.file)
        self.assertEqual(first["valid"], 1)
        # mpirun passes the signal on and kills soon after: what was measured by then is stored, marked, or kept beside
        self.assertLessEqual([run["exit_code"] for run in partial], [128 + signal.SIGTERM], str(result))
        self.assertCode(train("--steps", 5, "--output", self.file), 0)  # no lock stays behind


@needs_train
class EndedEarlyTest(Case):
    def setUp(self):
        super().setUp()
        if h5py is None:
            self.skipTest("h5py is not installed for this Python")

    def test_the_time_limit_ends_and_stores_the_run(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                output = self.folder / f"limit{ranks}.h5"
                result = train("--steps", 500000, "--warmup", 2, "--time-limit", 1, "--output", output, ranks=ranks, cwd=self.folder, timeout=30)
                self.assertSays(result, 6, "time limit", "500002 steps")
                (run,) = stored_runs(output)
                self.assertEqual((run["exit_code"], run["valid"]), (6, 1))
                self.assertTrue(any("time limit" in warning for warning in run["warnings"]), run)
                self.assertGreater(run["steps"], 0)
                self.assertLess(run["steps"], 500000)
                self.assertIn("throughput_samples_per_s", run["names"])

    def test_a_loss_that_is_not_a_number(self):
        for ranks, words in ((1, ()), (2, ()), (2, ("--model", "mnist-cnn", "--batch-size", "8"))):
            with self.subTest(ranks=ranks, words=words):
                output = self.folder / f"nan{ranks}{len(words)}.h5"
                result = train("--optimizer", "sgd", "--lr", "1e38", "--steps", 60, "--output", output, *words, ranks=ranks, cwd=self.folder)
                self.assertSays(result, 3, "the loss is not a number from step", "on rank", "--lr")
                for word in ("Img/sec", "Total img/sec", "throughput", "test accuracy"):
                    self.assertNotIn(word, result.stdout)
                self.assertIn("INVALID", result.stdout)
                (run,) = stored_runs(output)
                self.assertEqual((run["exit_code"], run["valid"]), (3, 0))
                self.assertIn("not a number", run["warnings"][0])
                self.assertNotIn("throughput_samples_per_s", run["names"])
                report = ranklab("report", output)
                self.assertCode(report, 0)
                self.assertIn("INVALID", report.stdout)
                self.assertNotIn("Img/sec", report.stdout)
                json.loads(ranklab("report", output, "--format", "json").stdout)


if __name__ == "__main__":
    cli.main()
