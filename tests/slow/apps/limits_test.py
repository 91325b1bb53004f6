"""A huge number of steps costs no time in a dry run."""

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, train


@needs_train
class NumbersTest(Case):
    def test_two_ranks_say_it_once(self):
        for words, part in ((("--lr", "1e300"), "--lr"), (("--batch-size", 400000000), "--batch-size"),
                            (("--lr-schedule", "step", "--gamma", "1e10", "--epochs", 100000), "--gamma")):
            result = train(*words, "--evaluate", "off", "--output", "none", ranks=2, cwd=self.folder)
            self.assertSays(result, 5 if part == "--batch-size" else 2, part)

    def test_a_cosine_over_very_many_steps_is_not_walked_through(self):
        result = train("--steps", 1000000000000, "--lr-schedule", "cosine", "--dry-run", "--output", "none", cwd=self.folder, timeout=60)
        self.assertCode(result, 0)
        self.assertIn("1000000000010", result.stdout)


if __name__ == "__main__":
    cli.main()
