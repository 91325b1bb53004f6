"""One number for one thing: text, JSON and page say the same of a group, at any number of runs, and of a phase."""

import json
import re

import ranklab_cli as cli
import results_files as files

TIMES = (0.0131, 0.0108, 0.0112, 0.0125, 0.0109, 0.0117, 0.0120)  # in no order: the newest is no median


def config(ranks, **changes):
    return {"model": "mnist-cnn", "mode": "single" if ranks == 1 else "ddp", "batch-size": 192 // ranks,
            "global-batch-size": 192, "threads": 1, "seed": 1, **changes}


def hosts(ranks, cpus=None):
    return [(rank, rank, "node01", cpus or str(rank), "cpu") for rank in range(ranks)]


def campaign(path, runs):
    """So many runs at 1, 2 and 3 ranks; the third rank has no core of its own."""
    made = []
    for ranks, cpus in ((1, None), (2, None), (3, "0-1")):
        made += files.step_times([time / ranks ** 0.5 for time in TIMES[:runs]], first_minute=ranks, every=4,
                                 config=config(ranks), hosts=hosts(ranks, cpus))
    return files.write(path, made)


def section(page, name):
    return re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL).group(0)


def values(html):
    return [float(text) for text in re.findall(r'data-value="([^"]+)"', html)]


def cells(text, key, head):
    """Of the row of that key the cell under that head and the one right of it, in whatever block of columns."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if re.search(rf"^  (?:ranks|threads) .* {re.escape(head)}(?=  |$)", line))
    ends = [match.end() for match in re.finditer(r"\S+(?: \S+)*", lines[at])]
    end = re.search(rf" {re.escape(head)}(?=  |$)", lines[at]).end()
    right = next((other for other in ends if other > end), end)
    row = next(line for line in lines[at:] if re.match(rf"  {key} ", line))
    left = row[:end].rsplit("  ", 1)[-1].strip()
    return left, row[end:right].strip()


class OneNumber(cli.Case):
    def report(self, *words):
        result = cli.ranklab("report", *words)
        self.assertEqual(result.code, 0, result)
        return result.stdout

    def assertHas(self, numbers, wanted):
        self.assertTrue(any(abs(one - wanted) <= 1e-9 * abs(wanted) for one in numbers), f"{wanted} is not in {numbers}")

    def test_text_json_and_page_agree_at_any_number_of_runs(self):
        np = cli.modules("numpy")[0]
        for runs in (1, 2, 7):
            with self.subTest(runs=runs):
                path = campaign(self.folder / "r.h5", runs)
                text = self.report(path, "--group-by", "ranks")
                groups = json.loads(self.report(path, "--group-by", "ranks", "--format", "json"))
                page = self.report(path, "--format", "html")
                self.assertEqual(groups["efficiency_per"], "CPU")  # an older file
                self.assertIn("efficiency/CPU", text)
                for group in groups["groups"]:
                    self.check_group(np, group, runs, text, page)

    def check_group(self, np, group, runs, text, page):
        ranks = int(group["key"]["ranks"])
        of_runs = [time / ranks ** 0.5 for time in TIMES[:runs]]
        time = group["measurements"][0]
        self.assertEqual(len(group["runs"]), runs)
        self.assertAlmostEqual(time["median"], np.median(of_runs), 12)
        self.assertEqual(cells(text, ranks, "CPUs")[0], str(group["computed_on"]))
        value, interval = cells(text, ranks, "step_time_s")
        self.assertEqual(value, f"{time['median']:.4g}")
        has_interval = runs == 1 or runs >= 6
        self.assertEqual(time["ci95_low"] is not None, has_interval)
        self.assertEqual(".." in interval, has_interval, text)
        summary = values(section(page, "summary"))
        for field in ("median", "ci95_low", "ci95_high"):
            if time[field] is not None:
                self.assertHas(summary, time[field])
        crowd = "3 compute threads on 2 CPUs" if ranks == 3 else ""
        self.assertEqual(group["oversubscribed"], crowd)
        self.assertEqual(f"oversubscribed: {crowd}" in page, True if crowd else "oversubscribed: " in page)
        if ranks > 1:
            self.assertAlmostEqual(group["speedup"]["value"], ranks ** 0.5, 9)
            self.assertAlmostEqual(group["strong_efficiency"]["value"], ranks ** 0.5 / 2, 9)
            self.assertHas(values(section(page, "scaling")), group["strong_efficiency"]["value"])
            self.assertEqual(cells(text, ranks, "efficiency/CPU")[0], f"{group['strong_efficiency']['value']:.3f}")

    def test_two_threads_alone_and_two_ranks_are_the_same_cores(self):
        path = files.write(self.folder / "r.h5",
                           files.step_times([0.02], config=config(1, threads=2), hosts=hosts(1, "0-1")) +
                           files.step_times([0.01], first_minute=1, config=config(2), hosts=hosts(2)))
        group = json.loads(self.report(path, "--group-by", "ranks", "--format", "json"))["groups"][1]
        self.assertAlmostEqual(group["strong_efficiency"]["value"], 2.0, 9)  # of as many cores, not half of it
        self.assertIn("not as the base: threads 1 (base 2)", group["marks"])

    def test_pooled_work_has_no_speedup(self):
        runs = files.step_times([0.02], config=config(1), hosts=hosts(1))
        for minute, batch in ((1, 64), (2, 32)):
            runs += files.step_times([0.01], first_minute=minute, hosts=hosts(2),
                                     config=config(2, **{"global-batch-size": batch, "batch-size": batch // 2}))
        path = files.write(self.folder / "r.h5", runs)
        text = self.report(path, "--group-by", "ranks")
        self.assertIn("no speedup: its runs are of different work (batch-size, global-batch-size)", text)
        self.assertNotIn("efficiency", text)

    def test_how_many_threads_pay(self):
        runs = []
        for minute, (threads, time) in enumerate(((1, 0.02), (2, 0.0125), (4, 0.0126))):
            runs += files.step_times([time], first_minute=minute, config=config(1, threads=threads), hosts=hosts(1, "0-3"))
        text = self.report(files.write(self.folder / "r.h5", runs), "--group-by", "threads")
        self.assertRegex(text.splitlines()[0], r"^best: threads = 2, step_time_s 0.0125 s, 1.60 times as fast as the base")
        self.assertEqual([cells(text, 2, head)[0] for head in ("runs", "CPUs", "speedup", "efficiency/CPU")], ["1", "2", "1.600", "0.800"])


if __name__ == "__main__":
    cli.main()
