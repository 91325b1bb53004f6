"""configs/io and the io job scripts: each passes --dry-run and says how it is started; the short one runs; the scripts run under a stand-in for srun."""

import re
import stat

import ranklab_cli as cli

CONFIGS = cli.SOURCE / "configs" / "io"
ALL = sorted(CONFIGS.glob("*.ini"))
SRUN = """#!/usr/bin/env bash
# Runs what stands after srun's own options.
while [[ $1 == -* ]]; do shift; done
ranks=$SLURM_NTASKS
for name in ${!SLURM_*}; do unset "$name"; done
exec mpirun --oversubscribe --bind-to none -n "$ranks" "$@"
"""


def values(path):
    pairs = (line.split("=", 1) for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


class EveryConfiguration(cli.Case):
    def test_passes_a_dry_run_and_says_how_it_is_started(self):
        self.assertGreaterEqual(len(ALL), 15)
        for path in ALL:
            with self.subTest(config=path.name):
                self.assertIn(f"ranklab io --config configs/io/{path.name}", path.read_text())
                result = cli.ranklab("io", "--config", path, "--dry-run", cwd=self.folder)
                self.assertCode(result, 0)
                effective = dict(re.findall(r"^# ([a-z0-9-]+): (.*)$", result.stdout, re.MULTILINE))
                for key, value in values(path).items():
                    if key != "strategy":  # of all of them each is shown
                        self.assertEqual(effective.get(key), value, key)

    def test_every_rung_has_one(self):
        self.assertEqual({values(path)["strategy"] for path in ALL} - {"all"}, set(cli.rungs()))

    def test_the_short_one_runs(self):
        result = cli.ranklab("io", "--config", CONFIGS / "ladder_smoke.ini", "--output", "smoke.h5", ranks=2, cwd=self.folder, timeout=300)
        self.assertCode(result, 0)
        self.assertIn("Stored as", result.stdout)


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


if __name__ == "__main__":
    cli.main()
