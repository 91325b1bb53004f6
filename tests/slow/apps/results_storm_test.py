"""Guarantees of a results file: 200 kills of a writer and 20 full disks lose no stored run, h5py opens the file each time, and the runs
of 40 concurrent writers are complete."""

import os
import random
import shutil
import signal
import time

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

(h5py,) = cli.modules("h5py")

WRITER = cli.BIN.parent / "tests" / "results_writer"
KILLS = int(os.environ.get("RANKLAB_KILLS", "200"))
DISKS = int(os.environ.get("RANKLAB_FULL_DISKS", "20"))
WRITERS, EACH = 40, 10


def ids(path):
    with h5py.File(path) as file:
        return set(file["runs"])


class StormTest(Case):
    def setUp(self):
        super().setUp()
        self.file, self.pattern = self.folder / "r.h5", self.folder / "pattern.h5"
        for path in (self.file, self.pattern):
            result = ranklab("io", "--strategy", "binary", "--files", 2, "--size", 10, "--output", path, cwd=self.folder)
            self.assertCode(result, 0)
        self.random = random.Random(7)

    def append(self, prefix, count, file=None):
        return self.start(WRITER, "append", file or self.file, self.pattern, prefix, count)

    def wait_for_the_first(self, job):
        job.wait_until(lambda: os.pread(job._stdout.fileno(), 1, 0))

    def test_no_kill_loses_a_stored_run(self):
        stored, in_the_middle = ids(self.file), 0
        for kill in range(KILLS):
            job = self.append(f"k{kill}", 0)
            self.wait_for_the_first(job)
            time.sleep(self.random.uniform(0, 0.03))
            os.kill(job.process.pid, signal.SIGKILL)
            result = job.finish()
            self.assertEqual(result.code, -signal.SIGKILL, str(result))
            stored |= set(result.stdout.split())
            in_the_middle += any(name.name.endswith(".tmp") for name in self.folder.iterdir())
            self.assertLessEqual(stored, ids(self.file), f"after kill {kill}: h5py misses runs")
        self.assertGreater(in_the_middle, KILLS // 20, "hardly a kill fell into an append")
        print(f"{KILLS} kills, {in_the_middle} of them within an append: {len(stored)} stored runs, all there")
        self.assertCode(ranklab("results", "check", self.file), 0)
        self.assertCode(self.append("after", 1).finish(), 0)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.is_file()), ["pattern.h5", "r.h5"], "what they left is removed")

    def test_no_full_disk_loses_a_stored_run(self):
        place = self.mount_small_tmpfs(8 << 20)
        file, filler = place / "r.h5", place / "filler"
        stored = set()
        for disk in range(DISKS):
            job = self.append(f"d{disk}", 0, file)
            self.wait_for_the_first(job)
            with open(filler, "wb", buffering=0) as bytes_of_others:
                try:
                    while True:
                        bytes_of_others.write(bytes(self.random.choice((4096, 1 << 20))))
                        time.sleep(self.random.uniform(0, 0.002))
                except OSError:
                    pass
            result = job.finish()
            self.assertEqual(result.code, 1, str(result))
            self.assertIn("no room", result.stderr)
            stored |= set(result.stdout.split())
            self.assertEqual(stored, ids(file), f"after disk {disk}")
            self.assertEqual(sorted(path.name for path in place.iterdir()), ["filler", "r.h5"])
            filler.unlink()
            if file.stat().st_size > 2 << 20:  # two copies must fit
                shutil.copy(self.file, file)
                stored = ids(file)
        print(f"{DISKS} full disks: every stored run is there")
        self.assertCode(ranklab("results", "check", file), 0)

    def test_many_writers_at_once(self):
        jobs = [self.append(f"w{writer}", EACH) for writer in range(WRITERS)]
        for job in jobs:
            self.assertCode(job.finish(300), 0)
        wanted = {f"w{writer}-{run}" for writer in range(WRITERS) for run in range(EACH)}
        self.assertLessEqual(wanted, ids(self.file))
        self.assertEqual(len(ids(self.file)), WRITERS * EACH + 1)
        print(f"{WRITERS} writers at once, {EACH} runs each: all {len(wanted)} are there")


if __name__ == "__main__":
    cli.main()
