"""Sixty-four ranks on a machine of a few cores: few descriptors are enough, nobody is taken for lost who only waits for a core, and
where a rank dies that has others behind it, that one is named.
"""

import os
import pathlib
import re
import signal
import time

import ranklab_cli as cli
from ranklab_cli import Case

RANKS = 64
INNER = 1  # of the lifeline's tree
BEHIND = range(9, 17)  # it: to their parent alone they have a line, and nobody tells them more
DESCRIPTORS = 64
LINES = 8  # below a rank on its own host
WORDS = ("io", "--strategy", "binary", "--size", 20, "--output", "none")


def few_descriptors(*command):
    """That command with a small limit. The launcher's own processes need more: some for each rank."""
    return ("sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "sh", *command)


def environment():
    return cli.environment(OMPI_MCA_mpi_yield_when_idle=1)


def tcp_sockets(pid):
    """How many TCP sockets a process has open."""
    inodes = {line.split()[9] for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]}
    links = []
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            links.append(os.readlink(entry))
        except OSError:
            continue  # closed meanwhile
    return sum(link[len("socket:["):-1] in inodes for link in links if link.startswith("socket:["))


class ManyRanks(Case):
    def begin(self, *options, files):
        words = few_descriptors(cli.RANKLAB, *WORDS, "-n", files, "--directory", self.folder / "out", "--stall-timeout", 60)
        return self.start(*cli.mpirun_words(RANKS, *options), *words, env=environment())

    def wait_for(self, job, condition, seconds):
        """As wait_until, seldom: to look at so many processes takes time from them."""
        def looked():
            time.sleep(0.3)
            return condition()
        return job.wait_until(looked, seconds)

    def test_a_short_job_with_few_descriptors_ends_well_and_says_nothing(self):
        result = self.begin(files=RANKS).finish(180)
        self.assertCode(result, 0)
        for words in ("is gone", "no progress", "could not connect"):
            self.assertNotIn(words, result.stderr)

    @cli.only_open_mpi
    def test_an_inner_rank_that_is_killed_is_named_and_none_behind_it(self):
        """mpirun --enable-recovery ends nobody for another one, so all ranks come to say what they know."""
        job = self.begin("--enable-recovery", files=100000)
        self.wait_for(job, lambda: any((self.folder / "out").glob("data*")), 120)
        found = job.ranks()
        self.assertEqual(len(found), RANKS)
        leaf = tcp_sockets(found[RANKS - 1])  # a single line, and what MPI has
        self.wait_for(job, lambda: tcp_sockets(found[0]) - leaf >= LINES - 1, 60)
        self.assertLessEqual(tcp_sockets(found[0]) - leaf, LINES + 1, "eight lines and a door, at any number of ranks")
        os.kill(found[INNER], signal.SIGKILL)
        result = job.finish(90)
        said = re.findall(r"(rank \d+) on \S+: (rank \d+) on \S+ is gone", result.stderr)
        self.assertEqual(said[0], ("rank 0", f"rank {INNER}"), str(result))
        self.assertEqual({gone for _, gone in said}, {f"rank {INNER}"}, str(result))
        self.assertEqual({who for who, _ in said} - {"rank 0"} - {f"rank {rank}" for rank in BEHIND}, set(), "the others hear of it from rank 0")
        deadline = time.monotonic() + 60
        while any(map(cli.alive, found.values())) and time.monotonic() < deadline:
            time.sleep(0.3)
        self.assertFalse([pid for pid in found.values() if cli.alive(pid)], "a rank outlived the job")


if __name__ == "__main__":
    cli.main()
