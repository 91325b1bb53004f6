"""ranklab doctor: no findings for a healthy launch, and the id and remedy of each fault that can be provoked on one machine. Variables of launchers:
tests/unit/comm/launcher_test.cpp; texts of findings: tests/unit/host."""

import json
import os
import re
import shutil
import subprocess

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

CPUS = sorted(os.sched_getaffinity(0))
GOVERNOR = "sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
STEADY = {GOVERNOR.format(cpu): "performance" for cpu in CPUS}
SLURM_STEP = {"SLURM_STEP_ID": 0, "SLURM_STEPID": 0, "SLURM_JOB_ID": 7, "SLURM_NODELIST": "n1", "SLURM_STEP_NUM_TASKS": 4, "SLURM_NTASKS": 4, "SLURM_PROCID": 0}
QUOTA = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "100000 100000"}

# id, ranks, options, variables, files of the system, exit code, parts of the message, parts of the remedy
FINDINGS = (
    ("more-threads-than-cores", 1, ("--threads", 64), {}, {}, 0, "64 threads", "--threads"),
    ("cpu-quota", 2, (), {"OMP_NUM_THREADS": None}, QUOTA, 0, "allows 1 CPU for 2 threads of ranks 0-1", "raise the CPU limit"),
    ("ranks-not-connected", 1, (), {"FLUX_JOB_SIZE": 2, "FLUX_TASK_RANK": 0}, {}, 5, "Flux", f"its own {cli.LAUNCHER.own}"),
    ("ranks-not-connected", 1, (), SLURM_STEP, {}, 5, "MPI connects 1 rank", f"srun --mpi={cli.LAUNCHER.pmi}"),
    ("ranks-not-connected", 2, ("--expect-ranks", 3), {}, {}, 5, "--expect-ranks 3 was given, but MPI connects 2 ranks", "--expect-ranks 2"),
    ("governor", 1, (), {}, {GOVERNOR.format(CPUS[0]): "powersave"}, 0, "powersave", "cpupower frequency-set -g performance"),
)


class Doctoring(Case):
    def system(self, name, files):
        """Makes a system root with these files."""
        for path, text in files.items():
            file = self.folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
        return self.folder / name

    def seen(self, result, code=0):
        self.assertCode(result, code)
        seen = json.loads(result.stdout)
        self.assertEqual(seen["exit_code"], code)
        return seen

    def finding(self, result, ident, code=0):
        """Returns the only finding and checks its id."""
        findings = self.seen(result, code)["findings"]
        self.assertEqual([found["id"] for found in findings], [ident], findings)
        return findings[0]

    def doctor(self, *words, **how):
        return ranklab("doctor", "--json", *words, cwd=self.folder, **how)


class OneHostTest(Doctoring):
    def test_each_finding_is_named_alone_with_its_remedy(self):
        def doctor(number):
            _, ranks, words, variables, files, *_ = FINDINGS[number]
            root = {"RANKLAB_SYSTEM_ROOT": self.system(str(number), files)} if files else {}
            return self.doctor(*words, ranks=ranks, env=cli.environment(**root, **variables))

        for (ident, _, _, variables, _, code, what, remedy), result in zip(FINDINGS, cli.several(doctor, range(len(FINDINGS)))):
            with self.subTest(ident=ident, variables=variables):
                found = self.finding(result, ident, code)
                self.assertIn(what, found["what"])
                self.assertIn(remedy, found["remedy"])
                self.assertEqual(found["fatal"], code != 0)

    def test_a_healthy_launch(self):
        root = self.system("steady", STEADY)
        for ranks in (1, 2) if len(CPUS) > 1 else (1,):
            result = self.doctor("--output", self.folder / "new" / "r.h5", ranks=ranks, env=cli.environment(RANKLAB_SYSTEM_ROOT=root))
            seen = self.seen(result)
            self.assertEqual((seen["verdict"], seen["findings"]), ("nothing found", []))
            self.assertEqual([rank["rank"] for rank in seen["ranks"]], list(range(ranks)))
            self.assertEqual(seen["ranks"][0]["cpus"], CPUS)
            self.assertEqual({name for name, result in seen["checks"].items() if result == "ok"} >= {"governor", "ranks-share-cores", "local-results-folder"}, True)
        self.assertSchema("doctor", result.stdout)
        self.assertFalse((self.folder / "new").exists())

    def test_findings_come_last_after_ranks_versions_and_the_table(self):
        env = cli.environment(SLURM_VARIABLE_7="1")
        short, whole = (cli.run(cli.RANKLAB, "doctor", "--threads", 64, *more, cwd=self.folder, env=env).stdout for more in ((), ("--verbose",)))
        self.assertRegex(short, r"(?ms)^warning: rank 0: 64 threads [^#]*\[more-threads-than-cores\]")
        self.assertGreater(short.index("[more-threads-than-cores]"), short.rindex("\n# "))
        self.assertLessEqual(max(map(len, short[short.index("\nwarning: "):].splitlines())), 80)
        self.assertRegex(short, r"(?m)^  more-threads-than-cores +warning$")
        self.assertRegex(short, r"(?m)^  busy-cpus +not ")
        self.assertRegex(short, r"(?m)^# libraries\.mpi: ")
        self.assertRegex(short, rf"(?m)^\s*0\s+0\s+{re.escape(os.uname().nodename)}\s+\d+\s+64\s+[\d,-]+\s+\S+")
        for fact in ("# build.version: ", "# host.kernel: Linux", "# process.allocator: ", "SLURM_VARIABLE_7"):
            self.assertIn(fact, whole)
            self.assertNotIn(fact, short)

    def test_a_quota_is_told_caps_the_threads_and_is_stored(self):
        files = {**QUOTA, "sys/fs/cgroup/cpu.max": "150000 100000"}
        env = cli.environment(RANKLAB_SYSTEM_ROOT=self.system("quota", files), OMP_NUM_THREADS=None)
        seen = self.seen(self.doctor(env=env))
        self.assertEqual((seen["findings"], seen["ranks"][0]["threads"]), ([], 1))
        self.assertCode(ranklab("io", "--strategy", "binary", "-i", "2", "--output", "r.h5", cwd=self.folder, env=env), 0)
        (run,) = json.loads(ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"]
        self.assertEqual(run["context"]["host"]["cpu_quota"], "1.5")
        self.assertEqual(run["tables"]["start_up"]["part"][0], "loading the program")

    @cli.only_open_mpi
    def test_bound_to_too_few_cores(self):
        seen = self.seen(cli.mpirun(2, cli.RANKLAB, "doctor", "--threads", "2", "--json", options=cli.LAUNCHER.bound, cwd=self.folder))
        self.assertEqual({found["id"] for found in seen["findings"]}, {"more-threads-than-cores"})
        said = " ".join(found["what"] + found["remedy"] for found in seen["findings"])
        self.assertRegex(said, r"ranks 0-1: 2 threads .*\b1 core\b")
        self.assertIn("mpirun --map-by slot:PE=2 --bind-to core", said)

    def test_ids_of_the_schema_are_those_of_the_page_and_of_the_sources(self):
        schema = json.loads((cli.SOURCE / "docs" / "schema" / "doctor.schema.json").read_text())
        ids = schema["$defs"]["finding"]["properties"]["id"]["enum"]
        page = re.findall(r"(?m)^\| `([a-z-]+)` \|", (cli.SOURCE / "docs" / "doctor.md").read_text())
        self.assertEqual(sorted(page), sorted(ids))
        sources = "".join(path.read_text() for room in ("host", "app") for path in (cli.SOURCE / "lib" / room).glob("*.cpp"))
        self.assertEqual([name for name in ids if f'"{name}"' not in sources], [])


class OtherHosts(Doctoring):
    """Ranks on hosts of other names, with another library."""

    @classmethod
    def setUpClass(cls):
        cls.compiler = shutil.which("cc") or shutil.which("gcc")
        cls.namespaces = os.geteuid() == 0 and subprocess.run(["unshare", "--uts", "--mount", "true"], capture_output=True).returncode == 0

    def other_host(self, **how):
        if not self.compiler:
            self.skipTest("there is no C compiler")
        library = self.folder / "other_host.so"
        subprocess.run([self.compiler, "-shared", "-fPIC", "-O1", "-o", library, cli.SOURCE / "tests" / "support" / "other_host.c", "-ldl"], check=True)
        return cli.environment(LD_PRELOAD=library, OTHER_HOST_RANK=1, **how)

    def on_hosts(self, *words, roots=(None, None), env=None, before="true"):
        """Starts one rank per system root, each on a host with its own name. Rank 1 runs `before` first. A root of None is this machine's."""
        if not self.namespaces:
            self.skipTest("hosts of other names need root and namespaces")
        command = ["mpirun"]
        for number, root in enumerate(roots):
            command += [":"] * number + ["-n", "1", "env", f"RANKLAB_SYSTEM_ROOT={root or '/nonexistent'}", "unshare", "--uts", "--mount", "sh", "-c",
                                         f'hostname host{number}; {before if number else "true"}; exec "$@"', "sh", cli.RANKLAB, *words]
        return cli.run(*command, cwd=self.folder, env=env)

    DOCTOR = ("doctor", "--threads", "1", "--json")

    def test_an_idle_network_between_hosts(self):
        root = self.system("fast", {**STEADY, "sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE"})
        result = self.on_hosts(*self.DOCTOR, roots=(root, root))
        self.assertIn("mlx5_0", self.finding(result, "network-by-sockets")["what"])
        self.assertIn("mlx5_0", json.loads(result.stdout)["facts"]["libraries"]["network"])

    def test_another_library(self):
        found = self.finding(self.on_hosts(*self.DOCTOR, env=self.other_host(OTHER_HOST_MPI="Open MPI v5.0.3")), "different-libraries")  # no library on this machine has this version
        self.assertRegex(found["what"], r"rank 1\b.*v5\.0\.3.*rank 0\b.*MPI")
        self.assertIn("LD_LIBRARY_PATH", found["remedy"])

    def test_a_results_folder_of_one_host_is_named_and_stored(self):
        here = self.folder / "here"
        here.mkdir()
        hide = f"mount -t tmpfs none '{here}'"
        found = self.finding(self.on_hosts(*self.DOCTOR, "--output", here / "new" / "r.h5", before=hide), "local-results-folder")
        self.assertIn("host1", found["what"])
        self.assertEqual(list(here.iterdir()), [])
        self.assertEqual(self.seen(self.on_hosts(*self.DOCTOR, "--output", self.folder / "r.h5"))["findings"], [], "both see it")
        self.assertEqual(self.names(), [], "the mark stayed")
        self.assertCode(self.on_hosts("io", "--strategy", "binary", "-n", "4", "-s", "20", "--output", "here/r.h5", before=hide), 0)
        (run,) = json.loads(ranklab("report", "here/r.h5", "--format", "json", cwd=self.folder).stdout)["runs"]
        self.assertTrue(any("host1" in text for text in run["warnings"]), run["warnings"])


if __name__ == "__main__":
    cli.main()
