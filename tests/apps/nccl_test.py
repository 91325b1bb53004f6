"""--backend nccl without a GPU: one message, one exit code, no hang."""

import ranklab_cli as cli
from ranklab_cli import Case, train

# hides the GPUs of this machine from the jobs
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}


class WithoutAGpu(Case):
    def test_of_three_ranks_one_speaks_and_all_leave_with_its_code(self):
        result = train("--backend", "nccl", "--steps", 2, "--output", "none", ranks=3, cwd=self.folder, env=cli.environment(**NO_GPU))
        self.assertSays(result, 5, "rank 0", "backend 'nccl'", "--backend mpi")

    def test_it_is_in_the_list_all_the_same(self):
        result = train("--list", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^\s+nccl\s+\S")


if __name__ == "__main__":
    cli.main()
