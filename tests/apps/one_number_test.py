"""Text, JSON and page show equal numbers for a group, at any number of runs."""

import json
import re
import statistics

import ranklab_cli as cli
import results_files as files

TIMES = (0.0131, 0.0108, 0.0112, 0.0125, 0.0109, 0.0117, 0.0120)  # unsorted, so that the newest is not the median


def config(ranks, **changes):
    return {"model": "mnist-cnn", "mode": "single" if ranks == 1 else "ddp", "batch-size": 192 // ranks,
            "global-batch-size": 192, "threads": 1, "seed": 1, **changes}


def hosts(ranks, cpus=None):
    return [(rank, rank, "node01", cpus or str(rank), "cpu") for rank in range(ranks)]


class OneNumber(cli.Case):
    def made(self, runs):
        return files.write(self.folder / "r.h5", runs)

    def report(self, path, *words):
        result = cli.ranklab("report", path, *words)
        self.assertCode(result, 0)
        return result.stdout

    def groups(self, path):
        return json.loads(self.report(path, "--group-by", "ranks", "--format", "json"))["groups"]

    def test_text_json_and_page_agree(self):
        """1 and 7 runs at 1, 2 and 3 ranks; rank 2 shares a core."""
        for runs in (1, 7):
            path = self.made([run for ranks, cpus in ((1, None), (2, None), (3, "0-1")) for run in files.step_times(
                [time / ranks ** 0.5 for time in TIMES[:runs]], first_minute=ranks, every=4, config=config(ranks), hosts=hosts(ranks, cpus))])
            text, page = self.report(path, "--group-by", "ranks"), self.report(path, "--format", "html")
            on_page = {f"{float(value):.9g}" for value in re.findall(r'<data value="([^"]+)"', page)}
            for group in self.groups(path):
                ranks, time = int(group["key"]["ranks"]), group["measurements"][0]
                self.assertEqual(len(group["runs"]), runs)
                self.assertAlmostEqual(time["median"], statistics.median(TIMES[:runs]) / ranks ** 0.5, 12)
                numbers = [time["median"]]
                said = [f"{1e3 * time['median']:.3g}" if time["median"] < 0.1 else ""]
                if ranks > 1:
                    self.assertAlmostEqual(group["speedup"]["value"], ranks ** 0.5, 9)
                    self.assertAlmostEqual(group["strong_efficiency"]["value"], ranks ** 0.5 / 2, 9)  # per CPU: 3 ranks use 2 CPUs
                    numbers.append(group["strong_efficiency"]["value"])
                    said += [f"{group[name]['value']:.3f}" for name in ("speedup", "strong_efficiency")]
                self.assertEqual([one for one in numbers if f"{one:.9g}" not in on_page], [], runs)
                rows = " ".join(re.findall(rf"(?m)^  {ranks} .*$", text)).split()
                self.assertEqual([one for one in said if one not in rows], [], text)
                self.assertEqual(group["oversubscribed"], "3 compute threads on 2 CPUs" if ranks == 3 else "")

    def test_two_threads_alone_and_two_ranks_are_the_same_cores(self):
        path = self.made(files.step_times([0.02], config=config(1, threads=2), hosts=hosts(1, "0-1")) +
                         files.step_times([0.01], first_minute=1, config=config(2), hosts=hosts(2)))
        group = self.groups(path)[1]
        self.assertAlmostEqual(group["strong_efficiency"]["value"], 2.0, 9)  # on equal cores, not half
        self.assertRegex(str(group["marks"]), r"threads 1\b.*\b2\b")

    def test_pooled_work_has_no_speedup(self):
        runs = files.step_times([0.02], config=config(1), hosts=hosts(1))
        for minute, batch in ((1, 64), (2, 32)):
            runs += files.step_times([0.01], first_minute=minute, hosts=hosts(2), config=config(2, **{"global-batch-size": batch, "batch-size": batch // 2}))
        path = self.made(runs)
        self.assertIsNone(self.groups(path)[1]["speedup"])
        self.assertIn("(batch-size, global-batch-size)", " ".join(self.report(path, "--group-by", "ranks").split()))


if __name__ == "__main__":
    cli.main()
