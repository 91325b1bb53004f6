"""`ranklab campaign` with mpirun: what a run leaves behind, and that neither a kill at any moment nor Ctrl-C
loses a job or does one twice. tests/slow/cluster/campaign_test.py does the same under Slurm.
"""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

import ranklab_cli as cli

try:
    import h5py
except ImportError:
    print("SKIPPED: h5py is not installed for this Python; ./bootstrap makes one that has it")
    sys.exit(77)

HEAD = f"[campaign]\nname = small\nmpirun-options = {' '.join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound)}\n"
IO = "[files]\ncommand = io\nscaling = strong\nranks = 1,2\nrepeat = 2\nsize = 20\nfiles = 4\nstrategy = binary\n"
# Long enough to be met at work.
SLOW = "[slow]\ncommand = io\nsize = 400\nfiles = 40\nstrategy = text-loop\nrepeat = 1\nrepetitions = 50\n"


def runs_by_job(file):
    """How many runs each job has in a collected file: the job's folder of files names it."""
    with h5py.File(file) as runs:
        settings = [json.loads(run.attrs["config_json"]) for run in runs["runs"].values()]
    return collections.Counter(pathlib.Path(one["directory"]).name.removesuffix(".files") for one in settings)


class CampaignCase(cli.Case):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "small.ini"
        self.jobs = self.folder / "campaigns" / "small" / "jobs"
        self.results = self.folder / "campaigns" / "small" / "results.h5"

    def write(self, text):
        self.file.write_text(text)

    def begin(self, verb, *words):
        return self.start(cli.RANKLAB, "campaign", verb, self.file.name, *words)

    def campaign(self, verb, *words, code=0, timeout=120):
        result = self.begin(verb, *words).finish(timeout)
        self.assertCode(result, code)
        return result

    def status(self):
        return json.loads(self.campaign("status", "--json").stdout)


class LaunchersTest(CampaignCase):
    def test_a_file_that_cannot_be_read(self):
        for make, words in ((lambda: self.file.write_text(""), "cannot read"), (self.file.unlink, "cannot read"), (self.file.mkdir, "small.ini")):
            make()
            result = self.campaign("run", code=2)
            self.assertIn(words, " ".join(result.said))
            self.assertNotIn("--config", " ".join(result.said))

    def test_verbs_ask_for_what_they_need(self):
        self.write(HEAD + IO)
        for words, expected in ((("campaign",), "COMMAND|campaign"), (("campaign", "plan"), "FILE.ini"), (("campaign", "submitt", "small.ini"), "submit")):
            result = cli.run(cli.RANKLAB, *words, cwd=self.folder)
            self.assertNotEqual(result.code, 1)
            self.assertRegex(result.stdout + result.stderr, expected)
        self.assertIn("no queue to submit to", " ".join(self.campaign("submit", code=2).said))
        self.assertIn("no job of small is done yet", " ".join(self.campaign("collect", code=2).said))

    def test_either_order_of_verb_and_file(self):
        self.write(HEAD + IO)
        for words in (("plan", "small.ini"), ("small.ini", "plan"), ("small.ini",)):
            self.assertIn("4 jobs of 2 points", cli.run(cli.RANKLAB, "campaign", *words, cwd=self.folder).stdout)

    def test_scripts_pass_shellcheck(self):
        if shutil.which("shellcheck") is None:
            self.skipTest("there is no shellcheck")
        for launcher in ("slurm", "dry"):
            with self.subTest(launcher=launcher):
                self.write(HEAD + f"launcher = {launcher}\nprologue = export SITE=1\n" + IO + "label = it's\n")
                result = cli.run(cli.RANKLAB, "campaign", "submit", self.file.name, cwd=self.folder, env=self.fake_slurm())
                self.assertCode(result, 0)
                scripts = sorted(self.jobs.glob("*.sh"))
                self.assertEqual(len(scripts), 4)
                done = subprocess.run(["shellcheck", "--severity=style", *scripts], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout)
                shutil.rmtree(self.folder / "campaigns")

    def fake_slurm(self, squeue="true", sbatch="echo 17"):
        """The environment with Slurm's commands that answer what they are told to."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        for name, text in (("squeue", squeue), ("sbatch", sbatch)):
            (tools / name).write_text(f"#!/bin/sh\n{text}\n")
            (tools / name).chmod(0o755)
        return cli.environment(PATH=f"{tools}:{os.environ['PATH']}")

    def test_slurm_that_does_not_answer(self):
        self.write(HEAD + "launcher = slurm\n" + IO)
        env = self.fake_slurm("echo cannot reach the controller; exit 1")
        for verb in ("submit", "resume", "cancel"):
            result = cli.run(cli.RANKLAB, "campaign", verb, self.file.name, cwd=self.folder, env=env)
            self.assertCode(result, 5)
            self.assertIn("Slurm does not answer", result.stderr)
        self.assertFalse(self.jobs.exists())
        result = cli.run(cli.RANKLAB, "campaign", "status", self.file.name, cwd=self.folder, env=env)
        self.assertCode(result, 0)
        self.assertIn("Slurm does not answer", result.stdout)
        self.assertIn("launcher = mpirun", " ".join(self.campaign("run", code=2).said))

    def test_a_job_that_slurm_does_not_take_keeps_none_back(self):
        self.write(HEAD + "launcher = slurm\n" + IO)
        env = self.fake_slurm(sbatch="case $* in *2r-rep*) echo 'sbatch: error: no such node' >&2; exit 1;; *) echo 17;; esac")
        result = cli.run(cli.RANKLAB, "campaign", "submit", self.file.name, cwd=self.folder, env=env)
        self.assertCode(result, 5)
        self.assertIn("2 jobs were submitted and 2 were not", result.stderr)
        self.assertIn("sbatch did not take job files-2r-rep1: sbatch: error: no such node", result.stdout)

    def test_what_slurm_says_of_jobs_is_shown(self):
        """A job that waits for a node that is down is named; one that is gone without a word is lost."""
        self.write(HEAD + "launcher = slurm\n" + IO)
        env = self.fake_slurm()
        self.assertCode(cli.run(cli.RANKLAB, "campaign", "submit", self.file.name, cwd=self.folder, env=env), 0)
        names = {job["id"]: job["queue_name"] for job in self.status()["jobs"]}
        (self.jobs / "files-1r-rep1.claim").write_text("slurm 15 0\n")
        (self.jobs / "files-1r-rep2.claim").write_text("slurm 16 0\n")
        self.fake_slurm(f"echo '17|PENDING|ReqNodeNotAvail, UnavailableNodes:n2|{names['files-2r-rep1']}'; echo '16|RUNNING|None|x'")
        result = cli.run(cli.RANKLAB, "campaign", "status", self.file.name, cwd=self.folder, env=env)
        self.assertIn("files-2r-rep1  waits (slurm 17): ReqNodeNotAvail, UnavailableNodes:n2", result.stdout)
        self.assertIn("files-1r-rep1  lost: slurm 15 0 is gone", result.stdout)
        self.assertIn("0 of 4 jobs done (1 running, 1 waiting, 1 open, 1 lost)", result.stdout)

    def test_what_slurm_holds_is_released(self):
        """After its node failed, not where its user wants it held; and only by resume."""
        self.write(HEAD + "launcher = slurm\n" + IO)
        env = self.fake_slurm()
        names = [job["queue_name"] for job in self.status()["jobs"]]
        (self.folder / "tools" / "scontrol").write_text(f"#!/bin/sh\necho $* >>{self.folder}/asked\n")
        (self.folder / "tools" / "scontrol").chmod(0o755)
        self.fake_slurm(f"echo '17|PENDING|launch failed requeued held|{names[0]}'; echo '18|PENDING|JobHeldUser|{names[1]}'")
        for verb in ("submit", "resume"):
            self.assertFalse((self.folder / "asked").exists())
            result = cli.run(cli.RANKLAB, "campaign", verb, self.file.name, cwd=self.folder, env=env)
            self.assertCode(result, 0)
        self.assertEqual((self.folder / "asked").read_text(), "release 17\n")
        self.assertIn("job 17 is released", result.stdout)


class RunningTest(CampaignCase):
    def assertWhole(self):
        state = self.status()
        self.assertEqual(state["counts"]["done"], len(state["jobs"]), json.dumps(state["counts"]))
        self.campaign("collect")
        self.assertEqual(runs_by_job(self.results), {job["id"]: 1 for job in state["jobs"]})

    def test_a_question_is_answered_by_an_interval(self):
        """The two limits are so far apart that each has one answer on any machine."""
        one = IO.replace("1,2", "1").replace("repeat = 2", "repeat = 6")
        loop = one.replace("[files]", "[slow]").replace("size = 20", "size = 600").replace("= binary", "= text-loop")
        fast = one.replace("[files]", "[fast]").replace("size = 20", "size = 600")
        for above, words in ((0.001, "worth it, since it is more than 0.001 times"), (1e5, "not worth it, since it is not more than 100000 times")):
            self.write(HEAD + f"faster = fast\nthan = slow\nworth-it-above = {above}\n" + loop + fast)
            text = " ".join(self.campaign("run").stdout.split())
            self.assertRegex(text, r"fast is [0-9.e+]+ times as fast as slow, 95 % interval [0-9.]+ \.\. [0-9.]+ \(.*, 6 and 6 jobs\): " + words)
        with h5py.File(self.results) as file:
            rates = {label: [run["samples/write_MiBps"][()].ravel()[0] for run in file["runs"].values() if run.attrs["label"].endswith(label)]
                     for label in ("fast", "slow")}
        ratio = float(re.search(r"fast is ([0-9.e+]+) times", text).group(1))
        self.assertAlmostEqual(ratio / (statistics.median(rates["fast"]) / statistics.median(rates["slow"])), 1, delta=1e-3)

    def test_a_question_counts_its_own_jobs_whatever_their_label(self):
        one = IO.replace("1,2", "1").replace("repeat = 2", "repeat = 1") + "label = mine\n"
        self.write(HEAD + "faster = a\nthan = b\n" + one.replace("[files]", "[a]") + one.replace("[files]", "[b]").replace("size = 20", "size = 40"))
        self.assertIn(", 1 and 1 jobs)", " ".join(self.campaign("run").stdout.split()))

    def test_a_question_without_runs_is_not_answered(self):
        bad = IO.replace("[files]", "[bad]").replace("ranks = 1,2", "ranks = 1") + "directory = /proc/nowhere\n"
        self.write(HEAD + "faster = bad\nthan = files\n" + bad + IO.replace("1,2", "1"))
        self.assertIn("is not known: bad has no valid run", " ".join(self.campaign("run", code=5).stdout.split()))

    def test_a_hostile_folder(self):
        self.folder = self.folder / "a b%j'$(touch pwned)"
        self.folder.mkdir()
        self.file = self.folder / "small.ini"
        self.write(HEAD + IO.replace("repeat = 2", "repeat = 1").replace("1,2", "1"))
        self.campaign("run")
        self.assertEqual(self.status()["counts"]["done"], 1)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["campaigns", "small.ini"])

    def test_a_job_that_fails_is_named_and_keeps_none_back(self):
        bad = IO.replace("[files]", "[bad]").replace("ranks = 1,2", "ranks = 1") + "directory = /proc/nowhere\n"
        self.write(HEAD + bad + IO)
        result = self.campaign("run", code=5)
        self.assertEqual(self.status()["counts"], {"done": 4, "running": 0, "waiting": 0, "open": 0, "unfinished": 0, "failed": 2, "lost": 0})
        self.assertRegex(re.sub(r"\s+", " ", result.stdout), r"bad-1r-rep1 failed, exit 2: .*/proc is on a file system that stores no files")
        self.assertIn("Next: ranklab campaign resume small.ini", result.stdout)
        self.assertIn("4 runs added", result.stdout)
        self.campaign("run", code=5)  # does not repeat what has failed
        before = (self.jobs / "bad-1r-rep1.end").read_text()
        self.campaign("resume", code=5)
        self.assertNotEqual((self.jobs / "bad-1r-rep1.end").read_text(), before)

    def test_changed_settings_are_refused(self):
        self.write(HEAD + IO)
        self.campaign("run", "--pilot")
        self.write(HEAD + IO.replace("size = 20", "size = 24"))
        for verb in ("run", "resume", "collect"):
            said = " ".join(self.campaign(verb, code=2).said)
            self.assertIn("with other settings", said)
            self.assertIn("--size 24", said)
        self.assertIn("done with other settings", re.sub(r"\s+", " ", self.campaign("status").stdout))
        self.write(HEAD + IO.replace("repeat = 2", "repeat = 1"))
        self.campaign("run")  # fewer repetitions, or more, change no job
        self.assertWhole()

    def test_another_working_folder_is_said(self):
        self.write(HEAD + IO)
        self.campaign("run", "--pilot")
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        result = cli.run(cli.RANKLAB, "campaign", "status", self.file, cwd=elsewhere)
        self.assertIn("from another working folder", result.stdout)

    def test_a_folder_that_cannot_be_made(self):
        self.write(HEAD + "folder = /proc/nowhere/x\n" + IO)
        self.assertIn("/proc/nowhere/x cannot be made", " ".join(self.campaign("run", code=5).said))
        self.write(HEAD + "folder = small.ini/x\n" + IO)
        self.assertIn("small.ini/x cannot be made", " ".join(self.campaign("run", code=5).said))

    def test_a_full_disk(self):
        self.write(HEAD + "folder = /dev/shm/ranklab-campaign-full\n" + IO)
        if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mount namespaces here")
        script = f"mount -t tmpfs -o size=16k full /dev/shm && exec {cli.RANKLAB} campaign run {self.file}"
        result = cli.run("unshare", "--mount", "sh", "-c", script, cwd=self.folder)
        self.assertCode(result, 5)
        self.assertRegex(result.stderr, "No space left|cannot be written|full")

    def test_a_dry_campaign_writes_scripts_that_run_by_hand(self):
        self.write(HEAD + "launcher = dry\n" + IO.replace("repeat = 2", "repeat = 1"))
        self.assertIn("2 scripts in", self.campaign("submit").stdout)
        self.assertEqual(self.status()["counts"]["open"], 2)
        for script in sorted(self.jobs.glob("*.sh")):
            self.assertCode(cli.run("bash", script, cwd="/"), 0)
        self.assertWhole()

    def test_scripts_started_by_many_at_once_work_once(self):
        """By hand, by Slurm, twice: the claim lets one work, and the others end well."""
        self.write(HEAD + "launcher = dry\n" + IO.replace("repeat = 2", "repeat = 1"))
        self.campaign("submit")
        started = [self.start("bash", script) for script in sorted(self.jobs.glob("*.sh")) for _ in range(6)]
        outputs = [job.finish(120) for job in started]
        self.assertEqual({result.code for result in outputs}, {0})
        self.assertEqual(sum("nothing to do" in result.stdout or "is done" in result.stdout for result in outputs), 10)
        self.assertWhole()

    def test_two_at_a_time_do_each_job_once(self):
        self.write(HEAD + IO)
        first, second = self.begin("run"), self.begin("run")
        codes = [job.finish(240).code for job in (first, second)]
        self.assertIn(0, codes)
        self.assertEqual(set(codes) - {0, 5}, set())  # the other one says that somebody is at work, if that takes long
        self.assertWhole()

    def running(self):
        return [job for job in self.status()["jobs"] if job["state"] == "running"]

    def killed_at_random(self, verb, least, most):
        job = self.begin(verb)
        time.sleep(random.uniform(least, most))
        job.process.kill()
        job.process.wait()

    def test_killed_at_random_moments_each_job_is_done_once(self):
        self.write(HEAD + IO.replace("repeat = 2", "repeat = 5"))
        self.killed_at_random("run", 0.1, 1)
        for _ in range(10):
            self.killed_at_random("resume", 0.02, 1.5)
        self.campaign("resume", timeout=300)
        self.assertWhole()

    def test_killed_jobs_are_done_again(self):
        """The script, the launcher, a rank: whoever of a job is killed."""
        self.write(HEAD + SLOW.replace("repetitions = 50", "repetitions = 3") + IO)
        for victim in ("bash", "launcher", "ranklab-io"):
            job = self.begin("resume")
            victims = lambda: self.processes(self.launcher() if victim == "launcher" else victim)
            job.wait_until(victims, 60)
            for pid in victims():
                os.kill(pid, signal.SIGKILL)
            job.finish(240)
        self.campaign("resume", timeout=240)
        self.assertWhole()

    def launcher(self):
        """What the scripts start ranks with."""
        texts = [path.read_text() for path in self.jobs.rglob("*.sh")]
        return pathlib.PurePath(re.search(r"launch=\('?([^\s')]+)", texts[0]).group(1)).name if texts else None

    def processes(self, name):
        """Those of this campaign's jobs, whose command line names its folder."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or (entry / "comm").read_text().strip() != name:
                    continue
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(self.jobs) in words:
                found.append(int(entry.name))
        return found

    def test_ctrl_c_stops_the_job_that_runs(self):
        self.write(HEAD + SLOW)
        for end, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(signal=end):
                job = self.begin("resume")
                job.wait_until(lambda: self.processes("ranklab-io"), 60)
                time.sleep(1)
                os.kill(job.process.pid, end)
                result = job.finish(60)
                self.assertCode(result, code)
                self.assertIn("ranklab campaign resume small.ini", result.stderr)
                self.assertEqual(self.processes("ranklab-io") + self.processes(self.launcher()), [])
                self.assertEqual(self.status()["counts"]["unfinished"], 1, json.dumps(self.status()))

    def test_cancel_stops_a_run(self):
        self.write(HEAD + SLOW + IO)
        job = self.begin("run")
        job.wait_until(lambda: any(one["id"].startswith("slow") for one in self.running()), 120)
        self.assertIn("1 jobs cancelled", self.campaign("cancel").stdout)
        result = job.finish(60)
        self.assertCode(result, 143)
        self.assertIn("ranklab campaign cancel", result.stderr)
        self.assertEqual(self.running(), [])

    def test_a_claim_of_another_host_is_not_taken(self):
        self.write(HEAD + IO)
        self.campaign("run", "--pilot")
        (self.jobs / "files-1r-rep2.claim").write_text("process 1 2 elsewhere\n")
        job = self.begin("resume")
        job.wait_for_stdout("process 1 2 elsewhere", 60)
        os.kill(job.process.pid, signal.SIGINT)
        self.assertCode(job.finish(60), 130)
        self.assertEqual(self.status()["counts"]["running"], 1)

    def test_a_claim_that_says_nothing_is_lost(self):
        self.write(HEAD + IO)
        self.campaign("run", "--pilot")
        for text in ("", "\n", "what", "process x y z"):
            (self.jobs / "files-1r-rep2.claim").write_text(text)
            self.assertIn(self.status()["counts"]["lost"] + self.status()["counts"]["running"], (1,))
        (self.jobs / "files-1r-rep2.claim").write_text("")
        self.campaign("resume")
        self.assertWhole()


@cli.needs_train
class CheckpointTest(CampaignCase):
    """Jobs that go on where they were stopped."""

    STEPS = 300
    TRAIN = (f"[long]\ncommand = train\nranks = 2\nrepeat = 1\nmodel = template-softmax\ndata = synthetic\nbatch-size = 8\nsteps = {STEPS}\nwarmup = 0\n"
             "evaluate = off\noverlap-steps = 0\nmemory-format = contiguous\ninject-delay = 0:forward:20\ncheckpoint = saved\ncheckpoint-every = 20\n")

    def steps_in(self, file):
        with h5py.File(file) as runs:
            return [run["samples/step_time_s"].shape[0] for run in runs["runs"].values()]

    def test_a_stopped_job_goes_on_and_counts_once(self):
        self.write(HEAD + self.TRAIN)
        saved = self.folder / "saved" / "long-2r-rep1" / "checkpoint.h5"
        job = self.begin("run")
        job.wait_until(saved.exists, 120)
        os.kill(job.process.pid, signal.SIGUSR1)
        self.assertCode(job.finish(60), 128 + signal.SIGUSR1)
        self.assertEqual(self.status()["counts"]["unfinished"], 1, json.dumps(self.status()))
        self.assertIn("no job of small is done yet", self.campaign("collect", code=2).stderr)
        (part,) = self.jobs.glob("long-2r-rep1.process-*.h5")
        before = sum(self.steps_in(part))
        self.assertGreater(before, 0)
        self.campaign("resume")
        self.assertEqual(self.steps_in(self.results), [self.STEPS - before])
        self.assertFalse(saved.parent.exists(), "what is done needs no checkpoint")
        self.campaign("collect")
        self.assertEqual(len(self.steps_in(self.results)), 1)

    def test_a_checkpoint_that_is_refused_holds_a_job_up_once(self):
        """Of a job that was killed after its last step: there is nothing left to train."""
        self.write(HEAD + self.TRAIN.replace("inject-delay = 0:forward:20\n", "").replace("ranks = 2", "ranks = 1"))
        self.campaign("run", "--pilot")
        script = (self.jobs / "long-1r-rep1.sh").read_text()
        command = re.search(r"^command=\((.*)\)$", script, re.MULTILINE).group(1)
        self.assertCode(cli.run("bash", "-c", f"{command} --output none", cwd=self.folder), 0)
        for name in ("claim", "end", "h5"):
            (self.jobs / f"long-1r-rep1.{name}").unlink()
        self.campaign("run", code=5)
        self.assertEqual(self.status()["counts"]["failed"], 1, json.dumps(self.status()))
        self.campaign("resume")
        self.assertEqual(self.steps_in(self.results)[-1:], [self.STEPS])


if __name__ == "__main__":
    cli.main()
