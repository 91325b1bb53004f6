"""`ranklab campaign` under Slurm on two hosts: from an INI to its tables, after kills and cancelled jobs. Each run is stored once."""

import collections
import json
import random
import time

import hosts
from stored_runs import stored_runs

HEAD = "[campaign]\nname = small\nlauncher = slurm\nranks-per-node = 1\n"
TRAIN = ("command = train\nranks = 1,2\nrepeat = 2\nmodel = template-softmax\ndata = synthetic\nmemory-format = contiguous\nsteps = 20\nwarmup = 2\n"
         "evaluate = off\n")
STRONG = f"[strong]\nscaling = strong\nglobal-batch-size = 32\n{TRAIN}"
FILES = "[files]\ncommand = io\nscaling = strong\nranks = 1,2\nrepeat = 2\nstrategy = mpi-scatter\nsize = 20\nfiles = 8\n"


class CampaignTest(hosts.Case):
    def campaign(self, verb, *words, code=0):
        result = self.start(self.ranklab, "campaign", verb, "small.ini", *words, env=self.env).finish(120)
        self.assertCode(result, code)
        return result

    def write(self, text):
        (self.folder / "small.ini").write_text(text)

    def jobs(self):
        return json.loads(self.campaign("status", "--json").stdout)["jobs"]

    def until(self, condition, timeout=180):
        end = time.monotonic() + timeout * hosts.cli.patience()
        while not condition(jobs := self.jobs()):
            self.assertLess(time.monotonic(), end, self.campaign("status").stdout)
            time.sleep(0.5)
        return jobs

    def idle(self, jobs):
        return all(job["queue"] is None for job in jobs)

    def counts(self):
        runs = [run for run in stored_runs(self.folder / "campaigns/small/results.h5") if run.rows and run.attrs["exit_code"] == 0]
        return collections.Counter((run.attrs["label"], len({host["host"] for host in run.hosts})) for run in runs)

    def test_from_one_file_to_the_tables(self):
        self.write(HEAD + STRONG + FILES)
        self.assertIn("strong-2n", self.campaign("plan").stdout)
        self.assertIn("4 jobs", self.campaign("submit").stdout)
        self.assertIn("0 jobs", self.campaign("submit").stdout)
        self.until(lambda jobs: all(job["done"] == job["runs"] for job in jobs))
        self.until(self.idle)
        self.assertEqual(self.counts(), {(f"small-{name}", hosts): 2 for name in ("strong", "files") for hosts in (1, 2)})
        text = self.campaign("collect").stdout
        for words in ("efficiency/core", "speedup", "small-files"): self.assertIn(words, text)

    def test_killed_and_resumed_each_run_is_there_once(self):
        self.write(HEAD + STRONG.replace("repeat = 2", "repeat = 4") + FILES.replace("repeat = 2", "repeat = 4"))
        for n in range(10):
            job = self.start(self.ranklab, "campaign", "submit" if n % 2 == 0 else "resume", "small.ini", env=self.env)
            time.sleep(random.uniform(0.005, 0.5))
            job.process.kill()
            job.process.wait()
        self.campaign("cancel")
        for _ in range(8):
            self.until(self.idle)
            if "0 jobs" in self.campaign("resume").stdout: break
        self.assertEqual(set(self.counts().values()), {4}, self.counts())

    def test_cancel_stores_what_is_measured(self):
        self.write(HEAD + STRONG.replace("steps = 20", "steps = 200000").replace("ranks = 1,2", "ranks = 2"))
        self.campaign("submit")
        self.until(lambda jobs: jobs[0]["queue"] == "RUNNING")
        time.sleep(5)
        self.assertIn("1 jobs", self.campaign("cancel").stdout)
        self.until(self.idle)
        (run,) = stored_runs(self.folder / "campaigns/small/results.h5")
        self.assertEqual(run.attrs["exit_code"], 138)


if __name__ == "__main__":
    hosts.main()
