"""What the system does not give (address space, threads) and numbers that nobody means: one sentence and the right code, before the work."""

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, train


@needs_train
class AddressSpaceTest(Case):
    """`ulimit -v`, which loaders, LibTorch and Open MPI answer with words, backtraces and signals of their own."""

    WORDS = ("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--evaluate", "off", "--output", "none", "--steps", 3)

    def limited(self, mebibytes, *words, ranks=1, program=cli.RANKLAB):
        shell = ("bash", "-c", f'ulimit -v {mebibytes * 1024}; exec "$@"', "bash", program)
        launcher = () if ranks == 1 else cli.mpirun_words(ranks)
        return cli.run(*launcher, *shell, *words, cwd=self.folder, timeout=120)

    def setUp(self):
        super().setUp()
        if self.limited(64 << 10, *self.WORDS).code != 0:
            self.skipTest("this build does not run with a limit of the address space at all (a sanitizer's shadow)")

    def test_too_little_is_said_before_anything_is_loaded(self):
        for ranks in (1, 2):
            for mebibytes in (250, 400, 500, 650, 900):
                with self.subTest(ranks=ranks, mebibytes=mebibytes):
                    self.assertSays(self.limited(mebibytes, *self.WORDS, ranks=ranks), 5, f"limited to {mebibytes} MiB", "ulimit -v")

    def test_other_programs_of_mpi_too(self):
        self.assertSays(self.limited(300, "io", "--strategy", "binary", "--output", "none", ranks=2), 5, "ulimit -v")
        self.assertSays(self.limited(800, *self.WORDS[1:], program=cli.BIN / "ranklab-train"), 5, "ulimit -v")

    def test_memory_that_is_missing_later(self):
        for ranks in (1, 2):
            result = self.limited(1300, *self.WORDS, "--batch-size", 400000, "--train-samples", 400000 * ranks, ranks=ranks)
            self.assertSays(result, 5, "out of memory", "--batch-size", "ulimit -v")

    def test_the_remedy_is_one_that_the_program_has(self):
        record = ("io", "--strategy", "binary", "--files", 1, "--size", 14000, "--ceilings", "off", "--output", "none")  # 1.5 GB
        for ranks in (1, 2):
            result = self.limited(1300, *record, ranks=ranks)
            self.assertSays(result, 5, "out of memory", "--size", "ulimit -v")
            self.assertNotIn("--batch-size", result.stderr)
            self.assertEqual("fewer ranks" in result.stderr, ranks > 1)


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
        self.assertIn("at step 1000000000010", result.stdout)


if __name__ == "__main__":
    cli.main()
