"""SIGUSR1, a batch system's warning before its time limit, and SIGTERM: the samples measured so far are stored and marked, and the exit code is
128 + the signal. A signal to one of three ranks: checkpoint_test.py; at any moment: tests/slow/apps/stop_storm_test.py."""

import os
import signal

import ranklab_cli as cli
from stored_runs import stored_runs

cli.need_train()

ENDLESS = ("--data", "synthetic", "--model", "template-softmax", "--steps", 10**8, "--batch-size", 8, "--threads", 1, "--evaluate", "off", "--output", "r.h5",
           "--checkpoint", "c", "--checkpoint-every", 40)


class StopTest(cli.Case):
    def assertStopped(self, job, number, runs):
        result = job.finish(120)
        self.assertIn(result.code, cli.LAUNCHER.after_signal(number) if job.command[0] == "mpirun" else {128 + number}, str(result))
        self.assertEqual(len([line for line in result.said if "stopped by" in line and number.name in line]), 1, str(result))
        stored = stored_runs(self.folder / "r.h5") if (self.folder / "r.h5").exists() else []
        self.assertEqual([(run.attrs["exit_code"], run.attrs["valid"]) for run in stored], [(128 + number, 1)] * runs, str(result))

    def test_among_the_steps(self):
        job = self.start(cli.RANKLAB, "train", *ENDLESS)
        job.wait_until((self.folder / "c/checkpoint.h5").exists, 60)
        os.kill(job.process.pid, signal.SIGINT)
        self.assertStopped(job, signal.SIGINT, runs=1)

    def test_a_step_that_goes_on_after_sigterm_ends_the_job(self):
        for words in ((), cli.mpirun_words(2)):
            with self.subTest(ranks=len(words)):
                job = self.start(*words, cli.RANKLAB, "train", "--data", "synthetic", "--model", "template-softmax", "--steps", 100, "--batch-size", 8, "--threads", 1,
                                 "--evaluate", "off", "--output", "r.h5", "--inject-delay", "0:forward:60000")
                job.wait_for_stderr("training", 60)
                for pid in job.ranks().values() if words else [job.process.pid]:
                    os.kill(pid, signal.SIGTERM)
                self.assertStopped(job, signal.SIGTERM, runs=0)

    def test_the_launcher_passes_a_warning_on_however_often(self):
        job = self.start(*cli.mpirun_words(3), cli.RANKLAB, "train", *ENDLESS)
        job.wait_until((self.folder / "c/checkpoint.h5").exists, 120)
        for _ in range(3):
            os.kill(job.process.pid, signal.SIGUSR1)
        self.assertStopped(job, signal.SIGUSR1, runs=1)


if __name__ == "__main__":
    cli.main()
