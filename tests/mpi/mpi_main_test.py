"""tests/mpi/main.cpp reports a failure on any rank, which every multi-rank test relies on. Runs the tests of
faulty_tests.cpp, which fail on purpose."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

MPIEXEC = os.environ.get("RANKLAB_MPIEXEC") or shutil.which("mpirun")
PROGRAM = pathlib.Path(os.environ.get("RANKLAB_BIN", "")).parent / "tests" / "mpi_main_faulty"
HANGS_AFTER, HANGED = 100, 124  # time limit in seconds, and the exit code of `timeout` after it


def run(ranks, *tests, expect=None, patience=None):
    """Returns exit code, stdout and stderr of the named faulty tests; 124 if they hung."""
    # `timeout` ends mpirun, which ends its ranks.
    names = ":".join(f"Faulty.{test}" for test in tests)
    command = ["timeout", "-k", "5", str(HANGS_AFTER), MPIEXEC, "-n", str(ranks), str(PROGRAM), f"--gtest_filter={names}",
               "--gtest_color=no", f"--expect-ranks={expect or ranks}"]
    env = os.environ if patience is None else os.environ | {"RANKLAB_TEST_PATIENCE": str(patience)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_AFTER + 8, check=False, env=env)
    return done.returncode, done.stdout, done.stderr


class MpiMainTest(unittest.TestCase):
    def test_one_test_that_ran_and_passed_is_enough(self):
        code, out, err = run(2, "IsSkipped", "Passes")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(out.count("[  PASSED  ] 1 test."), 1, "rank 0 alone prints:\n" + out)

    def test_a_program_of_skipped_tests_says_so(self):
        code, out, err = run(2, "IsSkipped")
        self.assertEqual(code, 77, out + err)

    def test_a_failure_on_any_rank_fails_the_job_and_is_tagged(self):
        code, out, err = run(3, "IsSkipped", "Passes", "FailsOnRank0", "FailsOnRank1", "Rank1Throws")
        self.assertNotIn(code, (0, 77, HANGED), out + err)
        for name, rank in (("FailsOnRank0", 0), ("FailsOnRank1", 1), ("Rank1Throws", 1)):
            self.assertIn(f"Faulty.{name} failed on rank(s) {rank}\n", out)
            self.assertIn(f"[  FAILED  ] Faulty.{name}", out)
        for words in ("rank 1: ", "only rank 1 sees this", "thrown on rank 1 alone"):
            self.assertIn(words, err)
        self.assertNotIn("rank 2:", err, "rank 2 passed and has nothing to say")

    def test_a_rank_that_leaves_a_collective_does_not_hang_the_job(self):
        code, _, err = run(2, "Rank1LeavesTheOthersInACollective", patience=0.2)
        self.assertNotIn(code, (0, HANGED))
        self.assertIn("rank 1 left early", err)
        self.assertIn("not all ranks came to the end of Faulty.Rank1LeavesTheOthersInACollective", err)

    def test_a_rank_that_exits_with_0_fails_the_job(self):
        code, out, err = run(2, "Rank1Exits")
        self.assertNotIn(code, (0, 77, HANGED), out + err)

    def test_an_agreement_on_the_exit_code_gives_up(self):
        code, _, err = run(2, "Rank1DoesNotAgreeOnTheExit")
        self.assertEqual(code, 42, err)

    def test_a_wrong_number_of_ranks_is_refused(self):
        for expect, sentence in ((2, "was started for 2 ranks, but MPI connects 1;"), ("two", "--expect-ranks=N takes a whole number")):
            code, out, err = run(1, "Passes", expect=expect)
            self.assertNotEqual(code, 0)
            self.assertIn(sentence, err)
            self.assertNotIn("PASSED", out)


if __name__ == "__main__":
    if not MPIEXEC or not PROGRAM.exists():
        print(f"skipped: no mpirun, or {PROGRAM} is not built")
        sys.exit(77)
    unittest.main()
