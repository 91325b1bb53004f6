"""A/A test: pairs of equal runs in random order, under a load that comes and goes. Single runs have no best; of 40 pairs of fives `report` and `compare`
tell at most two apart, and the same ones."""

import json
import random
import subprocess
import sys
import threading
import time

import ranklab_cli as cli

PAIRS = 40
RUN = ("io", "--strategy", "binary", "-n", 8, "-s", 32, "-i", 3, "--ceilings", "off", "--output", "aa.h5", "--quiet")


class EqualRuns(cli.Case):
    def burn(self):
        """Keeps one or two cores busy, on and off for about half a second each, until the test ends."""
        chance = random.Random(3)
        while not self.over:
            time.sleep(chance.expovariate(1 / 0.6))
            busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(chance.choice((1, 2)))]
            time.sleep(chance.expovariate(1 / 0.5))
            for one in busy:
                one.kill()
                one.wait()

    def verdicts(self, runs, pairs):
        """Returns the pairs with a best and those that compare calls better or worse, at `runs` runs per side."""
        order, best, differ = random.Random(7), set(), set()
        for pair in range(pairs):
            labels = [f"{runs}-{pair}a", f"{runs}-{pair}b"]
            sides = labels * runs
            order.shuffle(sides)
            for label in sides: self.assertCode(cli.ranklab(*RUN, "--label", label, cwd=self.folder), 0)
            said = cli.ranklab("report", "aa.h5", "--where", f"label={','.join(labels)}", "--group-by", "label", cwd=self.folder).stdout
            self.assertEqual(("\nbest: " in said) + ("\nundecided: " in said), 1, said)
            if "\nbest: " in said: best.add(pair)
            compared = cli.ranklab("compare", "--file", "aa.h5", *(f"label:{label}" for label in labels), "--measure", "job_time_s", "--format", "json",
                                   cwd=self.folder)
            if json.loads(compared.stdout)["groups"][0]["rows"][0]["verdict"] in ("better", "worse"): differ.add(pair)
        return best, differ

    def test_single_runs_have_no_best(self):
        self.assertEqual(self.verdicts(1, 5), (set(), set()))

    def test_fives_under_load_that_comes_and_goes(self):
        self.over = False
        load = threading.Thread(target=self.burn)
        load.start()
        try:
            best, differ = self.verdicts(5, PAIRS)
        finally:
            self.over = True
            load.join()
        self.assertEqual(best, differ)
        self.assertLessEqual(len(best), 2)


if __name__ == "__main__":
    cli.main()
