"""`ranklab comm` and `ranklab data` on full disks, under time limits and stopped by signals."""

import json
import os
import signal

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

SHORT = ("-n", 3, "-w", 1)


def data(*words, ranks=1, **how):
    return ranklab("data", *words, ranks=ranks, **how)


class CommTest(cli.Case):
    def comm(self, *words, ranks=2, **how):
        return cli.ranklab("comm", "--output", "r.h5", *words, ranks=ranks, cwd=self.folder, **how)

    def test_a_full_disk_loses_no_numbers(self):
        place = self.mount_small_tmpfs("1m")
        result = self.comm("--sizes", "8", "-J", f"{place}/x.json", *SHORT)
        self.assertCode(result, 0)
        fill = os.open(place / "fill", os.O_WRONLY | os.O_CREAT)
        self.addCleanup(os.close, fill)
        try:
            while True:
                os.write(fill, b"0" * 4096)
        except OSError:
            pass
        self.assertCode(self.comm("--sizes", "8", "-J", f"{place}/y.json", *SHORT), 5)
        self.assertEqual(json.loads((place / "x.json").read_text())["schema"], 1, "the earlier file is whole")

    def test_a_signal_and_a_time_limit_store_what_there_is(self):
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "comm", "--output", "r.h5", "-n", 1000000, "--sizes", "8,16,4M",
                         "--stall-timeout", 120)
        job.wait_until(lambda: len(job.ranks()) == 2)
        for pid in job.ranks().values():
            os.kill(pid, signal.SIGTERM)
        # Before the first sample the signal itself ends a rank.
        self.assertIn(job.finish(100).code, (128 + signal.SIGTERM, cli.LAUNCHER.killed_by(signal.SIGTERM)))
        result = self.comm("--op", "all", "-n", 100000, "--time-limit", 0.5, "--quiet")
        self.assertCode(result, 6)
        runs = json.loads(cli.ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"]
        self.assertTrue(any("time limit ended the run after" in warning for run in runs for warning in run["warnings"]))


class Places(Case):
    def test_a_disk_that_is_too_small(self):
        small = self.mount_small_tmpfs(3 << 20)
        for ranks in (1, 2):
            for words in (("make", "cosmology", "small/v.h5", "--edge", "64"), ("make", "cifar100", "small", "--train", "2000", "--test", "1")):
                with self.subTest(words, ranks=ranks):
                    self.assertSays(data(*words, ranks=ranks, cwd=self.folder), 5, "no room")
        self.assertEqual([p for p in small.rglob("*") if p.is_file()], [])


if __name__ == "__main__":
    cli.main()
