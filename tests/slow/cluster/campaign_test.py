"""`ranklab campaign` under Slurm on two hosts: from one INI to a page, and through whatever can be killed: a host's slurmd, slurmctld,
and ranklab campaign itself. Each job is done once in the end.
"""

import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import hosts
from hosts import cli

try:
    import h5py
except ImportError:
    print("SKIPPED: h5py is not installed for this Python; ./bootstrap makes one that has it")
    sys.exit(77)

HEAD = "[campaign]\nname = small\nlauncher = slurm\n"
TRAIN = "command = train\nranks = 1,2\nranks-per-node = 1\nrepeat = 2\nmodel = template-softmax\ndata = synthetic\nsteps = 20\nwarmup = 2\n"
STRONG = f"[strong]\nscaling = strong\nglobal-batch-size = 32\n{TRAIN}"
WEAK = f"[weak]\nscaling = weak\nbatch-size = 16\n{TRAIN}"
FILES = "[files]\ncommand = io\nscaling = strong\nranks = 1,2\nranks-per-node = 1\nrepeat = 2\nstrategy = mpi-scatter\nsize = 20\nfiles = 8\n"


def runs_of(file):
    with h5py.File(file) as runs:
        return [{"hosts": [host.decode() for host in run["hosts"]["host"]], "argv": run.attrs["argv"], "valid": int(run.attrs["valid"]),
                 "config": json.loads(run.attrs["config_json"])} for run in runs["runs"].values()]


def job_of(run):
    """The results file of its attempt names the job: ID.slurm-17-0.h5."""
    return pathlib.Path(run["config"]["output"]).name.split(".")[0]


class CampaignTest(hosts.Case):
    def campaign(self, verb, *words, code=0, timeout=120):
        result = self.begin(verb, *words).finish(timeout)
        self.assertCode(result, code)
        return result

    def begin(self, verb, *words):
        return self.start(self.ranklab, "campaign", verb, "small.ini", *words, env=self.env)

    def write(self, text):
        (self.folder / "small.ini").write_text(text)

    def status(self):
        return json.loads(self.campaign("status", "--json").stdout)

    def until(self, condition, timeout=120):
        """Looks every half second; the last look is what a failure shows."""
        end = time.monotonic() + timeout * cli.patience()
        while not condition(state := self.status()):
            self.assertLess(time.monotonic(), end, json.dumps(state["counts"]) + self.campaign("status").stdout + self.squeue())
            time.sleep(0.5)
        return state

    def squeue(self):
        return subprocess.run(["squeue"], env=self.env, capture_output=True, text=True, check=False).stdout

    def assertEachOnce(self):
        self.campaign("collect")
        runs = runs_of(self.folder / "campaigns" / "small" / "results.h5")
        self.assertEqual(collections.Counter(map(job_of, runs)), {job["id"]: 1 for job in self.status()["jobs"]})
        self.assertEqual({run["valid"] for run in runs}, {1})
        return runs

    def test_from_one_file_to_a_page(self):
        self.write(HEAD + STRONG + WEAK + FILES)
        self.assertIn("12 jobs of 6 points", self.campaign("plan").stdout)
        self.assertIn("12 jobs submitted", self.campaign("submit").stdout)
        self.assertIn("0 jobs submitted", self.campaign("submit").stdout)
        self.until(lambda state: state["counts"]["done"] == 12)
        self.assertIn("12 of 12 jobs done", self.campaign("status").stdout)
        self.assertIn("about ", self.campaign("plan").stdout)
        for run in self.assertEachOnce():
            ranks = int(re.search(r"-(\d)r-", job_of(run)).group(1))
            self.assertEqual(run["hosts"] if ranks == 2 else len(run["hosts"]), ["n1", "n2"] if ranks == 2 else 1, job_of(run))
        results = self.folder / "campaigns" / "small" / "results.h5"
        for scaling in ("strong", "weak"):
            text = cli.run(self.ranklab, "report", results, "--label", f"small-{scaling}", "--group-by", "ranks", "--allow", "hosts").stdout
            for words in (f"{scaling} scaling", "efficiency", *(["speedup"] if scaling == "strong" else [])):
                self.assertIn(words, text)
        page = self.folder / "page.html"
        self.assertCode(cli.run(self.ranklab, "report", results, "--format", "html", "--output", page), 0)
        for words in ("small-strong", "small-weak", "small-files"):
            self.assertIn(words, page.read_text())

    def daemon(self, name):
        return int((self.shared / "hosts" / f"{name}.pid").read_text())

    def start_again(self, name):
        subprocess.run([hosts.TWO_HOSTS, "start", self.shared / "hosts", name], check=True, capture_output=True)

    def killed(self, verb):
        job = self.begin(verb)
        time.sleep(random.uniform(0.005, 0.5))
        job.process.kill()
        job.process.wait()

    def slurm(self, *words):
        subprocess.run(["scontrol", *words], env=self.env, capture_output=True, check=False)

    def at_rest(self, state):
        """Nothing runs, and what waits is what Slurm holds back. A job whose node was lost need not wait its two minutes."""
        waiting = [job for job in state["jobs"] if job["state"] == "waiting"]
        for job in waiting:
            if job["sentence"] == "BeginTime":
                self.slurm("update", f"jobid={job['queue_number']}", "StartTime=now")
        if waiting and state["counts"]["running"] == 0:
            self.slurm("update", "nodename=n1,n2", "state=resume")  # it may have lost one since
        return state["counts"]["running"] == 0 and all(job["sentence"].startswith("launch failed") for job in waiting)

    def finish(self):
        """Resumes until all is done; a job whose node was down fails, and is begun again."""
        for _ in range(8):
            # What an administrator does after such a day: Slurm takes a node out when its own state does not fit.
            self.slurm("update", "nodename=n1,n2", "state=resume")
            self.campaign("resume")
            state = self.until(self.at_rest)
            if state["counts"]["done"] == len(state["jobs"]):
                return
        self.fail(self.campaign("status").stdout)

    def test_killed_at_random_moments_with_its_hosts_and_its_slurm(self):
        work = "steps = 200\nbatch-size = 16\nscaling = weak\n"
        self.write(HEAD + "[weak]\n" + TRAIN.replace("steps = 20\n", "").replace("repeat = 2", "repeat = 6") + work + FILES.replace("repeat = 2", "repeat = 6"))
        events = {8: lambda: os.kill(self.daemon("slurmd-n2"), signal.SIGKILL), 20: lambda: os.kill(self.daemon("slurmctld"), signal.SIGKILL),
                  24: lambda: self.start_again("slurmctld"), 40: lambda: self.start_again("n2")}
        for n in range(50):
            events.get(n, lambda: None)()
            if n == 21:
                self.assertIn("Slurm does not answer", self.campaign("submit", code=5).stderr)
            self.killed("submit" if n % 2 == 0 else "resume")
        self.finish()
        self.assertEachOnce()

    def test_a_requeued_job_is_done_once(self):
        """Slurm begins the same job anew under the same number, in its middle."""
        self.write(HEAD + WEAK.replace("steps = 20", "steps = 3000").replace("1,2", "2").replace("repeat = 2", "repeat = 1"))
        self.campaign("submit")
        state = self.until(lambda state: state["counts"]["running"] == 1)
        number = state["jobs"][0]["where"].split()[1]
        claim = self.folder / "campaigns" / "small" / "jobs" / "weak-2r-rep1.claim"
        self.until(lambda _: claim.exists() and claim.read_text() == f"slurm {number} 0\n")
        self.slurm("requeue", number)
        self.until(lambda state: state["counts"]["waiting"] == 1)
        self.assertIn("0 jobs submitted", self.campaign("resume").stdout)
        self.slurm("update", f"jobid={number}", "StartTime=now")  # not after two minutes
        self.until(lambda state: state["counts"]["done"] == 1, 240)
        self.assertEqual(claim.read_text(), f"slurm {number} 1\n")
        self.assertEachOnce()

    def test_cancel_and_the_time_limit(self):
        """A job that is stopped stores what it has, is unfinished, and is begun again."""
        self.write(HEAD + WEAK.replace("steps = 20", "steps = 200000").replace("1,2", "2").replace("repeat = 2", "repeat = 2") + "time = 5\n")
        self.campaign("submit")
        self.until(lambda state: state["counts"]["running"] >= 1)
        time.sleep(3)
        self.assertIn("2 jobs cancelled", self.campaign("cancel").stdout)
        state = self.until(lambda state: state["counts"]["waiting"] + state["counts"]["running"] == 0)
        self.assertGreaterEqual(state["counts"]["unfinished"], 1, self.campaign("status").stdout)
        self.assertEqual(state["counts"]["lost"] + state["counts"]["failed"], 0, self.campaign("status").stdout)
        script = next((self.folder / "campaigns" / "small" / "jobs").glob("*.sh")).read_text()
        self.assertIn("#SBATCH --signal=B:USR1@60", script)

    def test_a_job_that_never_starts_is_named_and_keeps_none_back(self):
        self.write(HEAD + FILES.replace("[files]", "[stuck]").replace("ranks = 1,2", "ranks = 4") + FILES)  # four nodes of two
        self.campaign("submit")
        state = self.until(lambda state: state["counts"]["done"] == 4)
        self.assertEqual(state["counts"]["waiting"], 2)
        self.assertRegex(self.campaign("status").stdout, r"stuck-4r-rep1  waits \(slurm \d+\): \w+")
        self.assertIn("2 jobs cancelled", self.campaign("cancel").stdout)

    def test_a_hostile_folder(self):
        self.folder = self.folder / "a b%j'$(touch pwned)\"x"
        self.folder.mkdir()
        self.write(HEAD + FILES.replace("repeat = 2", "repeat = 1"))
        self.campaign("submit")
        self.until(lambda state: state["counts"]["done"] == 2)
        self.assertEachOnce()
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["campaigns", "small.ini"])


if __name__ == "__main__":
    hosts.main()
