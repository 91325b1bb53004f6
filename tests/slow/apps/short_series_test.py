"""Intervals of short series that depend on each other cover the median, through the whole program: with tests/support/simulated_calls.c
calls take no time, but move the clock on. Prints the table of coverage in per cent.
"""

import json
import subprocess

import ranklab_cli as cli

SERIES, SEEDS, BYTES = 1000, (1, 2, 3, 4), 8  # a message size each, BYTES apart
MEDIAN_US = 10000
LEAST = {0: 93, 0.3: 93, 0.5: 93, 0.8: 90}  # per cent, by the autocorrelation
SIZES = ("-b", 4096, "-e", 4096 + (SERIES - 1) * BYTES, "-i", BYTES)


class ShortSeries(cli.Case):
    def intervals(self, n, phi, seed):
        env = cli.environment(LD_PRELOAD=self.folder / "calls.so", SIMULATED_PHI=phi, SIMULATED_SEED=seed)
        done = cli.ranklab("comm", "--op", "allreduce", "--place", "in-place", *SIZES, "-n", n, "-w", 0, "-c", 0, "-z", 2, "--output", "none", "--json", "--quiet",
                           env=env, cwd=self.folder)
        self.assertCode(done, 0)
        (run,) = json.loads(done.stdout)["runs"]
        found = [(one["ci95_low"], one["ci95_high"]) for one in run["measurements"] if one["name"].startswith("time_us:")]
        self.assertEqual(len(found), SERIES)
        return found

    def test_intervals_cover_the_median(self):
        source = cli.SOURCE / "tests" / "support" / "simulated_calls.c"
        subprocess.run(["mpicc", "-shared", "-fPIC", "-O1", "-o", self.folder / "calls.so", source, "-ldl", "-lm"], check=True)
        for n in (10, 12, 15, 20, 30, 49):
            for phi, least in LEAST.items():
                found = [one for seed in SEEDS for one in self.intervals(n, phi, seed)]
                shown = [(low, high) for low, high in found if low is not None]
                covered = 100 * sum(low <= MEDIAN_US <= high for low, high in shown) / len(shown)
                print(f"n {n:3} phi {phi}: {covered:.1f} % of {len(shown)} intervals of {len(found)} series", flush=True)
                with self.subTest(n=n, phi=phi):
                    self.assertGreaterEqual(covered, least - 1)  # 1: two standard errors of 4,000 series
                    self.assertGreaterEqual(len(shown), 0.8 * len(found))


if __name__ == "__main__":
    cli.main()
