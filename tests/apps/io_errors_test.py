"""`ranklab io` with an unusable folder or a killed process: one message, one exit code, no hang, no partial
file. Refusals of the command line: tests/refusals/io.json."""

import os
import shutil
import signal
import time

import ranklab_cli as cli
from io_runs import workers_of
from ranklab_cli import Case, ranklab


def io(*arguments, **how):
    return ranklab("io", "--output", "none", *arguments, **how)


class Places(Case):
    def test_all_ranks_leave_and_one_speaks(self):
        self.assertSays(io("--strategy", "binray", ranks=3, cwd=self.folder), 2, "binary")
        (self.folder / "file").write_text("mine")
        for rung, ranks in (("mpi-scatter", 3), ("hdf5-parallel-collective", 2)):
            self.assertSays(io("--strategy", rung, "--directory", self.folder / "file", ranks=ranks), 2, self.folder / "file")
        self.assertEqual((self.folder / "file").read_text(), "mine")
        self.assertEqual(self.names(), ["file"])

    def test_a_results_file_of_the_records_name_stays(self):
        results = self.folder / "out" / "data.h5"
        words = ("-n", 2, "-s", 4, "--directory", "out")
        self.assertCode(ranklab("io", *words, "--strategy", "binary", "--output", results, cwd=self.folder), 0)
        content = results.read_bytes()
        for output in ("none", results):
            self.assertSays(ranklab("io", *words, "--strategy", "hdf5-serial", "--output", output, cwd=self.folder), 2, "data.h5")
            self.assertEqual(results.read_bytes(), content)

    def test_a_read_only_folder(self):
        place = self.folder / "ro"
        place.mkdir()
        self.make_read_only(place)
        self.assertSays(io("--strategy", "hdf5-parallel-collective", "--directory", place, ranks=3), 5, "--directory")
        self.assertSays(io("--strategy", "binary", "--directory", place / "sub"), 5, "--directory")


class Processes(Case):
    def test_a_killed_worker_is_noticed_and_named(self):
        for rung, words in (("process-pool", ()), ("process-queue", cli.mpirun_words(2))):
            with self.subTest(rung=rung):
                job = self.start(*words, cli.RANKLAB, "io", "--strategy", rung, "-n", 200000, "-s", 20, "--workers", 3,
                                 "--directory", self.folder / rung, "--output", "none")
                workers = job.wait_until(lambda: len(workers_of(job)) == 3 and workers_of(job))
                os.kill(workers[1], signal.SIGKILL)
                self.assertSays(job.finish(30), 5, "worker", workers[1], "signal 9")
                deadline = time.monotonic() + 10
                while any(cli.alive(pid) for pid in workers) and time.monotonic() < deadline:
                    time.sleep(0.02)
                self.assertEqual([pid for pid in workers if cli.alive(pid)], [])

    def test_a_missing_worker_program(self):
        shutil.copy2(cli.BIN / "ranklab-io", self.folder / "ranklab-io")
        env = cli.environment(LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH"))
        result = cli.run(self.folder / "ranklab-io", "--strategy", "process-queue", "--output", "none", "--directory",
                         self.folder / "o", env=env)
        self.assertSays(result, 5, "ranklab-io-worker")


if __name__ == "__main__":
    cli.main()
