"""ranklab report: complete formats or none, filters, labels of any bytes."""

import csv
import io
import json

import ranklab_cli as cli
import results_files
from report_case import FORMATS, ReportCase


class Report(ReportCase):
    def test_a_label_of_any_bytes_is_valid_everywhere(self):
        text = self.read("--format", "json")
        self.assertSchema("report", text)
        self.assertEqual(json.loads(text)["runs"][-1]["label"], 'a"\\\x01\x1b[31m\ufffd\ufffd \ufffd\ufffd\ufffd,b')
        rows = list(csv.reader(line for line in io.StringIO(self.read("--format", "csv")) if not line.startswith("#")))
        self.assertIn('a"\\  [31m\ufffd\ufffd \ufffd\ufffd\ufffd,b', {row[2] for row in rows})
        self.assertEqual(len({len(row) for row in rows}), 1)
        for format in ("text", "markdown", "html"): self.assertNotIn("\x1b", self.read("--format", format))
        for format in ("gbench", "chrome-trace"): json.loads(self.read("--format", format))
        for line in self.read("--format", "extrap").splitlines(): json.loads(line)

    def test_filters_are_honoured_by_all(self):
        ids = [run["id"] for run in self.runs()]
        self.assertEqual([run["id"] for run in self.runs("--last", 2)], ids[-2:])
        self.assertEqual([run["id"] for run in self.runs("--label", "one")], ids[:1])
        for format in ("text", "csv", "json"):
            text = self.read("--format", format, "--where", "ranks=2", "--where", "strategy=mpi-send")
            self.assertEqual([one for one in ids if one in text], [ids[1]], format)
        self.assertIn("load by other processes", self.read("--run", ids[1]), "whoever shows a run's number shows its doubts")
        trace = json.loads(self.read("--format", "chrome-trace", "--run", ids[1], "--trace-steps", 2))
        self.assertEqual([one["run"] for one in trace["otherData"]["runs"]], [ids[1]])
        self.assertEqual({event["tid"] for event in trace["traceEvents"]}, {0, 1})
        self.assertEqual({event["name"] for event in trace["traceEvents"] if event.get("cat") == "step"}, {"repetition 1", "repetition 2"})
        for thread in (0, 1):  # Perfetto's rules: whole nanoseconds, and nested slices end within their parent
            steps, phases = ([(round(1000 * one["ts"]), round(1000 * (one["ts"] + one["dur"]))) for one in trace["traceEvents"]
                              if one.get("cat") == cat and one["tid"] == thread] for cat in ("step", "phase"))
            self.assertTrue(all(any(a <= begin and end <= b for a, b in steps) for begin, end in phases), (steps, phases))
            self.assertTrue(phases)
        names = {one["run_name"] for one in json.loads(self.read("--format", "gbench", "--where", "ranks=2"))["benchmarks"]}
        self.assertIn("io/mpi-send/files:4/size:20/ranks:2/job_time", names)

    def test_nothing_that_matches_is_said_and_no_error(self):
        none = results_files.write(self.folder / "none.h5", [])
        for format in FORMATS:
            result = self.report("--format", format, "--where", "model=x")
            self.assertCode(result, 0)
            self.assertIn("model=x", result.stdout + result.stderr, format)
            if format in ("json", "gbench", "chrome-trace"): json.loads(result.stdout)
            self.assertCode(self.report("--format", format, file=none), 0)

    def test_a_damaged_file_leaves_stdout_empty(self):
        (h5py,) = cli.modules("h5py")
        whole = self.file.read_bytes()
        (self.folder / "cut.h5").write_bytes(whole[: len(whole) * 2 // 3])
        (self.folder / "bad.h5").write_bytes(whole)
        with h5py.File(self.folder / "bad.h5", "r+") as file:
            file["runs"][list(file["runs"])[-1]].attrs["config_json"] = "{no JSON"
        for name, formats, part in (("cut.h5", FORMATS, "cut.h5"), ("bad.h5", ("json", "csv", "gbench", "extrap"), "config_json")):
            for format in formats:
                result = self.report("--format", format, file=self.folder / name)
                self.assertSays(result, 3, part)
                self.assertEqual(result.stdout, "", format)

    def test_an_output_file_is_whole_or_what_it_was(self):
        target = self.folder / "new" / "out.json"
        said = self.report("--format", "json", "--output", target)
        self.assertEqual((said.code, said.stdout, len(said.said)), (0, "", 1))
        self.assertIn(str(target), said.said[0])
        before = target.read_text()
        self.assertEqual(before, self.read("--format", "json"))
        self.assertSays(self.report("--format", "json", "--output", target, "--run", "nope"), 2, "nope")
        self.assertEqual(target.read_text(), before)
        self.read("--format", "csv", "--output", target)
        self.assertEqual(target.read_text(), self.read("--format", "csv"))
        self.assertEqual(self.names(), ["new/out.json"])

    def test_a_command_that_is_shown_can_be_typed(self):
        (self.folder / "-dash.h5").write_bytes(self.file.read_bytes())
        result = cli.ranklab("report", "--", "-dash.h5", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertIn("  ranklab report ./-dash.h5 --run ", result.stdout)


if __name__ == "__main__":
    cli.main()
