"""ranklab report --history: steps, what changed with them, the gate, missing days, all formats."""

import csv
import datetime
import io
import json
import random

import results_files as made
from ranklab_cli import Case, main, ranklab

CONTEXT = {"host": {"cpu": "A64FX", "kernel": "6.1"}, "libraries": {"libtorch": "2.11.0", "mpi": "Open MPI 4.1.4"}, "place": {"others_cores": "0", "others_cores_host": "node01"}}


def context(**changes):
    """CONTEXT with other values of section__key."""
    made_of = {section: dict(facts) for section, facts in CONTEXT.items()}
    for name, value in changes.items():
        section, key = name.split("__")
        made_of.setdefault(section, {})[key] = value
    return made_of


def night(day, value, first=datetime.datetime(2026, 9, 1, 3), **changes):
    at = first + datetime.timedelta(days=day)
    return made.run(0, {("step_time_s", "s", "cost"): value}, id=f"{at:%Y%m%dT%H%M%SZ}-{day:06x}", started_utc=f"{at:%Y-%m-%dT%H:%M:%SZ}",
                    **{"context": CONTEXT, **changes})


def values(n, centre=0.1, spread=0.01, seed=1):
    source = random.Random(seed)
    return [centre * source.lognormvariate(0, spread) for _ in range(n)]


def nights(n, step_at=None, step=1.1, **changes_after):
    """n nights, slower from step_at on, with these changes from there."""
    step_at = n if step_at is None else step_at
    return [night(day, value * (step if day >= step_at else 1), **(changes_after if day >= step_at else {}))
            for day, value in enumerate(values(n))]


class History(Case):
    def history(self, runs, *words, code=0):
        made.write(self.folder / "r.h5", runs)
        result = ranklab("report", "r.h5", "--history", *words, cwd=self.folder)
        self.assertCode(result, code)
        return result

    def rows(self, runs, *words, code=0):
        text = self.history(runs, "--format", "json", *words, code=code).stdout
        self.assertSchema("history", text)
        return json.loads(text)["segments"]

    def test_a_step_is_named_with_what_changed_and_fails_the_gate(self):
        runs = nights(43, 40, context=context(host__kernel="6.8"))
        first, second = self.rows(runs, "--fail-on-regression", "5%", code=4)
        self.assertEqual((first["runs"], second["runs"], second["since"]), (40, 3, "2026-10-11 03:00"))
        self.assertEqual((second["verdict"], second["changed"]), ("worse", "host.kernel: 6.1 to 6.8"))
        self.assertTrue(second["ratio_low"] < 1.1 < second["ratio_high"])
        self.assertEqual((first["verdict"], first["changed"]), (None, None))
        said = self.history(runs, "--fail-on-regression", "5%", code=4)
        self.assertIn("2026-10-11 03:00", " ".join(said.said))
        self.assertRegex(said.stdout, r"(?m)worse$[^$]*host\.kernel: 6\.1 to 6\.8$")
        self.history(runs, "--fail-on-regression", "15%")
        self.history(nights(43, 40, 0.9), "--fail-on-regression", "5%")
        self.assertEqual(len(self.rows(runs, "--min-effect", "20%")), 1)

    def test_the_fact_that_changes_seldom_is_named_first(self):
        runs = [night(day, value * (1.1 if day >= 30 else 1), git_revision=f"{day // 10:012x}",
                      hosts=[(0, 0, f"node{day % 3}", "0-3", "cpu")],
                      context=context(libraries__mpi="5.0" if day >= 30 else "4.1", environment__OMP_PROC_BIND="close" if day >= 30 else ""))
                for day, value in enumerate(values(40))]
        changed = self.rows(runs)[-1]["changed"]
        self.assertTrue(changed.startswith("libraries.mpi: 4.1 to 5.0; environment.OMP_PROC_BIND: (none) to close; git_revision"), changed)
        self.assertEqual(self.rows(nights(43, 40))[-1]["changed"], "no change in what ranklab stores")

    def test_what_is_no_step_is_named(self):
        runs = nights(40)
        runs[20] = night(20, 0.2)
        for day in range(30, 40):
            runs[day] = night(day, 0.15, context=context(place__others_cores="2"))
        (row,) = self.rows(runs)
        self.assertEqual((row["runs"], row["since"]), (29, "2026-09-01 03:00"))
        spike, load = row["notes"]
        self.assertIn("2026-09-21 03:00", spike)
        self.assertRegex(load, r"^10 runs .*2026-10-01 03:00.* and 5 more$")
        levels = [night(day, value * (1.3 if day // 2 % 2 else 1)) for day, value in enumerate(values(40))]
        (row,) = self.rows(levels)
        self.assertIn("two levels", row["notes"][0])

    def test_text(self):
        runs = nights(43, 40, context=context(host__kernel="6.8", libraries__mpi="Open MPI 5.0.3"), git_revision="fedcba987654")
        runs[20], runs[25] = night(20, 0.2), night(25, 0.15, context=context(place__others_cores="2"))
        self.assertGolden("apps/history.txt", self.history(runs).stdout)

    def test_ignore_joins_series_and_names_the_key(self):
        runs = nights(40) + [night(40 + day, value, config={"model": "mnist-cnn", "batch-size": 64, "lr": 0.7, "seed": 1, "workers": 4})
                             for day, value in enumerate(values(10, seed=3))]
        self.assertEqual(sorted(row["runs"] for row in self.rows(runs)), [10, 40])
        (row,) = self.rows(runs, "--ignore", "workers")
        self.assertEqual((row["runs"], row["notes"]), (50, ["workers: (none) to 4 from 2026-10-11 03:00"]))
        self.assertSays(self.history(runs, "--ignore", "wrokers", code=2), 2, "workers")

    def test_missing_days_are_named(self):
        today = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None, hour=3, minute=0)
        runs = [night(day, value, today - datetime.timedelta(days=20)) for day, value in enumerate(values(20)) if day not in (5, 6)]
        (row,) = self.rows(runs, "--expect", "daily")
        days = [f"{today - datetime.timedelta(days=20 - day):%Y-%m-%d}" for day in (6, 5)]
        self.assertEqual(row["notes"], [f"2 days without a valid run: {', '.join(days)}"])
        self.assertEqual(self.rows(runs)[0]["notes"], [])

    def test_all_formats_have_the_same_rows(self):
        runs = nights(43, 40)
        rows = list(csv.DictReader(io.StringIO(self.history(runs, "--format", "csv").stdout)))
        json_rows = self.rows(runs)
        self.assertEqual([float(row["median"]) for row in rows], [row["median"] for row in json_rows])
        self.assertEqual(rows[1]["verdict"], "worse")
        self.assertRegex(self.history(runs, "--format", "markdown").stdout, r"\| 2026-10-11 03:00 .*\| worse \|")
        page = ranklab("report", "r.h5", "--format", "html", cwd=self.folder)
        self.assertCode(page, 0)
        self.assertIn('id="history"', page.stdout)
        self.assertEqual(self.history([]).stdout, ranklab("report", "r.h5", cwd=self.folder).stdout)

    def test_options_that_have_no_effect_are_refused(self):
        made.write(self.folder / "r.h5", nights(3))
        for words in (("--expect", "daily"), ("--fail-on-regression", "5%"), ("--history", "--plots", "x"), ("--history", "--format", "html")):
            self.assertCode(ranklab("report", "r.h5", *words, cwd=self.folder), 2)


if __name__ == "__main__":
    main()
