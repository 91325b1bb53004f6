"""tests/mpi_main.cpp must notice a failure on any rank: a test main that does not would make every
multi-rank test worthless. Runs the tests of faulty_tests.cpp, which fail on purpose."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

MPIEXEC = os.environ.get("RANKLAB_MPIEXEC") or shutil.which("mpirun")
PROGRAM = pathlib.Path(os.environ.get("RANKLAB_BIN", "")).parent / "tests" / "mpi_main_faulty"
HANGS_AFTER, HANGED = 100, 124  # seconds, and the exit code of `timeout` then


def run(ranks, test, expect=None):
    """Exit code, stdout and stderr of the named faulty test; 124 where it hung."""
    # `timeout` asks mpirun to end, so that it takes its ranks along. It is no measure of speed: a busy machine may take its time.
    command = ["timeout", "-k", "5", str(HANGS_AFTER), MPIEXEC, "-n", str(ranks), str(PROGRAM), f"--gtest_filter=Faulty.{test}", "--gtest_color=no"]
    command.append(f"--expect-ranks={expect or ranks}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_AFTER + 8, check=False)
    return done.returncode, done.stdout, done.stderr


class MpiMainTest(unittest.TestCase):
    def test_all_ranks_pass(self):
        code, out, err = run(2, "Passes")
        self.assertEqual(code, 0, out + err)
        self.assertEqual(out.count("[  PASSED  ] 1 test."), 1, "rank 0 alone prints:\n" + out)

    def test_a_program_of_skipped_tests_says_so(self):
        code, out, err = run(2, "IsSkipped")
        self.assertEqual(code, 77, out + err)

    def test_one_test_that_ran_is_enough(self):
        code, out, err = run(2, "IsSkipped:Faulty.Passes")
        self.assertEqual(code, 0, out + err)

    def test_a_failure_beside_a_skipped_test_fails(self):
        code, out, err = run(2, "IsSkipped:Faulty.FailsOnRank1")
        self.assertNotIn(code, (0, 77), out + err)

    def test_a_failure_on_rank_1_alone_fails_the_job(self):
        code, out, err = run(3, "FailsOnRank1")
        self.assertNotEqual(code, 0)
        self.assertIn("Faulty.FailsOnRank1 failed on rank(s) 1\n", out)
        self.assertIn("[  FAILED  ] Faulty.FailsOnRank1", out)
        self.assertIn("rank 1: ", err)
        self.assertIn("only rank 1 sees this", err)
        self.assertNotIn("rank 2:", err, "rank 2 passed and has nothing to say")

    def test_a_failure_on_rank_0_is_tagged_too(self):
        code, out, err = run(2, "FailsOnRank0")
        self.assertNotEqual(code, 0)
        self.assertIn("failed on rank(s) 0\n", out)
        self.assertNotIn("rank 1:", err)

    def test_an_exception_on_rank_1(self):
        code, out, err = run(2, "Rank1Throws")
        self.assertNotEqual(code, 0)
        self.assertIn("failed on rank(s) 1\n", out)
        self.assertIn("thrown on rank 1 alone", err)

    def test_a_rank_that_leaves_a_collective_does_not_hang_the_job(self):
        code, _, err = run(2, "Rank1LeavesTheOthersInACollective")
        self.assertNotIn(code, (0, HANGED))
        self.assertIn("rank 1 left early", err)
        self.assertIn("not all ranks came to the end of Faulty.Rank1LeavesTheOthersInACollective", err)

    def test_a_killed_rank_ends_the_job(self):
        code, _, _ = run(2, "Rank1IsKilled")
        self.assertNotIn(code, (0, HANGED))

    @unittest.skipIf(os.environ.get("RANKLAB_MPI_FAMILY") == "mpich", "Hydra takes a rank that ends with 0, and no MPI_Finalize, for one that is done")
    def test_a_rank_that_exits_with_0_ends_the_job(self):
        code, _, _ = run(2, "Rank1Exits")
        self.assertNotIn(code, (0, HANGED))

    def test_an_agreement_on_the_exit_code_gives_up(self):
        code, _, err = run(2, "Rank1DoesNotAgreeOnTheExit")
        self.assertEqual(code, 42, err)

    def test_a_wrong_number_of_ranks_is_refused(self):
        code, out, err = run(1, "Passes", expect=2)
        self.assertNotEqual(code, 0)
        self.assertIn("was started for 2 ranks, but MPI connects 1;", err)
        self.assertNotIn("PASSED", out)

    def test_a_number_that_is_none_is_refused(self):
        code, _, err = run(1, "Passes", expect="two")
        self.assertNotEqual(code, 0)
        self.assertIn("--expect-ranks=N takes a whole number", err)


if __name__ == "__main__":
    if not MPIEXEC or not PROGRAM.exists():
        print(f"skipped: no mpirun, or {PROGRAM} is not built")
        sys.exit(77)
    unittest.main()
