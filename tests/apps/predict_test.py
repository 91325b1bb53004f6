"""ranklab predict: forecasts by curves from stored runs and from points, refusals, published curves."""

import csv
import json
import random

import ranklab_cli as cli
import results_files as made
from ranklab_cli import Case, ranklab

WORK = {"model": "mnist-cnn", "mode": "ddp", "threads": 1, "seed": 1}


def amdahl(ranks):
    return 0.02 + 0.98 / ranks


def weak(ranks):
    return 1 + 0.04 * (1 - 1 / ranks)


def runs_of(time, scaling, ranks=(1, 2, 4, 8, 16), per_node=1, repeats=3, first_minute=0, noise=0.005, **changes):
    source = random.Random(7)
    runs = []
    for i in range(repeats):
        for n in ranks:
            hosts = [(r, r % per_node, f"node{r // per_node:02}", str(r % per_node), "cpu") for r in range(n)]
            share = 64 // n if scaling == "strong" else 64
            batch = {"batch-size": share, "global-batch-size": share * n}
            value = time(n) * source.lognormvariate(0, noise)
            runs += made.step_times([value], first_minute + len(runs), config={**WORK, **batch}, hosts=hosts,
                                    argv="ranklab train --model mnist-cnn", **changes)
    return runs


class Predicting(Case):
    def predict(self, *words):
        return ranklab("predict", *words, cwd=self.folder)

    def json(self, *words):
        result = self.predict(*words, "--format", "json")
        self.assertCode(result, 0)
        return json.loads(result.stdout)

    def points(self, text):
        path = self.folder / "points.csv"
        path.write_text(text)
        return str(path)

    def near(self, forecast, truth, within=0.15):
        self.assertFalse(forecast["refused"], forecast)
        self.assertLess(abs(forecast["value"] / truth - 1), within, forecast)
        self.assertLessEqual(forecast["low"], forecast["value"])
        self.assertGreaterEqual(forecast["high"], forecast["value"])


class StoredRuns(Predicting):
    def test_strong_and_weak_curves_of_one_file(self):
        runs = runs_of(amdahl, "strong") + runs_of(weak, "weak", first_minute=60)
        made.write(self.folder / "r.h5", runs)
        strong = self.json("r.h5", "--scaling", "strong", "--to", "32,64,65")
        self.assertEqual((strong["quantity"], strong["unit"], strong["scaling"]), ("step_time_s", "s", "strong"))
        self.assertEqual([p["ranks"] for p in strong["measured"]], [1, 2, 4, 8, 16])
        self.near(strong["forecasts"][0], amdahl(32))
        self.near(strong["forecasts"][1], amdahl(64), 0.3)
        far = strong["forecasts"][2]
        self.assertEqual((far["refused"], far["value"], far["why"]), (True, None, "beyond_reach"))
        self.assertIn("ranklab sweep train --model mnist-cnn --ranks 17", far["reason"])
        self.assertFalse(self.json("r.h5", "--scaling", "strong", "--to", "65", "--force")["forecasts"][0]["refused"])
        one = self.json("r.h5", "--scaling", "weak", "--to", "64")["forecasts"][0]
        self.near(one, weak(64))
        self.assertGreater(one["efficiency"], 0.8)

    def test_runs_on_one_node_say_nothing_of_several(self):
        made.write(self.folder / "r.h5", runs_of(amdahl, "strong", per_node=16))
        one = self.json("r.h5", "--to", "32")["forecasts"][0]
        self.assertEqual(one["why"], "one_node")

    def test_the_page_for_people_has_points_forecasts_and_the_next_run(self):
        made.write(self.folder / "r.h5", runs_of(amdahl, "strong", noise=0.03))
        result = self.predict("r.h5")
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"(?m)^  16 +measured ")
        self.assertRegex(result.stdout, r"(?m)^  64 +forecast ")
        self.assertRegex(result.stdout, r"(?m)^  next +ranklab sweep train --model mnist-cnn --ranks \d+ --repeat 3")

    def test_without_a_curve_it_is_a_usage_error(self):
        made.write(self.folder / "r.h5", made.step_times([0.1, 0.1]))
        self.assertSays(self.predict("r.h5"), 2, "ranks", "--where")
        for by in ("curve", "mechanism"): self.assertSays(self.predict("r.h5", "--by", by, "--where", "label=nosuch"), 2, "no run of label=nosuch")


class Points(Predicting):
    def test_times_and_rates_give_the_same(self):
        ranks = (1, 2, 4, 8, 16)
        times = self.json("--points", self.points("ranks,time_s\n" + "".join(f"{n},{amdahl(n)}\n" for n in ranks)), "--to", "64")
        rates = self.json("--points", self.points("ranks,rate\n" + "".join(f"{n},{1 / amdahl(n)}\n" for n in ranks)),
                          "--to", "64", "--scaling", "strong")
        time, rate = times["forecasts"][0], rates["forecasts"][0]
        self.near(time, amdahl(64), 0.3)
        self.assertAlmostEqual(time["value"] * rate["value"], 1, places=6)
        self.assertAlmostEqual(time["low"] * rate["high"], 1, places=6)

    def test_repeated_rows_intervals_and_nodes(self):
        rows = "".join(f"{n},{amdahl(n) * f},{amdahl(n) * f * 0.97},{amdahl(n) * f * 1.03},{n}\n" for n in (1, 2, 4, 8, 16) for f in (0.99, 1, 1.01))
        found = self.json("--points", self.points("# ours\nranks,time_s,low,high,nodes\n" + rows), "--to", "32")
        self.assertEqual([p["ranks"] for p in found["measured"]], [1, 2, 4, 8, 16])
        self.near(found["forecasts"][0], amdahl(32))

    def test_refusals_are_data(self):
        few = "ranks,time_s\n1,1\n2,0.6\n4,0.4\n"
        warm = "ranks,time_s\n" + "".join(f"{n},{amdahl(n) * f}\n" for n in (1, 2, 4, 8, 16) for f in (1.6, 1, 1.01))
        node = "ranks,time_s,nodes\n" + "".join(f"{n},{amdahl(n)},1\n" for n in (1, 2, 4, 8))
        jump = "ranks,time_s\n" + "".join(f"{n},{amdahl(n) * (2 if n > 8 else 1) * f}\n" for n in (1, 2, 4, 8, 16, 32) for f in (0.99, 1, 1.01))
        for text, why in ((few, "too_few_points"), (warm, "warm_up_inside"), (node, "one_node"), (jump, "jump")):
            one = self.json("--points", self.points(text), "--to", "16")["forecasts"][0]
            self.assertEqual((one["why"], one["refused"], one["value"], one["low"]), (why, True, None, None), text)
            self.assertTrue(one["reason"])

    def test_bad_files(self):
        for text, code, words in (
            ("", 3, "no rows"),
            ("ranks,time_s\n", 3, "no rows"),
            ("ranks,seconds\n1,2\n", 3, "'seconds'"),
            ("ranks\n1\n", 3, "time_s or rate"),
            ("ranks,time_s,rate\n1,2,3\n", 3, "time_s or rate"),
            ("ranks,time_s\n1\n", 3, "line 2"),
            ("ranks,time_s\n1,2\n2,-1\n", 3, "line 3"),
            ("ranks,time_s\n1,2\n2,nan\n", 3, "line 3"),
            ("ranks,time_s\n1,2\nx,1\n", 3, "'x'"),
            ("ranks,time_s,low,high\n1,2,3,4\n", 3, "low and high"),
        ):
            self.assertSays(self.predict("--points", self.points(text)), code, words)
        self.assertSays(self.predict("--points", "missing.csv"), 2, "missing.csv")
        self.assertSays(self.predict("--points", self.points("ranks,time_s\n1,1\n"), "--to", "x"), 2, "--to")


class Published(Predicting):
    def test_the_published_curves_are_forecast_or_refused(self):
        result = self.predict("--validate", "--format", "csv")
        self.assertCode(result, 0)
        rows = list(csv.DictReader(result.stdout.splitlines()))
        self.assertGreaterEqual(len(rows), 8)
        near = sum(abs(float(row["error"])) <= 0.1 for row in rows)
        self.assertGreaterEqual(near, 0.85 * len(rows))
        covered = sum(float(row["error_low"]) <= 0 <= float(row["error_high"]) for row in rows)
        self.assertGreaterEqual(covered, 0.85 * len(rows))
        text = self.predict("--validate").stdout
        for name in ("SPARTA", "too_few_points", "one_node", "11 forecasts"):
            self.assertIn(name, text)


if __name__ == "__main__":
    cli.main()
