"""Does `ranklab vet` name a slow node or link, and nothing where none is slow? On 4 ranks as nodes and on two hosts (two_hosts.sh), one culprit
at a time:

  cpu        a node gets 70 % of its undisturbed share of CPU (a quota)
  neighbour  another process computes on the node
  writes     each write of a node takes --write-us longer
  link       the bandwidth of a pair is a tenth; on two hosts of the only pair, after five vets of the shaped link
  none       the two hosts' vets are compared with those before them, too

Each run is appended to --log as a line of JSON, and runs that are there already are not repeated: a start may last --minutes and go on later.
Exit code 4 unless each culprit is named in 95 % of its runs and at most 1 in 30 of the others is a false alarm; needs root, and cgroup v1."""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import ranklab_cli as cli  # noqa: E402

CULPRITS = ("cpu", "neighbour", "writes", "link", "none")
NODES = "/sys/fs/cgroup/cpu/ranklab-vet-node"
TWO_HOSTS = SUPPORT / "two_hosts.sh"
SHAPED, SLOW_LINK = "1gbit", "100mbit"
PAST, PERIOD_US = 5, 10000


class Place:
    """Where vets run. `until` removes what a place needs; `share`: cores of a rank, undisturbed."""

    def __init__(self, until, folder, launch, words, names, share):
        self.folder, self.launch, self.words, self.names, self.share = folder, launch, words, names, share
        self.env = cli.environment(RANKLAB_SYSTEM_ROOT="/", LD_PRELOAD=folder / "culprit.so", RANKLAB_NODES=NODES)
        subprocess.run(["mpicc", "-shared", "-fPIC", "-O1", "-o", folder / "culprit.so", SUPPORT / "culprit.c"], check=True)
        for rank in range(len(names)):
            pathlib.Path(f"{NODES}{rank}").mkdir(exist_ok=True)
            until.callback(pathlib.Path(f"{NODES}{rank}").rmdir)

    def vet(self, file, env=None):
        begin = time.monotonic()
        words = ("vet", *self.words, "--format", "json", "--quiet", "--output", file)
        done = subprocess.run([str(word) for word in (*self.launch, cli.RANKLAB, *words)], capture_output=True, text=True, cwd=self.folder,
                              env={name: str(value) for name, value in {**self.env, **(env or {})}.items()})
        try:
            return json.loads(done.stdout), time.monotonic() - begin
        except json.JSONDecodeError:
            sys.exit(f"vet failed:\n{done.stdout}{done.stderr}")


class Ranks(Place):
    def __init__(self, until, folder, words):
        names = [f"{socket.gethostname()} rank {rank}" for rank in range(4)]
        super().__init__(until, folder, (), ("--ranks", 4, *words), names, min(1, os.cpu_count() / 4))
        done = cli.run("mpirun", "--oversubscribe", "-n", 4, cli.RANKLAB, "comm", "--op", "pairs", "--rounds", 20, "--max-bytes", "1M", "--json", "--quiet",
                       "--output", "none", cwd=folder, env={name: str(value) for name, value in self.env.items()})
        rates = sorted(json.loads(done.stdout)["runs"][0]["tables"]["pairs"]["bandwidth_GBps"])
        self.more_ns_per_kib = int(9 * 1024 / rates[len(rates) // 2])

    def slow_link(self, draw):
        a, b = draw.sample(range(4), 2)
        return contextlib.nullcontext({"RANKLAB_SLOW_LINK": f"{a} {b} {self.more_ns_per_kib}"}), {self.names[a], self.names[b]}


class Hosts(Place):
    def __init__(self, until, folder, words):
        super().__init__(until, folder, ("salloc", "-Q", "-N2", "-n2", "-c1"), ("--threads", 1, *words), ["n1", "n2"], 1)
        self.hosts = folder / "hosts"
        done = subprocess.run([TWO_HOSTS, "up", self.hosts], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        until.callback(subprocess.run, [TWO_HOSTS, "down", self.hosts], stderr=subprocess.DEVNULL)
        self.env |= {"SLURM_CONF": self.hosts / "slurm.conf", "RANKLAB_PIN": "1"}
        self.shape(SHAPED)

    def shape(self, rate):
        subprocess.run([TWO_HOSTS, "shape", self.hosts, rate], check=True)

    @contextlib.contextmanager
    def shaped(self):
        self.shape(SLOW_LINK)
        try:
            yield {}
        finally:
            self.shape(SHAPED)

    def slow_link(self, draw):
        past = self.folder / "past.h5"
        while not past.exists() or len(list(self.folder.glob("past-*"))) < PAST:
            self.vet(past)
            (self.folder / f"past-{time.time()}").touch()
        return self.shaped(), {"n1", "n2"}


@contextlib.contextmanager
def quota(place, rank):
    file = pathlib.Path(f"{NODES}{rank}")
    (file / "cpu.cfs_period_us").write_text(str(PERIOD_US))
    (file / "cpu.cfs_quota_us").write_text(str(int(0.7 * place.share * PERIOD_US)))
    try:
        yield {}
    finally:
        (file / "cpu.cfs_quota_us").write_text("-1")


@contextlib.contextmanager
def neighbour(place, rank):
    core = ("taskset", "-c", str(rank)) if isinstance(place, Hosts) else ()
    other = subprocess.Popen([*core, sys.executable, "-c", "while True: pass"])
    pathlib.Path(f"{NODES}{rank}/cgroup.procs").write_text(str(other.pid))
    try:
        yield {}
    finally:
        other.kill()
        other.wait()


def one_run(place, culprit, draw, given):
    """Returns a line of the log."""
    rank = draw.randrange(len(place.names))
    slow, env = {place.names[rank]}, contextlib.nullcontext({})
    file = place.folder / f"{type(place).__name__}-{culprit}-{draw.random()}.h5"
    if culprit == "cpu":
        env = quota(place, rank)
    elif culprit == "neighbour":
        env = neighbour(place, rank)
    elif culprit == "writes":
        env = contextlib.nullcontext({"RANKLAB_SLOW_WRITES": f"{rank} {given.write_us}"})
    elif culprit == "link":
        env, slow = place.slow_link(draw)
        if (place.folder / "past.h5").exists():
            shutil.copy(place.folder / "past.h5", file)
    else:
        slow, file = set(), place.folder / "none.h5"
    with env as changes:
        report, seconds = place.vet(file, changes)
    if culprit != "none":
        file.unlink()
    found = [[one["kind"], one["names"], one["measure"], round(one["effect"], 3)] for one in report["findings"]]
    return {"seconds": round(seconds, 1), "rounds": report["rounds"], "slow": sorted(slow), "failed": report["failed"],
            "named": any(set(names) == slow for _, names, *_ in found),
            "others": sum(not set(names) <= slow and not (culprit != "link" and slow & set(names)) for _, names, *_ in found), "found": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--where", default="ranks,hosts")
    parser.add_argument("--culprits", default=",".join(CULPRITS))
    parser.add_argument("--runs", type=int, default=40, help="of each culprit")
    parser.add_argument("--quiet-runs", type=int, default=60, help="without a culprit")
    parser.add_argument("--write-us", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--log", type=pathlib.Path, required=True)
    parser.add_argument("--scratch", default="/var/tmp", help="not below /tmp, which each host has of its own")
    parser.add_argument("vet", nargs="*", help="options of vet, after --")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    end, missed = time.monotonic() + 60 * given.minutes, []
    given.log.touch()
    for where in given.where.split(","):
        place = None
        with contextlib.ExitStack() as until:
            folder = pathlib.Path(until.enter_context(tempfile.TemporaryDirectory(dir=given.scratch, ignore_cleanup_errors=True)))
            for culprit in given.culprits.split(","):
                wanted = given.quiet_runs if culprit == "none" else given.runs
                known = [one for one in map(json.loads, given.log.read_text().splitlines()) if (one["where"], one["culprit"]) == (where, culprit)]
                while len(known) < wanted and time.monotonic() < end:
                    place = place or {"ranks": Ranks, "hosts": Hosts}[where](until, folder, given.vet)
                    line = {"where": where, "culprit": culprit, **one_run(place, culprit, random.Random(f"{where} {culprit} {len(known)}"), given)}
                    known.append(line)
                    with given.log.open("a") as log:
                        log.write(json.dumps(line) + "\n")
                    print(json.dumps(line), flush=True)
                if not known:
                    continue
                named, alarms = sum(one["named"] for one in known), sum(one["others"] > 0 for one in known)
                print(f"{where}, {culprit}: named in {named}, others in {alarms} of {len(known)} runs, {max(one['seconds'] for one in known):.0f} s at most; "
                      f"by {dict(collections.Counter(one[2] for run in known for one in run['found']))}", flush=True)
                if (culprit != "none" and named < 0.95 * len(known)) or (culprit == "none" and 30 * alarms > len(known)):
                    missed.append(f"{where}, {culprit}")
    if missed:
        print("missed: " + "; ".join(missed))
        sys.exit(4)


if __name__ == "__main__":
    main()
