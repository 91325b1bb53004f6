"""Following the first advice of `report --why` increases samples/s in runs slowed by a known cause."""

import json
import statistics
import unittest

import ranklab_cli as cli
from provoked import RUNS, SLOW_READS, Case

cli.need_train()

ROUNDS = 3


class Advice(Case):
    def rate(self, run, *more, **launch):
        self.train(run, *more, **launch)
        (last,) = json.loads(cli.ranklab("report", "r.h5", "--last", 1, "--format", "json", cwd=self.folder).stdout)["runs"]
        (rate,) = [one["median"] for one in last["measurements"] if one["name"] == "throughput_samples_per_s"]
        return rate

    def assertHelps(self, name):
        """Runs before and after alternate, so that other load affects both."""
        run = RUNS[name]
        first = self.train(run)["advice"][0]
        option = first["option"].split()
        if option[0] != "mpirun":
            follow = lambda: self.rate(run, *option)
        elif option[1] == "-n":
            follow = lambda: self.rate(run, ranks=int(option[2]))
        else:
            follow = lambda: self.rate(run, launch=option[1:])
        before, after = zip(*((self.rate(run), follow()) for _ in range(ROUNDS)))
        saved = 100 * (1 - statistics.median(before) / statistics.median(after))
        print(f"{name}: {first}: saved {saved:.0f} %")
        self.assertGreater(saved, 0)

    @unittest.skipUnless(SLOW_READS.exists(), f"{SLOW_READS} is not built")
    def test_slow_input(self):
        self.assertHelps("slow input")

    def test_costly_loader(self):
        self.assertHelps("costly loader")

    @cli.only_open_mpi
    def test_two_threads_on_one_core(self):
        self.assertHelps("two threads on one core")

    def test_tiny_batch(self):
        self.assertHelps("tiny batch")

    @cli.only_open_mpi
    def test_oversubscription(self):
        self.assertHelps("oversubscription")


if __name__ == "__main__":
    cli.main()
