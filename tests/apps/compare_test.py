"""ranklab compare: the choice of runs for each side, refusals, verdicts, and the gate."""

import json
import random
import shutil

import ranklab_cli as cli
import results_files as made
from ranklab_cli import Case, ranklab


def noisy(centre, n, seed, spread=0.01):
    source = random.Random(seed)
    return [centre * source.lognormvariate(0, spread) for _ in range(n)]


def near(centre, n):
    """Different values within 1 % of each other."""
    return [centre * (1 + 0.001 * i) for i in range(n)]


class Comparing(Case):
    def file(self, name, medians, turn=0, **changes):
        return made.write(self.folder / name, made.step_times(medians, turn, 2, **changes))

    def two(self, medians_a, medians_b, **changes_of_b):
        """Files of A and B whose runs were measured alternately."""
        return self.file("a.h5", medians_a, 0), self.file("b.h5", medians_b, 1, **changes_of_b)

    def compare(self, *words):
        return ranklab("compare", *words, cwd=self.folder)

    def json(self, *words, code=0):
        result = self.compare(*words, "--format", "json")
        self.assertCode(result, code)
        return json.loads(result.stdout)

    def row(self, *words, code=0):
        return self.json(*words, code=code)["groups"][0]["rows"][0]


class Verdicts(Comparing):
    def test_an_injected_slowdown_is_found_with_the_runs_recommended(self):
        pilot = self.row(*self.two(noisy(0.1, 5, 1, 0.05), noisy(0.1, 5, 2, 0.05)))
        self.assertEqual(pilot["verdict"], "too noisy")
        runs = pilot["runs_needed"]
        self.assertGreater(runs, 5)
        files = self.two(noisy(0.1, runs, 3, 0.05), noisy(0.105, runs, 4, 0.05))
        self.assertEqual(self.row(*files)["verdict"], "worse")
        result = self.compare(*files, "--fail-on-regression", "3%")
        self.assertCode(result, 4)
        self.assertRegex(result.stdout, r"(?m)^  step_time_s .* worse\b")
        self.assertRegex(result.stdout, r"(?m)^Gate: failed")

    def test_equal_sides_are_the_same_and_pass(self):
        files = self.two(noisy(0.1, 12, 5), noisy(0.1, 12, 6))
        result = self.compare(*files, "--fail-on-regression", "5%")
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^Gate: passed$")
        self.assertEqual(result.said, [])
        self.assertEqual(self.row(*files)["verdict"], "same")

    def test_four_runs_a_side_are_too_few(self):
        files = self.two(near(0.1, 4), near(0.2, 4))
        row = self.row(*files)
        self.assertEqual((row["verdict"], row["n_a"], row["p_holm"]), ("too few runs", 4, None))
        result = self.compare(*files, "--fail-on-regression", "5%")
        self.assertCode(result, 0)
        self.assertIn("undecided", result.stdout)
        self.assertCode(self.compare(*files, "--fail-on-regression", "5%", "--strict"), 7)

    def test_a_side_beside_other_load_is_no_regression(self):
        beside = lambda cores: {"context": {"place": {"others_cores": cores, "others_cores_host": "node01"}}}
        files = self.file("a.h5", near(0.1, 6), 0, **beside("0.1")), self.file("b.h5", near(0.2, 6), 1, **beside("1.6"))
        result = self.compare(*files, "--fail-on-regression", "5%")
        self.assertCode(result, 0)
        self.assertTrue(any("undecided" in line for line in result.said))
        self.assertCode(self.compare(*files, "--fail-on-regression", "5%", "--strict"), 7)
        self.assertSchema("compare", json.dumps(self.json(*files)))
        self.assertEqual(self.row(*files)["verdict"], "other load")

    def test_better_and_worse_and_every_form_has_the_same_numbers(self):
        faster, slower = self.two(near(0.1, 6), near(0.125, 6))
        self.assertCode(self.compare(slower, faster, "--fail-on-regression", "5%", "--strict"), 0)
        self.assertEqual(self.row(slower, faster)["verdict"], "better")
        self.assertAlmostEqual(self.row(faster, slower)["ratio"], 1.25)  # without a gate a regression exits with 0
        whole = self.json(faster, slower, "--fail-on-regression", "5%", code=4)
        self.assertSchema("compare", json.dumps(whole))
        self.assertIn(" 1.250 ", self.compare(faster, slower).stdout)
        self.assertIn("| 1.250 (", self.compare(faster, slower, "--format", "markdown").stdout)

    def test_one_block_after_the_other_is_noted(self):
        a, b = self.file("a.h5", near(0.1, 5)), self.file("b.h5", near(0.1, 5), 30)
        self.assertRegex(self.compare(a, b).stdout, r"\bA\b.* before .*\bB\b")

    def test_runs_that_do_not_stand_are_left_out_and_counted(self):
        runs = made.step_times(near(0.1, 9), 1, 2)
        runs[0]["valid"], runs[1]["exit_code"], runs[2]["checks"], runs[3]["checks"] = 0, 7, ["failed"], ["not verified"]
        a, b = self.file("a.h5", near(0.1, 5)), made.write(self.folder / "b.h5", runs)
        said = self.json(a, b)
        self.assertEqual(said["groups"][0]["rows"][0]["n_b"], 5)
        self.assertEqual({one["reason"]: one["runs"] for one in said["b"]["left_out"]},
                         {"invalid": 1, "not converged or cache-tainted": 1, "verification failed": 1, "not verified": 1})
        self.assertEqual(self.row(a, b, "--with-unverified")["n_b"], 6)
        for run in runs: run["valid"] = 0
        made.write(b, runs)
        self.assertSays(self.compare(a, b), 7, "no run")


class OneDifference(Comparing):
    """Sides that labels name are compared although they differ in one option; that difference comes first."""

    def sides(self, **changes_of_b):
        config = {"model": "mnist-cnn", "batch-size": 64, "lr": 0.7, "workers": 1}
        runs = made.step_times(near(0.2, 6), 0, 2, label="one", config=config)
        runs += made.step_times(near(0.1, 6), 1, 2, label="eight", config=config | changes_of_b)
        for run in runs:  # of other batches the rates are compared
            run["values"]["throughput_samples_per_s", "samples/s", "rate"] = run["config"]["batch-size"] / run["values"]["step_time_s", "s", "cost"]
        return "label:one", "label:eight", "--file", made.write(self.folder / "r.h5", runs)

    def test_is_printed_first_and_compared(self):
        sides = self.sides(workers=8)
        result = self.compare(*sides)
        self.assertCode(result, 0)
        self.assertRegex(result.stdout.splitlines()[0], r"\bworkers \(A: 1; B: 8\)")
        self.assertEqual(self.row(*sides)["verdict"], "better")
        self.assertSchema("compare", json.dumps(self.json(*sides)))

    def test_fails_a_gate_unless_it_is_ignored(self):
        sides = self.sides(workers=8)
        self.assertSays(self.compare(*sides, "--fail-on-regression", "5%"), 2, "workers (A: 1; B: 8)", "--ignore")
        self.assertCode(self.compare(*sides, "--fail-on-regression", "5%", "--ignore", "workers"), 0)

    def test_may_have_consequences_but_no_company(self):
        both = self.sides(**{"batch-size": 32, "global-batch-size": 32})
        self.assertCode(self.compare(*both), 0)
        self.assertSays(self.compare(*self.sides(workers=8, lr=0.1)), 2, "lr (A: 0.7; B: 0.1)", "workers (A: 1; B: 8)")


class Refusals(Comparing):
    def test_settings_that_differ_are_named_with_both_values(self):
        config = {"model": "mnist-cnn", "batch-size": 32, "lr": 0.1, "seed": 2, "new-flag": "false"}
        files = self.two(near(0.1, 5), near(0.1, 5), config=config)
        result = self.compare(*files)
        self.assertSays(result, 2, "batch-size (A: 64; B: 32)", "lr (A: 0.7; B: 0.1)", "batch-size,lr", "--ignore")
        for part in ("seed", "new-flag"): self.assertNotIn(part, result.stderr)
        self.assertSays(self.compare(*files, "--ignore", "lr", "--format", "json"), 2, "batch-size (A: 64; B: 32)")
        differing = self.json(*files, "--ignore", "lr,batch-size")["groups"][0]["differing"]
        self.assertEqual([(one["key"], one["a"], one["b"], one["allowed"]) for one in differing],
                         [("batch-size", ["64"], ["32"], True), ("lr", ["0.7"], ["0.1"], True)])

    def test_surroundings_that_differ_are_named(self):
        files = self.two(near(0.1, 5), near(0.1, 5), hosts=[(0, 0, "node02", "0-3", "cpu"), (1, 1, "node02", "4-7", "cpu")],
                         context={"host": {"cpu": "EPYC", "kernel": "6.5"}, "libraries": {"libtorch": "2.12.0"}})
        self.assertSays(self.compare(*files), 2, "hosts (A: node01; B: node02)", "ranks (A: 1; B: 2)", "host.cpu (A: A64FX; B: EPYC)",
                        "libraries.libtorch (A: 2.11.0; B: 2.12.0)")
        result = self.compare(*files, "--ignore", "host,ranks,host.cpu,libtorch")
        self.assertCode(result, 0)
        self.assertIn("host.kernel (A: 6.1; B: 6.5)", result.stdout)
        self.assertSays(self.compare(*self.two(near(0.1, 5), near(0.1, 5), command="io")), 2, "train", "io")

    def test_hostile_texts_stay_in_their_place(self):
        nasty = "\x1b[31m|<b>`\n\u202e" + 2000 * "x"
        same = self.file("c.h5", near(0.1, 5), config={"model": nasty}, label=nasty)
        self.assertNotIn("\x1b", self.compare(same, same).stdout)
        self.json(same, same)
        self.assertSays(self.compare(self.file("a.h5", near(0.1, 5)), same), 2, "model (A: mnist-cnn; B: ")


class Sides(Comparing):
    def setUp(self):
        super().setUp()
        runs = (made.step_times(near(0.1, 5), 0, 2, label="old", git_revision="aaaaaaaaaaaa")
                + made.step_times(near(0.2, 5), 1, 2, label="new", git_revision="bbbbbbbbbbbb-dirty")
                + made.step_times(near(0.4, 5), 20, 1, label="aaaa", git_revision="cccccccccccc", config={"model": "other"}))
        self.store = made.write(self.folder / "store.h5", runs)

    def test_labels_and_revisions_of_one_file(self):
        (self.folder / "results").mkdir()
        shutil.copy(self.store, self.folder / "results" / "ranklab.h5")  # compare's default file
        for words in (("--file", self.store, "label:old", "label:new"), ("rev:aaaa", "rev:bbbbbbbbbbbb"), ("label:old", "rev:" + 40 * "b")):
            with self.subTest(words=words): self.assertAlmostEqual(self.row(*words)["ratio"], 2.0)
        one = self.json(*("id:" + run["id"] for run in made.step_times(near(0.1, 2), 0, 1)))
        self.assertEqual(one["groups"][0]["rows"][0]["verdict"], "too few runs")

    def test_a_word_without_a_prefix_is_a_file(self):
        self.assertSays(self.compare("--file", self.store, "old", "new"), 2, "label:old", "rev:old")
        for word, stored in (("label:xyz", "aaaa or new or old"), ("rev:xyz", "aaaaaaaaaaaa or bbbbbbbbbbbb-dirty")):
            self.assertSays(self.compare("--file", self.store, "label:old", word), 2, "xyz", stored)

    def test_where_narrows_both_sides(self):
        result = self.json(self.store, self.store, "--where", "model=mnist-cnn", "--where", "git_revision=aaaa*")
        self.assertEqual((result["a"]["runs"], result["b"]["runs"]), (5, 5))
        self.assertSays(self.compare("--file", self.store, "label:old", "label:aaaa"), 2, "model (A: mnist-cnn; B: other)")


if __name__ == "__main__":
    cli.main()
