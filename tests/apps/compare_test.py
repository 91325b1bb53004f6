"""ranklab compare: which runs are the sides, what is refused, what is found, and a gate that measures for itself."""

import json
import os
import random
import shutil
import subprocess

import ranklab_cli as cli
import results_files as made
from ranklab_cli import RANKLAB, SOURCE, Case, ranklab

GATE = SOURCE / "docs" / "integration" / "ci_gate.sh"


def noisy(centre, n, seed, spread=0.02):
    source = random.Random(seed)
    return [centre * source.lognormvariate(0, spread) for _ in range(n)]


def near(centre, n):
    """No two alike, and together within a hundredth."""
    return [centre * (1 + 0.001 * i) for i in range(n)]


class Comparing(Case):
    def file(self, name, medians, turn=0, **changes):
        return made.write(self.folder / name, made.step_times(medians, turn, 2, **changes))

    def two(self, medians_a, medians_b, **changes_of_b):
        """A and B, measured in turn."""
        return self.file("a.h5", medians_a, 0), self.file("b.h5", medians_b, 1, **changes_of_b)

    def compare(self, *words):
        return ranklab("compare", *words, cwd=self.folder)

    def json(self, *words, code=0):
        result = self.compare(*words, "--format", "json")
        self.assertCode(result, code)
        self.assertSchema("compare", result.stdout)
        return json.loads(result.stdout)


class Verdicts(Comparing):
    def test_an_injected_slowdown_is_found_with_the_runs_recommended(self):
        pilot = self.json(*self.two(noisy(0.1, 5, 1, 0.05), noisy(0.1, 5, 2, 0.05)))["groups"][0]["rows"][0]
        self.assertEqual(pilot["verdict"], "too noisy")
        runs = pilot["runs_needed"]
        self.assertGreater(runs, 5)
        files = self.two(noisy(0.1, runs, 3, 0.05), noisy(0.105, runs, 4, 0.05))
        self.assertEqual(self.json(*files)["groups"][0]["rows"][0]["verdict"], "worse")
        result = self.compare(*files, "--fail-on-regression", "3%")
        self.assertCode(result, 4)
        self.assertRegex(result.stdout, r"(?m)^  step_time_s .* worse\b")
        self.assertRegex(result.stdout, r"(?m)^Gate: failed \(exit 4\): worse: step_time_s by \d")

    def test_five_per_cent_are_found_where_three_matter(self):
        result = self.compare(*self.two(noisy(0.1, 12, 5, 0.01), noisy(0.105, 12, 6, 0.01)), "--fail-on-regression", "3%")
        self.assertCode(result, 4)

    def test_equal_sides_are_the_same_and_pass(self):
        result = self.compare(*self.two(noisy(0.1, 12, 5, 0.01), noisy(0.1, 12, 6, 0.01)), "--fail-on-regression", "5%")
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^Verdict: same: 1 row the same$")
        self.assertRegex(result.stdout, r"(?m)^Gate: passed$")
        self.assertEqual(result.said, [])

    def test_a_file_against_itself_is_the_same(self):
        path = self.file("a.h5", near(0.1, 6))
        result = self.compare(path, path)
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^Verdict: same: A and B are the same runs")

    def test_four_runs_a_side_are_too_few(self):
        files = self.two(near(0.1, 4), near(0.2, 4))
        row = self.json(*files)["groups"][0]["rows"][0]
        self.assertEqual((row["verdict"], row["n_a"], row["p_holm"]), ("too few runs", 4, None))
        result = self.compare(*files, "--fail-on-regression", "5%")
        self.assertCode(result, 0)
        self.assertIn("Gate: passed WITHOUT KNOWING", result.stdout)
        self.assertIn("warning: the gate passed WITHOUT KNOWING", result.stderr)
        self.assertCode(self.compare(*files, "--fail-on-regression", "5%", "--inconclusive", "fail"), 7)

    def test_faster_is_better_and_no_failure(self):
        result = self.compare(*self.two(near(0.2, 6), near(0.1, 6)), "--fail-on-regression", "5%", "--inconclusive", "fail")
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^Verdict: better: 1 row better$")

    def test_without_a_gate_a_regression_is_no_failure(self):
        result = self.compare(*self.two(near(0.1, 6), near(0.2, 6)))
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^Verdict: worse: 1 row worse$")
        self.assertNotIn("Gate:", result.stdout)

    def test_one_block_after_the_other_is_noted(self):
        a, b = self.file("a.h5", near(0.1, 5)), self.file("b.h5", near(0.1, 5), 30)
        self.assertIn("all runs of A were before all of B", self.compare(a, b).stdout)
        self.assertNotIn("were before", self.compare(*self.two(near(0.1, 5), near(0.1, 5))).stdout)

    def test_every_form_has_the_same_numbers(self):
        files = self.two(near(0.1, 6), near(0.125, 6))
        row = self.json(*files, "--fail-on-regression", "5%", code=4)["groups"][0]["rows"][0]
        self.assertAlmostEqual(row["ratio"], 1.25)
        self.assertIn(" 1.2500 ", self.compare(*files).stdout)
        self.assertIn("| +25.0 % (", self.compare(*files, "--format", "markdown").stdout)

    def test_runs_that_do_not_stand_are_left_out_and_counted(self):
        runs = made.step_times(near(0.1, 9), 1, 2)
        runs[0]["valid"], runs[1]["exit_code"], runs[2]["checks"], runs[3]["checks"] = 0, 7, ["failed"], ["not verified"]
        a, b = self.file("a.h5", near(0.1, 5)), made.write(self.folder / "b.h5", runs)
        said = self.json(a, b)
        self.assertEqual(said["groups"][0]["rows"][0]["n_b"], 5)
        self.assertEqual({one["reason"]: one["runs"] for one in said["b"]["left_out"]},
                         {"invalid": 1, "not converged or cache-tainted": 1, "verification failed": 1, "not verified": 1})
        self.assertEqual(self.json(a, b, "--with-unverified")["groups"][0]["rows"][0]["n_b"], 6)
        for run in runs:
            run["valid"] = 0
        made.write(b, runs)
        self.assertSays(self.compare(a, b), 7, "has no run that could be compared")


class Refusals(Comparing):
    def test_settings_that_differ_are_named_with_both_values(self):
        config = {"model": "mnist-cnn", "batch-size": 32, "lr": 0.1, "seed": 2, "new-flag": "false"}
        files = self.two(near(0.1, 5), near(0.1, 5), config=config)
        result = self.compare(*files)
        self.assertSays(result, 2, "batch-size (A: 64; B: 32)", "lr (A: 0.7; B: 0.1)", "these may differ: batch-size,lr", "--allow")
        self.assertEqual(result.stdout, "")
        self.assertNotIn("seed", result.stderr)
        self.assertNotIn("new-flag", result.stderr)
        self.assertSays(self.compare(*files, "--allow", "lr", "--format", "json"), 2, "batch-size (A: 64; B: 32)")
        differing = self.json(*files, "--allow", "lr,batch-size")["groups"][0]["differing"]
        self.assertEqual([(one["key"], one["a"], one["b"], one["allowed"]) for one in differing],
                         [("batch-size", ["64"], ["32"], True), ("lr", ["0.7"], ["0.1"], True)])

    def test_surroundings_that_differ_are_named(self):
        files = self.two(near(0.1, 5), near(0.1, 5), hosts=[(0, 0, "node02", "0-3", "cpu"), (1, 1, "node02", "4-7", "cpu")],
                         context={"host": {"cpu": "EPYC", "kernel": "6.5"}, "libraries": {"libtorch": "2.12.0"}})
        self.assertSays(self.compare(*files), 2, "hosts (A: node01; B: node02)", "ranks (A: 1; B: 2)", "host.cpu (A: A64FX; B: EPYC)",
                        "libraries.libtorch (A: 2.11.0; B: 2.12.0)")
        result = self.compare(*files, "--allow", "host,ranks,host.cpu,libtorch")
        self.assertCode(result, 0)
        self.assertIn("allowed to differ: hosts (A: node01; B: node02)", result.stdout)
        self.assertIn("# differs: host.kernel (A: 6.1; B: 6.5)", result.stdout)

    def test_another_command_is_nothing_in_common(self):
        self.assertSays(self.compare(*self.two(near(0.1, 5), near(0.1, 5), command="io")), 2, "runs of train and B of io")

    def test_files_that_are_none(self):
        good = self.file("good.h5", near(0.1, 5))
        bad = {"empty.h5": b"", "text.h5": b"step_time_s 0.1\n", "cut.h5": good.read_bytes()[:3000]}
        for name, content in bad.items():
            (self.folder / name).write_bytes(content)
            for words in ((good, name), (name, good)):
                self.assertSays(self.compare(*words, "--format", "json"), 3, name)
        self.assertSays(self.compare(good, "missing.h5"), 2, "missing.h5")
        self.assertSays(self.compare(good, made.write(self.folder / "none.h5", [])), 2, "none.h5 holds no runs")

    def test_hostile_texts_stay_in_their_place(self):
        nasty = "\x1b[31m|<b>`\n\u202e" + 2000 * "x"
        files = self.two(near(0.1, 5), near(0.1, 5), config={"model": nasty}, label=nasty)
        self.assertSays(self.compare(*files), 2, "model (A: mnist-cnn; B: ")
        same = made.write(self.folder / "c.h5", made.step_times(near(0.1, 5), config={"model": nasty}, label=nasty))
        result = self.compare(same, same)
        self.assertCode(result, 0)
        self.assertNotIn("\x1b", result.stdout)
        self.json(same, same)

    def test_options_that_cannot_be(self):
        files = self.two(near(0.1, 5), near(0.1, 5))
        self.assertSays(self.compare(files[0]), 2, "two sides")
        for value in ("5", "0%", "-1%", "100%", "x%", "%"):
            self.assertSays(self.compare(*files, "--smallest=" + value), 2, "--smallest", "per cent")
        self.assertSays(self.compare(*files, "--smallest", "2%", "--fail-on-regression", "5%"), 2, "leave --smallest out")
        self.assertSays(self.compare(*files, "--measure", "step_tim_s"), 2, "did you mean step_time_s")
        self.assertSays(self.compare(*files, "--where", "model"), 2, "is no condition")
        self.assertSays(self.compare(*files, "--where", "model=none"), 2, "meets model=none", "--where")


class Sides(Comparing):
    def setUp(self):
        super().setUp()
        runs = (made.step_times(near(0.1, 5), 0, 2, label="old", git_revision="aaaaaaaaaaaa")
                + made.step_times(near(0.2, 5), 1, 2, label="new", git_revision="bbbbbbbbbbbb-dirty")
                + made.step_times(near(0.4, 5), 20, 1, label="aaaa", git_revision="cccccccccccc", config={"model": "other"}))
        self.store = made.write(self.folder / "store.h5", runs)

    def ratio(self, *words):
        return round(self.json(*words)["groups"][0]["rows"][0]["ratio"], 3)

    def test_labels_and_revisions_of_one_file(self):
        for words in (("label:old", "label:new"), ("rev:aaaa", "rev:bbbbbbbbbbbb"), ("old", "new"), ("old", "rev:" + 40 * "b"), ("old", "bbbb")):
            with self.subTest(words=words):
                self.assertEqual(self.ratio("--file", self.store, *words), 2.0)

    def test_one_run_a_side_has_no_verdict(self):
        ids = [run["id"] for run in made.step_times(near(0.1, 2), 0, 1)]
        result = self.compare("--file", self.store, *("id:" + one for one in ids))
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^Verdict: inconclusive: 1 row with too few runs \(5 a side at least\)$")

    def test_a_word_that_may_be_two_things(self):
        self.assertSays(self.compare("--file", self.store, "old", "aaaa"), 2, "label:aaaa (5 runs) or rev:aaaa (5 runs)")
        (self.folder / "old").write_text("a file of that name")
        self.assertSays(self.compare("--file", self.store, "old", "new"), 2, "file:old or label:old (5 runs)")
        self.assertEqual(self.ratio("--file", self.store, "label:old", "new"), 2.0)

    def test_what_matches_nothing_says_what_there_is(self):
        for word in ("nothing", "label:nothing", "rev:dddd"):
            self.assertSays(self.compare("--file", self.store, "old", word), 2, word, "aaaa, new, old", "aaaaaaaaaaaa, bbbbbbbbbbbb-dirty")
        self.assertSays(self.compare("old", "new"), 2, "'old' is no file", "results/ranklab.h5")

    def test_the_default_file(self):
        (self.folder / "results").mkdir()
        shutil.copy(self.store, self.folder / "results" / "ranklab.h5")
        self.assertEqual(self.ratio("old", "new"), 2.0)

    def test_where_narrows_both_sides(self):
        result = self.compare(self.store, self.store, "--where", "model=mnist-cnn", "--where", "git_revision=aaaa*", "--format", "json")
        self.assertEqual(json.loads(result.stdout)["a"]["runs"], 5)
        self.assertSays(self.compare("--file", self.store, "old", "label:aaaa"), 2, "model (A: mnist-cnn; B: other)")


class Gate(Case):
    """The script of docs/integration on a repository with two revisions, of which the second writes slowly."""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        self.git("init", "--quiet")
        self.commit(f'exec "{RANKLAB}" "$@"\n', "fast")

    def git(self, *words):
        env = dict(os.environ, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)
        who = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "safe.directory=*")
        subprocess.run(["git", *who, *words], cwd=self.repository, env=env, check=True, capture_output=True)

    def commit(self, program, message):
        """A revision whose program is that shell script; building it is copying it."""
        (self.repository / "program.sh").write_text("#!/bin/bash\n" + program)
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", message)

    def gate(self, *words, measured=("io", "--strategy", "binary", "--files", 3, "--size", 8, "-i", 3, "--ceilings", "off")):
        build = ("--build", "install -D program.sh bin/ranklab", "--programs", "bin", "--work", self.folder / "work")
        return cli.run(GATE, *build, *words, "--", *measured, cwd=self.repository, timeout=120)

    def slow_writes(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        source, library = self.folder / "slow.c", self.folder / "slow.so"
        source.write_text("#include <sys/syscall.h>\n#include <sys/uio.h>\n#include <unistd.h>\n"
                          "ssize_t writev(int to, const struct iovec* parts, int count) {\n"
                          "  usleep(20000);\n  return syscall(SYS_writev, to, parts, count);\n}\n")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        return library

    def test_a_slower_revision_fails_the_gate(self):
        self.commit(f'LD_PRELOAD="{self.slow_writes()}" exec "{RANKLAB}" "$@"\n', "slow")
        result = self.gate("--base", "HEAD~1", "--runs", 5, "--report", "report.md")
        self.assertCode(result, 4)
        self.assertRegex(result.stdout, r"(?m)^  job_time_s .* worse\b")
        self.assertIn("Gate failed", (self.repository / "report.md").read_text())
        with made.h5py.File(self.repository / "gate.h5") as file:
            labels = [run.attrs["label"] for run in file["runs"].values()]
        base, head = "gate-base", "gate-head"
        self.assertEqual(labels, [base, head, head, base, base, head, head, base, base, head])

    def test_what_cannot_be_measured_fails(self):
        self.commit("exit 9\n", "broken")
        self.assertIn("a run of head failed", self.gate("--base", "HEAD~1").stderr)
        (self.repository / "gate.h5").unlink(missing_ok=True)
        for words, code, said in ((("--base", "nothing"), 2, "nothing is no revision"), ((), 2, "--base"), (("--base", "HEAD", "--runs", "0"), 2, "--runs 0"),
                                  (("--base", "HEAD", "--build", "false"), 1, "could not be built"), (("--bose", "HEAD"), 2, "--bose")):
            result = self.gate(*words)
            self.assertCode(result, code)
            self.assertIn(said, result.stderr)
        (self.repository / "gate.h5").write_text("")
        self.assertIn("gate.h5 is there already", self.gate("--base", "HEAD").stderr)


if __name__ == "__main__":
    cli.main()
