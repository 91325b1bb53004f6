"""A rank is killed in the middle of a step: whatever synchronises the gradients, the job ends, says so once, and loses nothing that
was stored. lost_rank_test.py has the other ways in which ranks are lost.
"""

import os
import re
import signal
import sys
import time

import ranklab_cli as cli
from ranklab_cli import Case, train

try:
    import h5py
except ImportError:
    print("SKIPPED: h5py is not installed for this Python; ./bootstrap makes one that has it")
    sys.exit(77)

cli.need_train()


def stored_labels(path):
    with h5py.File(path) as file:
        return sorted(run.attrs["label"] for run in file["runs"].values() if run.attrs["valid"] == 1)


class RankDeathTest(Case):
    def start_long_job(self, ranks, sync, *options):
        """A job that has made steps already, and its {rank: pid}."""
        job = self.start(*cli.mpirun_words(ranks, *options), cli.RANKLAB, "train", "--model", "mnist-cnn", "--data", "synthetic", "--threads", "1",
                         "--batch-size", "16", "--steps", "20000", "--sync", sync, "--output", "r.h5", "--label", "killed")
        job.wait_for_stderr("/20010 steps", 60)
        found = job.ranks()
        self.assertEqual(sorted(found), list(range(ranks)))
        return job, found

    def test_every_strategys_job_ends_and_the_file_keeps_what_it_had(self):
        labels = ["first", "second"]
        for label in labels:
            self.assertCode(train("--steps", 5, "--label", label, "--output", "r.h5", cwd=self.folder), 0)
        for number, sync in enumerate(cli.sync_strategies()):
            with self.subTest(sync=sync):
                job, found = self.start_long_job(2, sync)
                os.kill(found[number % 2], signal.SIGKILL)
                result = job.finish(20)
                self.assertNotEqual(result.code, 0, str(result))
                self.assertEqual(cli.LAUNCHER.names_killed(result.stderr + result.stdout, number % 2, found[number % 2]), 1, str(result))
                others = [line for line in result.said if not re.search("warning: | steps ", line)]
                self.assertEqual(others, [], str(result))
                self.assertNotIn("Img/sec", result.stdout)
                self.assertEqual(stored_labels(self.folder / "r.h5"), sorted(labels))
        self.assertCode(train("--steps", 5, "--label", "after", "--output", "r.h5", cwd=self.folder), 0)
        self.assertEqual(stored_labels(self.folder / "r.h5"), sorted([*labels, "after"]))

    @cli.unittest.skipUnless(cli.LAUNCHER.unmoved, "Hydra ends the other ranks at once, whatever it is told")
    def test_where_the_launcher_does_nothing_the_survivors_name_the_lost_rank(self):
        """mpirun --enable-recovery lets the others go on, as srun without --kill-on-bad-exit does."""
        for lost in (1, 0):
            with self.subTest(lost=lost):
                job, found = self.start_long_job(3, "flat", *cli.LAUNCHER.unmoved)
                os.kill(found[lost], signal.SIGKILL)
                result = job.finish(20)  # the code is the launcher's, which calls this a recovery
                sentences = [line for line in result.said if f": rank {lost} on {os.uname().nodename} is gone" in line]
                self.assertGreaterEqual(len(sentences), 1, str(result))
                if lost != 0:
                    self.assertEqual(len(sentences), 1, f"rank 0 speaks for all\n{result}")
                deadline = time.monotonic() + 20  # survivors speak one after the other
                while any(map(cli.alive, found.values())) and time.monotonic() < deadline:
                    time.sleep(0.1)
                self.assertFalse(any(cli.alive(pid) for pid in found.values()), "a rank outlived the job")
                self.assertFalse((self.folder / "r.h5").exists() and stored_labels(self.folder / "r.h5"))

    def test_a_job_that_ends_well_says_nothing_of_lost_ranks(self):
        """Ranks that end one after the other, with failures and without, are not lost."""
        for words, code in ((("--steps", 3), 0), (("--steps", 60, "--optimizer", "sgd", "--lr", "1e38"), 3), (("--steps", 3, "--expect-ranks", 9), 5)):
            result = train(*words, "--output", "none", ranks=3, cwd=self.folder)
            self.assertCode(result, code)
            self.assertNotIn("is gone", result.stderr)


if __name__ == "__main__":
    cli.main()
