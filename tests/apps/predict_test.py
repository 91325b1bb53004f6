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


def runs_of(time, scaling, ranks=(1, 2, 4, 8, 16), per_node=1, repeats=3, first_minute=0, noise=0.005, threads=lambda ranks: 1, **changes):
    source = random.Random(7)
    runs = []
    for i in range(repeats):
        for n in ranks:
            hosts = [(r, r % per_node, f"node{r // per_node:02}", str(r % per_node), "cpu") for r in range(n)]
            share = 64 // n if scaling == "strong" else 64
            batch = {"batch-size": share, "global-batch-size": share * n}
            value = time(n) * source.lognormvariate(0, noise)
            runs += made.step_times([value], first_minute + len(runs), config={**WORK, "threads": threads(n), **batch}, hosts=hosts,
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

    def test_runs_on_one_node_allow_for_a_crossing(self):
        made.write(self.folder / "r.h5", runs_of(amdahl, "strong", per_node=16))
        found = self.json("r.h5", "--to", "32")
        one = found["forecasts"][0]
        self.assertEqual((one["refused"], one["nodes"], one["width_from"]), (False, 2, "crossing"))
        self.assertGreater(one["value"], amdahl(32))
        inside = self.json("r.h5", "--to", "32", "--ranks-per-node", "32")["forecasts"][0]
        self.assertEqual(inside["nodes"], 1)
        self.assertLess(inside["high"] / inside["low"], one["high"] / one["low"])

    def test_points_of_other_threads_are_marked(self):
        made.write(self.folder / "r.h5", runs_of(amdahl, "strong", threads=lambda n: 2 if n == 1 else 1))
        marks = [mark for point in self.json("r.h5")["measured"] for mark in point["marks"]]
        self.assertTrue(any("threads" in mark for mark in marks), marks)

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

    def test_order_unit_and_duplicates(self):
        rows = [(n, amdahl(n) * f) for n in (1, 2, 4, 8) for f in (1.01, 0.99, 1.0)]
        text = lambda head, rows: self.points(head + "\n" + "".join(f"{n},{value!r}\n" for n, value in rows))
        base = self.json("--points", text("ranks,time_s", rows), "--to", "16,32")["forecasts"]
        for scale, order in ((1e3, rows), (1 / 3600, rows[::-1]), (1, sorted(rows, key=lambda row: row[1]))):
            other = self.json("--points", text("ranks,time_s", [(n, scale * t) for n, t in order]), "--to", "16,32")["forecasts"]
            for a, b in zip(base, other):
                for key in ("value", "low", "high"):
                    self.assertAlmostEqual(b[key] / a[key] / scale, 1, delta=1e-9)
        for scaling in ("strong", "weak"):
            work = lambda n: n if scaling == "weak" else 1
            times = self.json("--points", text("ranks,time_s", [(n, t * work(n)) for n, t in rows]), "--to", "32", "--scaling", scaling)["forecasts"][0]
            rates = self.json("--points", text("ranks,rate", [(n, 1 / t) for n, t in rows]), "--to", "32", "--scaling", scaling)["forecasts"][0]
            for a, b in (("value", "value"), ("low", "high"), ("high", "low")):
                self.assertAlmostEqual(times[a] * rates[b] / work(32), 1, delta=1e-9)
        # A row twice is a repeat: it narrows the noise.
        twice = self.json("--points", text("ranks,time_s", rows + rows), "--to", "32")
        self.assertEqual([p["ranks"] for p in twice["measured"]], [1, 2, 4, 8])
        self.assertLess(twice["forecasts"][0]["high"] / twice["forecasts"][0]["low"], base[1]["high"] / base[1]["low"])

    def test_nodes_are_told_or_unknown(self):
        head, rows = "ranks,time_s", "".join(f"{n},{amdahl(n) * f}\n" for n in (1, 2, 4, 8) for f in (0.99, 1, 1.01))
        path = self.points(head + "\n" + rows)
        unknown = self.json("--points", path, "--to", "32")
        self.assertEqual(unknown["forecasts"][0]["nodes"], None)
        self.assertTrue(any("nodes unknown" in note for note in unknown["notes"]))
        told = self.json("--points", path, "--to", "16,32", "--ranks-per-node", "8")
        first, last = told["forecasts"]
        self.assertEqual((first["nodes"], first["width_from"], last["nodes"]), (2, "crossing", 4))
        self.assertFalse(any("nodes unknown" in note for note in told["notes"]))
        self.assertTrue(told["next"].startswith("16 ranks"))
        self.assertLess(told["next_high"] / told["next_low"], last["high"] / last["low"])
        column = self.json("--points", self.points(head + ",nodes\n" + "".join(f"{n},{amdahl(n)},{n // 2 or 1}\n" for n in (1, 2, 4, 8))), "--to", "16")
        self.assertEqual(column["forecasts"][0]["nodes"], 8)

    def test_scaling_follows_from_the_times(self):
        for times, scaling in (((1, 0.9, 0.85), "strong"), ((1, 1.01, 1.1), "weak"), ((1, 0.99, 0.97), "weak")):
            path = self.points("ranks,time_s\n" + "".join(f"{n},{t}\n" for n, t in zip((1, 2, 4), times)))
            self.assertEqual(self.json("--points", path)["scaling"], scaling)
        superlinear = self.json("--points", self.points("ranks,time_s\n1,1\n2,0.4\n4,0.2\n"))
        self.assertTrue(any("efficiency above 1.1" in mark for mark in superlinear["measured"][1]["marks"]))

    def test_refusals_are_data(self):
        few = "ranks,time_s\n1,1\n2,0.6\n"
        warm = "ranks,time_s\n" + "".join(f"{n},{amdahl(n) * f}\n" for n in (1, 2, 4, 8, 16) for f in (1.6, 1, 1.01))
        above = "ranks,time_s\n" + "".join(f"{n},{amdahl(n)}\n" for n in (32, 64, 128))
        for text, why in ((few, "too_few_points"), (warm, "warm_up_inside"), (above, "beyond_reach")):
            one = self.json("--points", self.points(text), "--to", "16")["forecasts"][0]
            self.assertEqual((one["why"], one["refused"], one["value"], one["low"]), (why, True, None, None), text)
            self.assertTrue(one["reason"])

    def test_a_run_to_make_that_this_host_cannot_hold_is_said(self):
        many = 1 << 20
        result = cli.ranklab("predict", "--points", self.points(f"ranks,time_s\n{many},1\n{2 * many},0.6\n"), "--to", 4 * many)
        self.assertCode(result, 0)
        self.assertIn("more ranks than this host has CPUs", " ".join(result.stdout.split()))

    def test_bad_files(self):
        for text, code, words in (
            ("", 3, "no rows"),
            ("ranks,time_s\n", 3, "no rows"),
            ("ranks,seconds\n1,2\n", 3, "'seconds'"),
            ("ranks\n1\n", 3, "time_s and rate"),
            ("ranks,time_s,rate\n1,2,3\n", 3, "time_s and rate"),
            ("ranks,time_s,rate\n1,2,\n2,,3\n", 3, "time_s and rate"),
            ("ranks,time_s,nodes\n4,2,1\n4,2,2\n", 3, "line 3"),
            ("ranks,time_s,nodes\n4,2,1.5\n", 3, "nodes"),
            ("ranks,time_s\n1e300,2\n", 3, "ranks"),
            ("ranks,rate\n1,1e-320\n", 3, "1e-100"),
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
        self.assertEqual(len(rows), 74)
        rows = [row for row in rows if not row["refused"]]
        self.assertGreaterEqual(len(rows), 48)  # of 65 with three points or more
        number = lambda row, name: float(row[name])
        median = lambda values: sorted(values)[len(values) // 2]
        for crossing, least, most, better in (("ahead", 0.88, 3.5, 0.8), ("not ahead", 0.88, 1.6, 1), (None, 0.9, 3.5, 1)):
            these = [row for row in rows if crossing in (None, row["crossing"])]
            covered = sum(number(row, "error_low") <= 0 <= number(row, "error_high") for row in these) / len(these)
            self.assertGreaterEqual(covered, least, crossing)
            if crossing is None:
                self.assertLessEqual(covered, 0.99)
            self.assertLessEqual(median([(1 + number(row, "error_high")) / (1 + number(row, "error_low")) for row in these]), most, crossing)
            ours, *naive = (median([abs(number(row, name)) for row in these]) for name in ("error", "same_efficiency", "a_plus_c_log_p"))
            self.assertLessEqual(ours, better * min(naive), crossing)
        text = self.predict("--validate").stdout
        for name in ("SPARTA", "too_few_points", "weak, training", "median high/low"):
            self.assertIn(name, text)


if __name__ == "__main__":
    cli.main()
