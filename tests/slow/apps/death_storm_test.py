"""Jobs of three ranks in which a rank, all ranks or mpirun are killed, stopped or signalled at a random moment: each job ends and leaves no
process. RANKLAB_DEATHS is the number of jobs."""

import os
import random
import signal
import time

import ranklab_cli as cli

RANKS, LIMIT = 3, 30
DEATHS = int(os.environ.get("RANKLAB_DEATHS", "20"))
TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--steps", 1000000, "--evaluate", "off")
IO = ("io", "--strategy", "mpi-scatter", "-n", 100000, "-s", 64)
COMM = ("comm", "--op", "allreduce", "-b", "1K", "-e", "1M", "-f", 2, "-n", 1000000)
COMMANDS = (*((TRAIN,) if cli.HAS_TRAIN else ()), IO, COMM, (*COMM, "--nonblocking"))
SIGNALS = (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)


class DeathStorm(cli.Case):
    def test_each_job_ends(self):
        lot = random.Random(11)
        slowest = 0
        for death in range(DEATHS):
            command, number, whom = lot.choice(COMMANDS), lot.choice(SIGNALS), lot.choice(("a rank", "all ranks", "mpirun"))
            if number == signal.SIGSTOP:
                whom = "a rank"  # suspending all ranks or the launcher suspends the job
            with self.subTest(death=death, command=command[0], signal=number.name, whom=whom):
                job = self.start(*cli.mpirun_words(RANKS), cli.RANKLAB, *command, "--stall-timeout", 5, "--output", "none")
                job.wait_until(lambda: len(job.ranks()) == RANKS, 60)
                time.sleep(lot.uniform(0, 2))
                ranks = dict(job.ranks())
                for pid in {"a rank": [ranks.get(1)], "all ranks": ranks.values(), "mpirun": [job.process.pid]}[whom]:
                    try:
                        os.kill(pid, number)
                    except (ProcessLookupError, TypeError):
                        pass  # it has ended
                begin = time.monotonic()
                result = job.finish(120)
                took = time.monotonic() - begin
                slowest = max(slowest, took)
                self.assertLess(took, LIMIT * cli.patience(), str(result))
                self.assertNotEqual(result.code, 0, str(result))
                deadline = time.monotonic() + 10
                while any(map(cli.alive, ranks.values())) and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertFalse([pid for pid in ranks.values() if cli.alive(pid)], "a rank outlived the job")
        print(f"{DEATHS} deaths; the slowest job ended after {slowest:.1f} s")


if __name__ == "__main__":
    cli.main()
