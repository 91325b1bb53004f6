"""The job scripts under Slurm on two hosts: each that needs no GPU runs to its end with short settings, the others are taken by
`sbatch --test-only`; one that is stopped before its time is up stores what it has, goes back into the queue and on from its checkpoint.
"""

import signal
import subprocess
import sys
import time

import hosts
from hosts import cli

(h5py,) = cli.modules("h5py")
sys.dont_write_bytecode = True  # beside the scripts
sys.path.insert(0, str(cli.SOURCE / "jobscripts" / "make"))
from experiments import EXPERIMENTS  # noqa: E402

MNIST = "--data synthetic --steps 3 --warmup 1 --evaluate off"
# What makes each short: environment, words for sbatch, words for ranklab. DATA and RANKLAB_DATA are made by the test.
SHORT = {
    "mnist_serial": ("", "", MNIST),
    "mnist_threads": ("", "--cpus-per-task=2", MNIST),
    "mnist_workers": ("", "--cpus-per-task=1", MNIST),
    "mnist_ddp": ("", "--nodes=2", MNIST),
    "mnist_dp_vs_ddp": ("", "", MNIST),
    "comm": ("MODEL=mnist-cnn", "--nodes=2", "-e 64 -n 3 -w 1"),
    "cifar100_single": ("CONFIG=configs/cifar100/resnet50_smoke.ini", "--cpus-per-task=1", "--image-size 32"),
    "cifar100_dp": ("CONFIG=configs/cifar100/resnet18_dp_smoke.ini", "--cpus-per-task=2", ""),
    "cifar100_ddp": ("CONFIG=configs/cifar100/resnet50_smoke.ini", "--nodes=2 --cpus-per-task=1", "--image-size 32"),
    "io_multicore": ("", "--cpus-per-task=2 --mem-per-cpu=100", "--files 5 --size 10 --ceilings off"),
    "io_mpi": ("", "--nodes=2 --ntasks=2 --mem-per-cpu=100", "--files 5 --size 10 --ceilings off"),
    "unet3d": ("CONFIG=configs/unet3d/unet3d_smoke.ini", "--cpus-per-task=1", "--steps 2 --warmup 1 --evaluate off"),
    "unet3d_limits": ("CONFIG=configs/unet3d/unet3d_smoke.ini", "--cpus-per-task=1", "--steps 2 --warmup 1 --repetitions 1"),
    "unet3d_scaling": ("BATCH=2", "--nodes=2 --ntasks=2 --cpus-per-task=1", "--steps 2 --warmup 1 --width 16 --lr-warmup-steps 0"),
}


class JobScriptsTest(hosts.Case):
    def setUp(self):
        super().setUp()
        for name in ("configs", "jobscripts"):
            (self.folder / name).symlink_to(cli.SOURCE / name)
        self.env = cli.environment(**{**self.env, "RANKLAB_BIN": self.ranklab.parent})

    def sbatch(self, name, words=(), arguments=(), **environment):
        """Waits for the job: its exit code."""
        return self.start("sbatch", "--wait", f"--output={name}.log", *words, f"jobscripts/{name}.slurm", *arguments, env=self.env | environment)

    def log(self, name):
        path = self.folder / f"{name}.log"
        return path.read_text() if path.exists() else "(there is no log)"

    def runs(self):
        with h5py.File(self.folder / "results" / "ranklab.h5") as file:
            return [{"exit_code": int(run.attrs["exit_code"]), "steps": run["samples/step_time_s"].shape[0]} for run in file["runs"].values()]

    def test_each_that_needs_no_gpu_runs_to_its_end(self):
        queued = {one.name: one for one in EXPERIMENTS if "slurm" in one.launchers and one.gpus != "gpu"}
        self.assertEqual(set(SHORT), set(queued))
        self.assertCode(cli.ranklab("data", "make", "cifar100", "--output", self.folder / "cifar", "--train", 100, "--test", 20, "--quiet"), 0)
        (self.folder / "cosmology").mkdir()
        for number, part in enumerate(("train", "valid")):
            self.assertCode(cli.ranklab("data", "make", "cosmology", self.folder / "cosmology" / f"{part}.h5", "--edge", 64, "--chunk", 32,
                                        "--seed", number + 1, "--quiet"), 0)
        jobs = {}
        for name, (environment, words, arguments) in SHORT.items():
            more = dict(pair.split("=", 1) for pair in environment.split()) | {"RANKLAB_DATA": str(self.folder / "cifar"), "DATA": str(self.folder / "cosmology")}
            jobs[name] = self.sbatch(name, words.split(), arguments.split(), **more)
        for name, job in jobs.items():
            with self.subTest(script=name):
                result = job.finish(240)
                self.assertEqual(result.code, 0, f"{result}\n{self.log(name)[-4000:]}")

    def test_the_others_are_taken(self):
        """There is no GPU to ask for here; all the rest of the job is one that Slurm would start."""
        for one in EXPERIMENTS:
            if one.gpus != "gpu":
                continue
            script = (cli.SOURCE / "jobscripts" / f"{one.name}.slurm").read_text()
            self.assertIn("#SBATCH --gpus-per-task=1\n", script)
            copy = self.folder / f"{one.name}.slurm"
            copy.write_text(script.replace("#SBATCH --gpus-per-task=1\n", "").replace("--cpus-per-task=8", "--cpus-per-task=2"))
            done = subprocess.run(["sbatch", "--test-only", copy], env=self.env, cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_job_whose_time_is_up_goes_on_in_its_next_life(self):
        """By Slurm's own warning, at a limit of a minute. Both parts are stored, and together they are all steps."""
        steps = 1500
        number = self.slurm("sbatch", "--parsable", "--output=mnist_ddp.log", "--nodes=2", "--time=1", "--signal=B:USR1@15", "jobscripts/mnist_ddp.slurm",
                            "--model", "template-softmax", "--data", "synthetic", "--steps", str(steps), "--warmup", "0", "--evaluate", "off",
                            "--inject-delay", "0:forward:40", "--overlap-steps", "0", RANKLAB_REQUEUE="1")
        self.until(number, "PENDING", restarts=1)
        self.assertIn("stopped by SIGUSR1", self.log("mnist_ddp"))
        # Not after two minutes, and to its end. Slurm kills a second life that begins while the first one is cleared away.
        self.slurm("scontrol", "update", f"jobid={number}", "StartTime=now+10", "TimeLimit=30")
        self.until(number, "COMPLETED", restarts=1)
        runs = self.runs()
        self.assertEqual(len(runs), 2, f"{runs}\n{self.log('mnist_ddp')[-4000:]}")
        first, last = runs
        self.assertEqual((first["exit_code"], last["exit_code"]), (128 + signal.SIGUSR1, 0), self.log("mnist_ddp")[-4000:])
        self.assertEqual(first["steps"] + last["steps"], steps)
        self.assertGreater(first["steps"], 0)

    def until(self, number, state, restarts):
        end = time.monotonic() + 150 * cli.patience()
        while f"JobState={state} " not in (said := self.slurm("scontrol", "show", "job", number)) or f"Restarts={restarts} " not in said:
            self.assertLess(time.monotonic(), end, said + self.log("mnist_ddp")[-4000:])
            time.sleep(0.5)

    def slurm(self, *words, **environment):
        return subprocess.run(words, env=self.env | environment, cwd=self.folder, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    hosts.main()
