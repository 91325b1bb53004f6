"""SIGUSR1, a batch system's warning before its time limit, and SIGTERM at any moment: the samples measured so far are stored and marked, the
exit code is 128 + the signal, and SIGUSR1 never kills a process.
"""

import os
import pathlib
import signal
import sys
import time

import ranklab_cli as cli

(h5py,) = cli.modules("h5py")

ENDLESS = ("--data", "synthetic", "--model", "template-softmax", "--steps", 100000000, "--batch-size", 8, "--threads", 1, "--output", "r.h5")
FILES = ("-n", 50, "-s", 30, "-i", 1000000, "--ceilings", "off", "--directory", "o", "--output", "r.h5")


def used_s(pid):
    return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


class StopTest(cli.Case):
    def begin(self, *words):
        return self.start(*words)

    def stored(self):
        path = self.folder / "r.h5"
        if not path.exists():
            return []
        with h5py.File(path) as file:
            return [(run.attrs["exit_code"], run.attrs["valid"]) for run in file.get("runs", {}).values()]

    def assertStopped(self, job, number, runs=None):
        result = job.finish(120)
        self.assertIn(result.code, cli.LAUNCHER.after_signal(number) if job.command[0] == "mpirun" else {128 + number}, str(result))
        self.assertEqual(len([line for line in result.said if "stopped by" in line]), 1, str(result))
        self.assertIn(f"stopped by {number.name}", result.stderr)
        stored = self.stored()
        self.assertEqual(set(stored), {(128 + number, 1)} if stored else set())
        if runs is not None:
            self.assertEqual(len(stored), runs, str(result))
        return result

    @cli.needs_train
    def test_at_any_moment(self):
        """From MPI_Init through data, warm-up and steps; the moment is given as CPU time of the process."""
        for number in (signal.SIGUSR1, signal.SIGTERM):
            for tenths in (2, 4, 6, 8, 10, 14, 18):
                with self.subTest(signal=number, tenths=tenths):
                    (self.folder / "r.h5").unlink(missing_ok=True)
                    job = self.begin(cli.RANKLAB, "train", *ENDLESS)
                    job.wait_until(lambda: used_s(job.process.pid) >= tenths / 10, 120)
                    os.kill(job.process.pid, number)
                    result = job.finish(120)
                    if result.code == -number:  # while the program is loaded, or SIGTERM before the first sample
                        self.assertEqual(self.stored(), [], str(result))
                        continue
                    self.assertCode(result, 128 + number)
                    self.assertIn(f"stopped by {number.name}", result.stderr)
                    self.assertLessEqual(set(self.stored()), {(128 + number, 1)})

    def test_the_launcher_passes_a_warning_on(self):
        """SIGUSR1 several times to mpirun, which passes it to all ranks, and to a rank, after the first samples."""
        cases = [(("io", *FILES, "--strategy", "binary"), "o*")]
        if cli.HAS_TRAIN:
            cases.append((("train", *ENDLESS, "--evaluate", "off", "--checkpoint", "c", "--checkpoint-every", 40), "c/checkpoint.h5"))
        for words, sign in cases:
            with self.subTest(command=words[0]):
                (self.folder / "r.h5").unlink(missing_ok=True)
                job = self.begin(*cli.mpirun_words(2), cli.RANKLAB, *words)
                pids = job.wait_until(lambda: (lambda found: found if len(found) == 2 else None)(job.ranks()), 60)
                job.wait_until(lambda: list(self.folder.glob(sign)), 60)
                time.sleep(1)
                os.kill(pids[1], signal.SIGUSR1)
                for _ in range(3):
                    os.kill(job.process.pid, signal.SIGUSR1)
                self.assertStopped(job, signal.SIGUSR1, runs=1)

    def test_worker_processes_leave_it_to_their_parent(self):
        """A batch system signals every process of a job step, workers too."""
        job = self.begin(cli.RANKLAB, "io", *FILES, "--strategy", "process-pool", "--workers", 2)
        time.sleep(2)
        os.killpg(job.process.pid, signal.SIGUSR1)
        self.assertStopped(job, signal.SIGUSR1, runs=1)


if __name__ == "__main__":
    cli.main()
