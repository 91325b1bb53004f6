"""`ranklab io` where the place or a process is not as it should be: one sentence, the agreed exit code, no hang, nothing
half-written. What the command line alone makes impossible is in tests/refusals/io.json."""

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
        self.assertSays(io("--strategy", "binray", ranks=3, cwd=self.folder), 2, "did you mean binary")
        (self.folder / "file").write_text("mine")
        for rung, ranks in (("mpi-scatter", 3), ("hdf5-parallel-collective", 2)):
            self.assertSays(io("--strategy", rung, "--directory", self.folder / "file", ranks=ranks), 2, "is a file")
        self.assertEqual((self.folder / "file").read_text(), "mine")
        self.assertEqual(self.names(), ["file"])

    def test_the_results_file_is_no_file_of_records(self):
        """Neither by a link nor by another spelling."""
        out = self.folder / "out"
        out.mkdir()
        (self.folder / "link.h5").symlink_to(out / "data.h5")
        for output in ("link.h5", self.folder / "x" / ".." / "out" / "data.h5"):
            result = ranklab("io", "-n", 2, "-s", 4, "--strategy", "hdf5-serial", "--directory", "out", "--output", output, cwd=self.folder)
            self.assertSays(result, 2, f"--output {output} is a file that hdf5-serial writes")
        self.assertEqual(list(out.iterdir()), [])

    def test_a_file_of_somebody_else_stays(self):
        results = self.folder / "r.h5"
        self.assertCode(ranklab("io", "-n", 1, "-s", 2, "--strategy", "binary", "--output", results, cwd=self.folder), 0)
        foreign = {"text-loop": b"0.5 0.25\n", "process-pool": b"mine", "hdf5-serial": results.read_bytes()}
        out = self.folder / "out"
        for rung, content in foreign.items():
            words = ("--strategy", rung, "-n", 2, "-s", 4, "--directory", out)
            self.assertCode(io(*words, "-k"), 0)
            self.assertCode(io(*words[:5], 3, *words[6:], "-k", "--rename"), 0)  # its own, of another size
            path = sorted(out.iterdir())[-1]
            for spoilt, ranks in ((path.read_bytes()[8:], 1), (content, 3)):
                path.write_bytes(spoilt)
                with self.subTest(rung=rung, ranks=ranks):
                    self.assertSays(io(*words, ranks=ranks), 2, f"{rung} would replace {path}")
                self.assertEqual(path.read_bytes(), spoilt)
            shutil.rmtree(out)

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
