"""Jobs of 1 to 4 ranks, also below a sweep or a campaign, in which a rank, all ranks or the launcher are killed, stopped or signalled at a random
moment: each job ends, leaves no process, and loses no run that was stored. RANKLAB_DEATHS is the number of jobs."""

import os
import random
import signal
import time

import ranklab_cli as cli

(h5py,) = cli.modules("h5py")

LIMIT = 30
DEATHS = int(os.environ.get("RANKLAB_DEATHS", "20"))
TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--threads", 1, "--steps", 1000000, "--evaluate", "off")
IO = ("io", "--strategy", "mpi-scatter", "--files", 100000, "--size", 64)
COMM = ("comm", "--op", "allreduce", "--min-bytes", "1K", "--max-bytes", "1M", "--step-factor", 2, "--repetitions", 1000000)
COMMANDS = (*((TRAIN,) if cli.HAS_TRAIN else ()), IO, COMM, (*COMM, "--nonblocking"))
SIGNALS = (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
LAUNCHER = " ".join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound)


class DeathStorm(cli.Case):
    def stored(self):
        with h5py.File(self.folder / "r.h5") as file:
            return {name: run.attrs["started_utc"] for name, run in file["runs"].items()}

    def words_of(self, way, command, ranks, death):
        own = ("--stall-timeout", 5, "--label", f"death{death}", "--output", "r.h5")
        if way == "alone":
            return (*cli.mpirun_words(ranks), cli.RANKLAB, *command, *own)
        if way == "sweep":
            return (cli.RANKLAB, "sweep", *command, "--ranks", ranks, "--repeat", 1, "--launcher-options", LAUNCHER, *own)
        keys = dict(zip(command[1::2], command[2::2]))
        settings = "".join(f"{key.lstrip('-')} = {value}\n" for key, value in {**keys, "--ranks": ranks, "--repeat": 1, "--stall-timeout": 5}.items())
        (self.folder / "c.ini").write_text(f"[campaign]\nname = c\noutput = r.h5\nlauncher-options = {LAUNCHER}\n"
                                           f"[w{death}]\ncommand = {command[0]}\n{settings}")
        return (cli.RANKLAB, "campaign", "run", "c.ini")

    def finished(self, job, way):
        """Waits for the job's end. If ranks are killed while they start, Open MPI 4.1's mpirun may wait for itself for ever (PMIx_server_finalize);
        a sweep ends it, and for a job without a sweep this test does."""
        begin = lived = time.monotonic()
        while way == "alone" and job.process.poll() is None and time.monotonic() - begin < 100:
            if any(map(cli.alive, cli.descendants(job.process.pid))):
                lived = time.monotonic()
            elif time.monotonic() - lived > 15:
                job.process.kill()
                self.hung += 1
            time.sleep(0.05)
        return job.finish(120)

    @cli.only_open_mpi
    def test_a_launcher_that_outlives_its_ranks_is_ended(self):
        place = self.folder / "bin"
        place.mkdir()
        (place / "mpirun").write_text("#!/bin/sh\ntrap '' TERM\nsleep 3 &\nwait\nexec sleep 1000\n")
        (place / "mpirun").chmod(0o755)
        job = self.start(cli.RANKLAB, "sweep", *COMM, "--ranks", 2, "--repeat", 1, "--output", "r.h5",
                         env=cli.environment(PATH=f"{place}:{os.environ['PATH']}"))
        result = job.finish(40)
        self.assertCode(result, 128 + signal.SIGKILL)
        self.assertIn("failed (exit code 137)", result.stderr)

    def test_each_job_ends(self):
        for _ in range(3):
            self.assertCode(cli.ranklab("io", "--strategy", "binary", "-n", 2, "-s", 10, "--output", "r.h5", cwd=self.folder), 0)
        lot = random.Random(11)
        slowest = self.hung = 0
        for death in range(DEATHS):
            ranks, way, number, whom = (lot.choice(some) for some in (range(1, 5), ("alone", "alone", "sweep", "campaign"), SIGNALS,
                                                                      ("a rank", "all ranks", "the launcher")))
            command = lot.choice(COMMANDS[:-1] if way == "campaign" else COMMANDS)
            if number == signal.SIGSTOP:  # suspending all ranks or the launcher suspends the job
                ranks, whom = max(ranks, 2), "a rank"
            with self.subTest(death=death, way=way, command=command[0], ranks=ranks, signal=number.name, whom=whom):
                before = self.stored()
                job = self.start(*self.words_of(way, command, ranks, death))
                job.wait_until(lambda: len(job.ranks()) == ranks, 60)
                time.sleep(lot.uniform(0, 2))
                pids = dict(job.ranks())
                for pid in {"a rank": [pids.get(ranks - 1)], "all ranks": pids.values(), "the launcher": [job.process.pid]}[whom]:
                    try:
                        os.kill(pid, number)
                    except (ProcessLookupError, TypeError):
                        pass  # it has ended
                begin = time.monotonic()
                result = self.finished(job, way)
                took = time.monotonic() - begin
                slowest = max(slowest, took)
                self.assertLess(took, LIMIT * cli.patience(), str(result))
                self.assertNotEqual(result.code, 0, str(result))
                self.assertNotIn("internal error", result.stdout + result.stderr)
                deadline = time.monotonic() + 10
                while any(map(cli.alive, pids.values())) and time.monotonic() < deadline:
                    time.sleep(0.05)
                self.assertFalse([pid for pid in pids.values() if cli.alive(pid)], "a rank outlived the job")
                self.assertLessEqual(before.items(), self.stored().items(), "a stored run was lost")
        self.assertLessEqual(self.hung, 1 + DEATHS // 30)
        print(f"{DEATHS} deaths; {self.hung} launchers hung; the slowest job ended after {slowest:.1f} s; {len(self.stored())} runs are stored")


if __name__ == "__main__":
    cli.main()
