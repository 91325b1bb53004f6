"""ranklab doctor --json, and each fault of a launch that can be made here: named with its remedy where it is, and not where it is not."""

import json
import os
import re
import shutil
import subprocess
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab

QUIET = "sys/devices/system/cpu"


def namespaces_are_allowed():
    return os.geteuid() == 0 and subprocess.run(["unshare", "--uts", "--mount", "true"], capture_output=True).returncode == 0


class Doctoring(Case):
    def seen(self, result, code=0):
        self.assertCode(result, code)
        self.assertSchema("doctor", result.stdout)
        seen = json.loads(result.stdout)
        self.assertEqual(seen["exit_code"], code)
        return seen

    def finding(self, result, ident, code=0):
        """The one of that id, and nothing else is named."""
        seen = self.seen(result, code)
        self.assertEqual([found["id"] for found in seen["findings"]], [ident], seen["findings"])
        return seen["findings"][0]

    def doctor(self, *words, **how):
        return ranklab("doctor", "--threads", 1, "--json", *words, cwd=self.folder, **how)

    def other_host(self, **how):
        cc = shutil.which("cc") or shutil.which("gcc")
        if not cc:
            self.skipTest("there is no C compiler")
        library = self.folder.parent / f"{self.folder.name}-other_host.so"
        subprocess.run([cc, "-shared", "-fPIC", "-O1", "-o", library, cli.SOURCE / "tests" / "support" / "other_host.c", "-ldl"], check=True)
        self.addCleanup(library.unlink)
        return cli.environment(LD_PRELOAD=library, OTHER_HOST_RANK=1, **how)

    def on_hosts(self, roots, *words, env=None):
        """A rank for each of the systems, each on a host of its own name. None: this machine's."""
        doctor = (cli.RANKLAB, "doctor", "--threads", "1", "--json", *words)
        command = ["mpirun"]
        for number, root in enumerate(roots):
            system = f"RANKLAB_SYSTEM_ROOT={root or '/nonexistent'}"
            command += [":"] * (number > 0) + ["-n", "1", "env", system, "unshare", "--uts", "--mount", "sh", "-c",
                                               f'hostname host{number}; {self.before_each.get(number, "true")}; exec "$@"', "sh", *doctor]
        return cli.run(*command, cwd=self.folder, env=env)

    def setUp(self):
        super().setUp()
        self.before_each = {}

    def system(self, name, **files):
        """A system that says so of itself: file's path with __ for / -> text."""
        root = self.folder / name
        for path, text in files.items():
            file = root / QUIET / path.replace("__", "/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
        return root


class HealthyTest(Doctoring):
    def test_nothing_is_named(self):
        """Where the system says all that is asked: a steady governor, boost, cores that the job has all of."""
        cpus = sorted(os.sched_getaffinity(0))
        root = self.system("steady", online=f"0-{os.cpu_count() - 1}", cpufreq__boost="1",
                           **{f"cpu{cpu}__cpufreq__scaling_governor": "performance" for cpu in cpus})
        cores = len(cpus)
        for ranks in (1, 2, 4):
            if ranks > cores:
                continue  # they would share cores
            for env in ({}, {"SLURM_NTASKS": str(ranks), "SLURM_JOB_CPUS_PER_NODE": f"{os.cpu_count()}(x2)"}):
                with self.subTest(ranks=ranks, env=env):
                    if ranks == 1 and env:
                        continue  # no launcher but Slurm's words
                    seen = self.seen(self.doctor(ranks=ranks, env=cli.environment(RANKLAB_SYSTEM_ROOT=root, **env)))
                    self.assertEqual((seen["verdict"], seen["findings"]), ("nothing found", []))
                    self.assertEqual([rank["rank"] for rank in seen["ranks"]], list(range(ranks)))
                    self.assertEqual(len(seen["clocks"]), 1)

    def test_four_ranks_on_fewer_cores_are_named_for_that_alone(self):
        cores = len(os.sched_getaffinity(0))
        seen = self.seen(self.doctor(ranks=4))
        self.assertEqual([found["id"] for found in seen["findings"]], ["ranks-share-cores"] if cores < 4 else [])

    def test_text_and_json_say_the_same(self):
        text = ranklab("doctor", "--threads", 64, cwd=self.folder).stdout
        (found,) = self.seen(ranklab("doctor", "--threads", 64, "--json", cwd=self.folder))["findings"]
        self.assertEqual(found["id"], "more-threads-than-cores")
        self.assertIn(f"warning: {found['what']}; {found['remedy']} ({', '.join(found['options'])})\n", text)

    def test_json_has_everything_and_leaves_nothing_behind(self):
        self.assertSays(self.doctor("--verbose"), 2, "--verbose", "JSON has everything")
        self.doctor("--output", self.folder / "new" / "r.h5", ranks=2)
        self.assertEqual(self.names(), [])

    def test_what_is_here_and_what_is_not(self):
        """Each library and program that ranklab uses where it is there: its place, or what follows without it."""
        found = self.seen(self.doctor())["facts"]["found"]
        self.assertEqual(list(found), ["libtorch", "mpi", "hdf5", "cuda", "nccl", "glibc", "gnuplot"])
        for name in ("mpi", "hdf5"):
            self.assertTrue(os.path.exists(found[name].rsplit(", ", 1)[1]), found[name])
        self.assertEqual(found["glibc"], os.confstr("CS_GNU_LIBC_VERSION").split()[1])
        if cli.HAS_TRAIN:
            self.assertTrue(os.path.isdir(found["libtorch"].split(" in ", 1)[1]), found["libtorch"])
        without = self.seen(cli.run(cli.RANKLAB, "doctor", "--threads", "1", "--json", cwd=self.folder, env=cli.environment(PATH="/nonexistent")))
        self.assertRegex(without["facts"]["found"]["gnuplot"], "^not found, so ranklab report draws no pictures")
        short = " ".join(ranklab("doctor", "--threads", 1, cwd=self.folder).stdout.split())
        self.assertIn(f"glibc {found['glibc']}, ", short)
        self.assertNotIn(found["hdf5"].rsplit(", ", 1)[1], short, "places only where they are asked for")
        self.assertIn(f"# found.hdf5: {found['hdf5']}\n", ranklab("doctor", "--threads", 1, "--verbose", cwd=self.folder).stdout)
        poor = cli.run(cli.RANKLAB, "doctor", "--threads", "1", cwd=self.folder, env=cli.environment(PATH="/nonexistent")).stdout
        self.assertIn("\n# gnuplot: not found, so ranklab report draws no pictures", poor)

    def test_the_start_up_is_told_by_part(self):
        for ranks in (1, 2):
            result = self.doctor(ranks=ranks)
            parts = self.seen(result)["start_up"]
            self.assertEqual([part["part"] for part in parts], ["loading the program", "MPI_Init", "connecting the ranks", "launch guard"])
            self.assertLess(sum(part["mean_s"] for part in parts), result.seconds)
            self.assertTrue(all(part["mean_s"] <= part["max_s"] + 1e-12 and part["slowest_rank"] < ranks for part in parts), parts)
        self.assertIn("start-up took ", ranklab("doctor", cwd=self.folder).stdout)

    def test_a_run_stores_its_start_up(self):
        words = ("io", "--strategy", "text-vectorized,binary", "-n", "4", "-s", "20", "--output", "r.h5")
        self.assertCode(ranklab(*words, ranks=2, cwd=self.folder), 0)
        runs = json.loads(ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"]
        tables = [run["tables"]["start_up"] for run in runs if "start_up" in run["tables"]]
        self.assertEqual(len(tables), 1, "only the first run of a command begins with the process")
        columns = tables[0]
        self.assertEqual(columns["part"][:2] + columns["part"][-1:], ["loading the program", "MPI_Init", "preparing the first repetition"])
        self.assertTrue(all(0 <= mean <= most + 1e-12 for mean, most in zip(columns["mean_s"], columns["max_s"])), columns)

    @needs_train
    def test_the_parts_of_a_training_make_its_time_to_the_first_step(self):
        result = cli.train("--steps", 3, "--output", "r.h5", ranks=2, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = json.loads(ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"]
        columns = run["tables"]["start_up"]
        self.assertEqual(columns["part"][-1], "the first step")
        self.assertIn("building the model", columns["part"])
        (first,) = [m for m in run["measurements"] if m["name"] == "time_to_first_step_s"]
        slowest = first["summary"]["max"] if "summary" in first else first["max"]
        self.assertLessEqual(sum(columns["mean_s"]), slowest + 1e-9)
        self.assertGreater(sum(columns["max_s"]) + 1e-9, slowest)

    def test_ids_of_the_schema_are_those_of_the_page_and_of_the_sources(self):
        schema = json.loads((cli.SOURCE / "docs" / "schema" / "doctor.schema.json").read_text())
        ids = schema["$defs"]["finding"]["properties"]["id"]["enum"]
        page = re.findall(r"(?m)^\| `([a-z-]+)` \|", (cli.SOURCE / "docs" / "doctor.md").read_text())
        self.assertEqual(sorted(page), sorted(ids))
        sources = "".join(path.read_text() for room in ("host", "app") for path in (cli.SOURCE / "lib" / room).glob("*.cpp"))
        self.assertEqual([name for name in ids if f'"{name}"' not in sources], [])


class OneHostTest(Doctoring):
    def test_ranks_on_different_libraries(self):
        env = self.other_host(OTHER_HOST_MPI="Open MPI v5.0.3")  # as no library here
        found = self.finding(self.doctor(ranks=2, env=env), "different-libraries")
        self.assertRegex(found["what"], r"rank 1 on \S+ loaded Open MPI v5\.0\.3, and rank 0 on \S+ loaded (Open )?MPI(CH)?")
        self.assertIn("LD_LIBRARY_PATH", found["remedy"])
        io = ranklab("io", "--strategy", "binary", "--dry-run", ranks=2, cwd=self.folder, env=env)
        self.assertCode(io, 0)
        self.assertTrue(any("loaded Open MPI v5.0.3" in line for line in io.said), str(io))

    def test_singletons(self):
        found = self.finding(self.doctor(env=cli.environment(SLURM_STEP_NUM_TASKS=4, SLURM_PROCID=0)), "ranks-not-connected", 5)
        self.assertTrue(found["fatal"])
        self.assertIn(f"srun --mpi={cli.LAUNCHER.pmi}", found["remedy"])
        self.assertEqual(found["options"], ["--expect-ranks 1"])

    def test_srun_without_pmi(self):
        """Open MPI would end the process in words of its own, before anything is said; MPICH starts each as one alone."""
        env = cli.environment(SLURM_STEP_ID=0, SLURM_STEPID=0, SLURM_JOB_ID=7, SLURM_NODELIST="n1", SLURM_STEP_NUM_TASKS=4, SLURM_NTASKS=4, SLURM_PROCID=0)
        found = self.finding(self.doctor(env=env), "ranks-not-connected", 5)
        self.assertIn(f"srun --mpi={cli.LAUNCHER.pmi}", found["remedy"])
        self.assertSays(ranklab("io", "--strategy", "binary", "--output", "none", cwd=self.folder, env=env), 5, f"srun --mpi={cli.LAUNCHER.pmi}")

    def test_mpirun_starts_another_number_than_slurm_was_asked_for(self):
        found = self.finding(self.doctor(ranks=2, env=cli.environment(SLURM_NTASKS=8)), "slurm-tasks-differ")
        self.assertIn("--ntasks=2", found["remedy"])
        found = self.finding(self.doctor(ranks=2, env=cli.environment(SLURM_NTASKS=1, SLURM_STEP_NUM_TASKS=1)), "more-ranks-than-step")
        self.assertIn("srun --ntasks=2", found["remedy"])

    def test_a_governor_that_follows_the_load(self):
        cpu = min(os.sched_getaffinity(0))
        root = self.system("slow", **{f"cpu{cpu}__cpufreq__scaling_governor": "powersave"})
        found = self.finding(self.doctor(env=cli.environment(RANKLAB_SYSTEM_ROOT=root)), "governor")
        self.assertIn("is powersave", found["what"])
        self.assertIn("cpupower frequency-set -g performance", found["remedy"])

    def test_a_part_of_a_host(self):
        root = self.system("big", online="0-47")
        env = cli.environment(RANKLAB_SYSTEM_ROOT=root, SLURM_JOB_CPUS_PER_NODE="4(x2)")
        found = self.finding(self.doctor(env=env), "shared-host")
        self.assertIn("at most 4 of 48 cores", found["what"])
        self.assertIn("sbatch --exclusive", found["remedy"])


@unittest.skipUnless(namespaces_are_allowed(), "hosts of other names need root and namespaces")
class TwoHostNamesTest(Doctoring):
    def test_a_healthy_launch(self):
        seen = self.seen(self.on_hosts([None, None], "--output", self.folder / "r.h5"))
        self.assertEqual(seen["findings"], [])
        self.assertEqual([clock["host"] for clock in seen["clocks"]], ["host0", "host1"])
        self.assertLess(abs(seen["clocks"][1]["seconds_ahead"]), 0.1)
        self.assertEqual(self.names(), [], "the mark stayed")

    def test_a_results_folder_of_one_host(self):
        (self.folder / "here").mkdir()
        self.before_each[1] = f"mount -t tmpfs none '{self.folder}/here'"
        found = self.finding(self.on_hosts([None, None], "--output", self.folder / "here" / "new" / "r.h5"), "local-results-folder")
        self.assertIn(f"{self.folder}/here is a folder of host0 alone, host1 does not see it", found["what"])
        self.assertEqual(found["options"], ["--output"])
        self.assertEqual(list((self.folder / "here").iterdir()), [])
        self.assertEqual(self.seen(self.on_hosts([None, None], "--output", "none"))["findings"], [])

    def test_a_run_warns_of_a_results_folder_of_one_host_and_stores_that(self):
        (self.folder / "here").mkdir()
        io = (cli.RANKLAB, "io", "--strategy", "binary", "-n", "4", "-s", "20", "--output", "here/r.h5")
        hidden = ("unshare", "--uts", "--mount", "sh", "-c", 'hostname other; mount -t tmpfs none here; exec "$@"', "sh")
        result = cli.run("mpirun", "-n", 1, *io, ":", "-n", 1, *hidden, *io, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertTrue(any("other does not see it" in line for line in result.said), str(result))
        run = json.loads(ranklab("report", "here/r.h5", "--format", "json", cwd=self.folder).stdout)["runs"][0]
        self.assertTrue(any("other does not see it" in text for text in run["warnings"]), run["warnings"])

    def test_clocks_apart(self):
        found = self.finding(self.on_hosts([None, None], env=self.other_host(OTHER_HOST_AHEAD_S=7)), "clocks-apart")
        self.assertRegex(found["what"], r"the clock of host1 is (7|7\.0\d*|6\.99\d*) s ahead of that of host0")
        self.assertIn("chronyc tracking", found["remedy"])

    def test_boost_on_at_one_host(self):
        found = self.finding(self.on_hosts([self.system("fast", cpufreq__boost="1"), self.system("slow", cpufreq__boost="0")]), "boost-differs")
        self.assertIn("on at host0 and off at host1", found["what"])


if __name__ == "__main__":
    cli.main()
