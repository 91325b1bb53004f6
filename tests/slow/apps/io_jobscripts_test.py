"""The io job scripts under a stand-in for srun, and the ranklab that a job script takes."""

import os
import shutil
import stat

import ranklab_cli as cli

SRUN = """#!/usr/bin/env bash
# Runs what stands after srun's own options.
while [[ $1 == -* ]]; do shift; done
ranks=$SLURM_NTASKS
for name in ${!SLURM_*}; do unset "$name"; done
exec mpirun LAUNCHER_WORDS -n "$ranks" "$@"
"""

SRUN = SRUN.replace("LAUNCHER_WORDS", " ".join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound))


class JobScripts(cli.Case):
    def job(self, script, ranks, *words, **slurm):
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        srun = folder / "srun"
        srun.write_text(SRUN)
        srun.chmod(srun.stat().st_mode | stat.S_IXUSR)
        env = cli.environment()
        env |= {"PATH": f"{folder}:{env['PATH']}", "RANKLAB_BIN": str(cli.BIN), "SLURM_SUBMIT_DIR": str(self.folder), "SLURM_JOB_ID": "17",
                "SLURM_NTASKS": str(ranks), **slurm}
        return cli.run("bash", cli.SOURCE / "jobscripts" / script, *words, env=env, cwd=self.folder, timeout=300)

    def test_multicore_sweeps_the_workers_of_its_cores(self):
        result = self.job("io_multicore.slurm", 1, "--verbose", "--files", 5, "--size", 10, SLURM_CPUS_PER_TASK="2")
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"process-queue, 2 workers( \[\d\])? +7 ")
        self.assertRegex(result.stdout, r"process-queue, 2 workers( \[\d\])? +(.* )?yes\n")
        self.assertRegex(result.stdout, r"text-loop( \[\d\])? +7 ")
        self.assertRegex(result.stdout, r"text-loop( \[\d\])? +(.* )?yes\n")

    def test_mpi_sweeps_the_ranks_of_its_allocation(self):
        result = self.job("io_mpi.slurm", 3, "--verbose", "--files", 5, "--size", 10)
        self.assertCode(result, 0)
        for ranks in ("1 rank", "2 ranks", "3 ranks"):
            self.assertRegex(result.stdout, rf"mpi-send, {ranks}( \[\d\])? +7 ")
            self.assertRegex(result.stdout, rf"mpi-send, {ranks}( \[\d\])? +(.* )?yes\n")
        self.assertFalse((self.folder / "output" / "17").exists())


class WhichRanklab(cli.Case):
    """Of a job script: RANKLAB_BIN, else the checkout's build, else PATH. A ranklab of ours says where it lies and ends the job."""

    SCRIPTS = sorted(path for path in (cli.SOURCE / "jobscripts").iterdir() if path.suffix in (".slurm", ".sh", ".lsf"))
    LAUNCHER = '[[ $1 != --version ]] || exit 0; until [[ $1 == */ranklab ]]; do shift; done; exec "$@"'
    RANKLAB = 'echo "this is $0"; exit 99'

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/usr/bin/env bash\n{text}\n")
        path.chmod(0o755)
        return path

    def assertTakes(self, ranklab, **environment):
        for script in self.SCRIPTS:
            with self.subTest(script=script.name):
                result = cli.run("bash", self.checkout / "jobscripts" / script.name, env=self.environment | environment, cwd=self.checkout)
                if ranklab is None:
                    self.assertEqual(result.code, 5, result)
                    self.assertIn("put ranklab into PATH, or set RANKLAB_BIN", result.stderr)
                else:
                    self.assertIn(f"this is {ranklab}\n", result.stdout, result)
                    self.assertEqual(result.code, 99, result)

    def test_is_named_or_built_or_in_the_path(self):
        self.assertGreaterEqual(len(self.SCRIPTS), 10)
        self.checkout = self.folder / "checkout"
        shutil.copytree(cli.SOURCE / "jobscripts", self.checkout / "jobscripts")
        tools = self.folder / "tools"
        for name in ("srun", "mpirun", "jsrun"):
            self.program(tools / name, self.LAUNCHER)
        path = ":".join([str(tools), *(part for part in os.environ["PATH"].split(":") if not os.path.exists(f"{part}/ranklab"))])
        self.environment = cli.environment(PATH=path, RANKLAB_BIN=None, SLURM_SUBMIT_DIR=self.checkout, LS_SUBCWD=self.checkout, SLURM_JOB_ID="17",
                                           SLURM_NTASKS="1", SLURM_NNODES="1", LSB_JOBID="17", LSB_MCPU_HOSTS="launch 1 node1 42",
                                           DATA=self.folder, RANKLAB_DATA=self.folder)
        self.assertTakes(None)
        found = self.program(self.folder / "installed" / "ranklab", self.RANKLAB)
        with_path = {"PATH": f"{path}:{found.parent}"}
        self.assertTakes(found, **with_path)
        built = self.program(self.checkout / "build/release/bin/ranklab", self.RANKLAB)
        self.assertTakes(built, **with_path)
        named = self.program(self.folder / "named" / "ranklab", self.RANKLAB)
        self.assertTakes(named, RANKLAB_BIN=str(named.parent), **with_path)
        self.assertTakes(None, RANKLAB_BIN=str(self.folder / "nowhere"), **with_path)


if __name__ == "__main__":
    cli.main()
