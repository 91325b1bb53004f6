"""The launch guard for every known launcher, and invalid thread counts."""

import json

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab

try:
    import h5py
except ImportError:
    h5py = None  # doctor's tests do not need it

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
    """The remedy: how to connect the ranks of this build."""
    by_flux = "flux run -o pmi=" + ("pmix" if cli.LAUNCHER.is_open_mpi else "simple")
    return f"({by_flux if 'Flux' in launcher else f'srun --mpi={cli.LAUNCHER.pmi}'}, or its own {cli.LAUNCHER.own})"


def stored_runs(path):
    with h5py.File(path) as file:
        return [{"warnings": json.loads(run.attrs["warnings_json"])} for run in file["runs"].values()]


class UnusableThreadsTest(Case):
    def test_doctor_names_an_omp_num_threads_that_it_does_not_take(self):
        for value in ("0", "garbage", "-1", "", "99999999999", "0,2"):
            result = ranklab("doctor", cwd=self.folder, env=cli.environment(OMP_NUM_THREADS=value))
            self.assertCode(result, 0)
            warned = [line for line in result.said if f"OMP_NUM_THREADS is '{value}'" in line]
            self.assertEqual(len(warned), 1, str(result))
            self.assertIn("--threads", warned[0])
        for value, words in (("2,1", ()), (" 1", ()), ("0", ("--threads", 1)), (None, ())):
            result = ranklab("doctor", *words, cwd=self.folder, env=cli.environment(OMP_NUM_THREADS=value))
            self.assertCode(result, 0)
            self.assertNotIn("OMP_NUM_THREADS is", result.stderr)


class LaunchGuardTest(Case):
    def test_doctor_names_unconnected_processes(self):
        for launcher, env in UNCONNECTED:
            with self.subTest(env=env):
                result = ranklab("doctor", env=cli.environment(**env), cwd=self.folder)
                self.assertCode(result, 5)
                wrong = [line for line in result.stdout.splitlines() if line.startswith("WRONG: ")]
                self.assertEqual(len(wrong), 1, str(result))
                for part in (launcher, "1 rank", mend_of(launcher)):
                    self.assertIn(part, wrong[0])

    @needs_train
    @cli.only_open_mpi
    def test_a_wrong_binding_is_warned_of_and_stored(self):
        result = cli.mpirun(2, cli.RANKLAB, "train", "--model", "template-softmax", "--threads", "2", "--steps", "3", "--output", "r.h5",
                            options=("--bind-to", "core"), cwd=self.folder)
        self.assertCode(result, 0)
        self.assertEqual(len([line for line in result.said if line.startswith("warning: ") and "--threads 1" in line]), 1, str(result))
        (run,) = stored_runs(self.folder / "r.h5")
        self.assertTrue(any("[more-threads-than-cores]" in warning for warning in run["warnings"]), run)


if __name__ == "__main__":
    cli.main()
