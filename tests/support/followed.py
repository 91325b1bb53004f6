"""Follows advice of `ranklab report --why`: the share of the time per sample that each advised option saves, beside what was printed."""

import json
import os
import pathlib
import statistics
import subprocess
from dataclasses import dataclass

os.environ.setdefault("RANKLAB_SYSTEM_ROOT", "/")  # the tests' environment hides the load by other processes

import ranklab_cli as cli  # noqa: E402
from provoked import BOUND_TO_A_CORE, CNN, FREE, MNIST, ONE, TWO_CORES, burning  # noqa: E402

EXCLUSIVE = ("sbatch --exclusive", "end the other processes")


@dataclass
class Slowed:
    """A training run with one cause."""

    words: tuple
    launch: tuple = ()  # options of mpirun; none: without mpirun
    ranks: int = 1
    before: tuple = ()  # words before the launcher, as taskset
    evidence: tuple = ()  # (ranks, command words) of runs that go into the same file first
    preload: pathlib.Path = None  # source of a library


RESNET = ("--model", "resnet18", "--data", "synthetic", "--batch-size", 2, "--width", 4, "--steps", 40, *ONE)
CALLS = ("--op", "allreduce", "-b", "4K", "-e", "4M", "-n", 10, "-w", 2, "--place", "in-place")
SLOWED = {
    "batch": Slowed((*MNIST, "--batch-size", 1, "--steps", 300, *ONE)),
    "workers": Slowed((*CNN, "--loader-cost-us", 1000, "--batch-size", 16, "--workers", 0, "--steps", 80, *ONE), before=TWO_CORES),
    "threads": Slowed((*MNIST, "--batch-size", 64, "--steps", 40, *ONE), before=TWO_CORES),
    "cores": Slowed((*CNN, "--batch-size", 64, "--steps", 120, "--threads", 2), launch=BOUND_TO_A_CORE),
    "ranks": Slowed((*CNN, "--batch-size", 32, "--steps", 240, *ONE), launch=("--oversubscribe", *FREE), ranks=4, before=TWO_CORES),
    "buckets": Slowed((*RESNET, "--bucket-cap-mb", 0.05), launch=FREE, ranks=2, preload=cli.SOURCE / "tests" / "support" / "slow_calls.c",
                      evidence=((1, "train", *RESNET, "--profile", "layers"), (1, "train", *RESNET), (2, "comm", *CALLS))),
    "other load": Slowed((*CNN, "--batch-size", 64, "--steps", 120, *ONE), launch=FREE, ranks=2, before=TWO_CORES),
}
QUIET = ("batch", "workers", "threads", "cores", "ranks", "buckets")
DISTURBED = ("batch", "workers", "cores", "ranks", "buckets", "other load")  # by a process that keeps a core busy


class Trial:
    """One case in its own folder."""

    def __init__(self, case, folder, burners=0):
        self.case, self.folder, self.burners, self.before = case, folder, burners, case.before
        if case.preload:
            library = folder / "preloaded.so"
            subprocess.run(["mpicc", "-shared", "-fPIC", "-O1", "-o", library, case.preload], check=True)
            self.before = ("env", f"LD_PRELOAD={library}")
        for ranks, *words in case.evidence:
            self.start(*words, "--output", "r.h5", launch=FREE if ranks > 1 else (), ranks=ranks)

    def start(self, *words, launch=(), ranks=1, burners=None):
        command = [*(("mpirun", "-n", ranks, *launch) if launch else ()), cli.RANKLAB, *words, "--quiet"]
        with burning(self.burners if burners is None else burners):
            done = cli.run(*self.before, *command, timeout=300, cwd=self.folder)
        if done.code != 0:
            raise RuntimeError(str(done))

    def rate(self, *more, launch=None, ranks=None, burners=None, output="t.h5"):
        """Trains with further options; returns samples/s: all samples / all time."""
        self.start("train", *self.case.words, *more, "--output", output, launch=self.case.launch if launch is None else launch,
                   ranks=ranks or self.case.ranks, burners=burners)
        shown = cli.ranklab("report", output, "--last", 1, "--format", "json", cwd=self.folder)
        (rate,) = [one["mean"] for one in json.loads(shown.stdout)["runs"][0]["measurements"] if one["name"] == "throughput_samples_per_s"]
        return rate

    def diagnosed(self):
        """The diagnosis of a run of the case."""
        self.rate(output="r.h5")
        return json.loads(cli.ranklab("report", "r.h5", "--why", "--format", "json", cwd=self.folder).stdout)

    def follow(self, option):
        words = option.split()
        if option in EXCLUSIVE:
            return self.rate(burners=0)
        if words[0] != "mpirun":
            return self.rate(*words)
        if words[1] == "-n":
            return self.rate(ranks=int(words[2]), launch=words[3:] or self.case.launch)
        return self.rate(launch=words[1:])

    def saved(self, option, rounds):
        """Percent of the time per sample; runs before and after alternate."""
        before, after = zip(*((self.rate(), self.follow(option)) for _ in range(rounds)))
        return 100 * (1 - statistics.median(before) / statistics.median(after))


def printed(advice):
    """What was printed of a saving: (at least, at most) in percent; None where it has no such bound."""
    return advice.get("at_least_percent"), advice.get("at_most_percent")


def holds(advice, saved):
    """Whether the saving lies in the printed range, or below a bound of at most twice the saving; None where no number was printed."""
    low, high = printed(advice)
    if high is None:
        return None
    return low <= saved <= high if low is not None else saved <= high <= 2 * saved
