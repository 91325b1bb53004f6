"""A/A test: pairs of equal runs in random order, one and five runs per side. Single runs have no best; fives have a false best in at most 5 % of pairs."""

import random

import ranklab_cli as cli

PAIRS = 20
RUN = ("io", "--strategy", "binary", "-n", 8, "-s", 32, "-i", 3, "--ceilings", "off", "--output", "aa.h5", "--quiet")


class EqualRuns(cli.Case):
    def verdicts(self, runs):
        """Returns the number of pairs with a best, at `runs` runs per side."""
        order, found = random.Random(7), 0
        for pair in range(PAIRS):
            labels = [f"{runs}-{pair}a", f"{runs}-{pair}b"]
            sides = labels * runs
            order.shuffle(sides)
            for label in sides: self.assertCode(cli.ranklab(*RUN, "--label", label, cwd=self.folder), 0)
            said = cli.ranklab("report", "aa.h5", "--where", f"label={','.join(labels)}", "--group-by", "label", cwd=self.folder).stdout
            found += "\nbest: " in said
            self.assertEqual(("\nbest: " in said) + ("\nundecided: " in said), 1, said)
        print(f"{runs} a side: a best in {found} of {PAIRS} pairs")
        return found

    def test_single_runs_have_no_best(self):
        self.assertEqual(self.verdicts(1), 0)

    def test_fives_have_a_false_best_in_five_per_cent(self):
        self.assertLessEqual(self.verdicts(5), 4)  # P(Bin(20, 0.05) > 4) = 0.3 %


if __name__ == "__main__":
    cli.main()
