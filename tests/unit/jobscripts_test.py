"""The job scripts: the launcher's command line, with stand-ins for srun, jsrun and mpirun; files that README.md names; shellcheck."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
FOLDER = SOURCE / "jobscripts"
SCRIPTS = sorted(path for path in FOLDER.iterdir() if path.suffix in (".slurm", ".sh"))
LAUNCHER = '#!/bin/sh\n[ "$1" = --version ] || echo "${0##*/} $OMP_NUM_THREADS: $*"\ncase "$*" in *"$FAILS"*) exit 138;; esac\n'
FORMS = {  # words before the config, and the launcher's command line
    "cpu.slurm": ((), "srun 3: --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task=3 --cpu-bind=cores --distribution=block:block"),
    "gpu.slurm": ((), "srun 3: --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task=3 --cpu-bind=cores --distribution=block:block --gpus-per-task=2 --gpu-bind=none"),
    "lsf.sh": ((), "jsrun 7: -n12 -a1 -c7 -g1 -r6 --bind=packed:7 --launch_distribution=packed"),
    "lumi.slurm": ((), "srun 3: --kill-on-bad-exit=1 "
                       "--cpu-bind=mask_cpu:fe000000000000,fe00000000000000,fe0000,fe000000,fe,fe00,fe00000000,fe0000000000"),
    "mpirun.sh": (("2",), "mpirun 3: -n 2 --map-by slot:PE=3 --bind-to core"),
}
COMMANDS = ((("configs/mnist/ddp2.ini", "--epochs", "1"), "train --config configs/mnist/ddp2.ini --epochs 1"),
            (("/there/configs/io/ladder_n100.ini",), "io --config /there/configs/io/ladder_n100.ini"),
            (("comm", "--op", "all"), "comm --op all"))


class JobScripts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("srun", "jsrun", "mpirun", "scontrol", "ranklab"):
            self.program(name, LAUNCHER)

    def program(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def start(self, script, *words, path=None, **more):
        env = {"PATH": f"{path or self.folder}:/usr/bin:/bin", "SLURM_CPUS_PER_TASK": "3", "SLURM_GPUS_PER_TASK": "2", "SLURM_JOB_ID": "17",
               "LSB_MCPU_HOSTS": "launch 1 node1 42 node2 42", "FAILS": "nothing", "OMP_NUM_THREADS": "3"}
        done = subprocess.run(["bash", FOLDER / script, *words], env=env | more, cwd=self.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr

    def test_a_config_or_a_command_goes_to_the_ranks_behind_doctor(self):
        for script, (first, launch) in FORMS.items():
            for words, command in COMMANDS:
                with self.subTest(script=script, words=words):
                    code, lines, said = self.start(script, *first, *words)
                    self.assertEqual((code, lines), (0, [f"{launch} ranklab doctor", f"{launch} ranklab {command}"]), said)
            with self.subTest(script=script, doctor="fails"):
                code, lines, said = self.start(script, *first, "comm", FAILS="doctor")
                self.assertEqual((code, lines), (138, [f"{launch} ranklab doctor"]), said)

    def test_the_site_is_read_from_one_file(self):
        (self.folder / "jobscripts").mkdir()
        (self.folder / "other").mkdir()
        for script, (first, launch) in FORMS.items():
            for name, more in (("jobscripts/site.conf", {}), ("other/here", {"RANKLAB_SITE": "other/here"})):
                with self.subTest(script=script, name=name):
                    (self.folder / name).write_text("export OMP_NUM_THREADS=5 SLURM_CPUS_PER_TASK=5 CORES_PER_RANK=5\n")
                    code, lines, said = self.start(script, *first, "comm", **more)
                    self.assertEqual(code, 0, said)
                    self.assertIn(" 5: ", lines[0])
                    (self.folder / name).unlink()

    def test_a_sweep_gets_all_words(self):
        code, lines, said = self.start("sweep.slurm", "train", "--threads", "1,2")
        self.assertEqual((code, lines), (0, ["ranklab 3: sweep train --threads 1,2"]), said)

    def test_a_job_goes_back_into_the_queue_with_resume_alone(self):
        for script in ("cpu.slurm", "gpu.slurm"):
            for more, queued in (((), 0), (("--checkpoint", "c", "--resume"), 1)):
                code, lines, said = self.start(script, "train", *more, FAILS="ranklab train")
                self.assertEqual((code, lines[2:]), (138, ["scontrol 3: requeue 17"][:queued]), said)

    def test_ranklab_is_named_or_built_or_in_the_path(self):
        def taken(**more):
            code, lines, _ = self.start("sweep.slurm", "io", **more)
            return lines[0] if code == 0 else code

        tools = self.folder / "ranklab"
        self.assertEqual(taken(), "ranklab 3: sweep io")
        for folder, name in (("build/release/bin", {}), ("named", {"RANKLAB_BIN": str(self.folder / "named")})):
            (self.folder / folder).mkdir(parents=True)
            self.program(f"{folder}/ranklab", f"#!/bin/sh\necho {folder}\n")
            self.assertEqual(taken(**name), folder)
        tools.unlink()
        shutil.rmtree(self.folder / "build")
        self.assertEqual(taken(), 5)

    def test_they_are_short_and_what_readme_names_is_there(self):
        self.assertEqual([path.name for path in SCRIPTS], sorted([*FORMS, "nightly.slurm", "sweep.slurm"]))
        for path in SCRIPTS:
            self.assertLess(len(path.read_text().splitlines()), 60, path)
        for path in (FOLDER / "README.md", *SCRIPTS):
            for name in re.findall(r"(?:configs|jobscripts)/[\w/.]+\.(?:ini|slurm|sh)", path.read_text()):
                self.assertTrue((SOURCE / name).exists(), f"{path.name} names {name}")

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not here")
    def test_shellcheck_passes(self):
        done = subprocess.run(["shellcheck", "--severity=style", *SCRIPTS], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
