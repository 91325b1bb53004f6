"""ranklab report: its formats whole or not at all, whatever is wrong; filters; groups; other programs' readers."""

import csv
import io
import json
import os
import pathlib
import subprocess

import ranklab_cli as cli
import results_files

FORMATS = ("text", "markdown", "json", "csv", "gbench", "extrap", "chrome-trace")
JSON = ("json", "gbench", "chrome-trace")
COMPARE_PY = pathlib.Path("/usr/share/benchmark/compare.py")  # Debian's libbenchmark-tools
BAD_LABEL = os.fsdecode(b'a"\\\x01\x1b[31m\xff\xc3 \xed\xa0\x80,b')

# All that compare.py needs of scipy when it is not to test.
STAND_IN_SCIPY = """import math
def gmean(rows):
    import numpy
    return numpy.array([math.exp(sum(math.log(v) for v in column) / len(column)) for column in zip(*rows)])
def mannwhitneyu(*_, **__):
    raise NotImplementedError
"""


class Stored(cli.Case):
    """A results file with runs of `io`, made once: at 1 and 2 ranks, and one with a label of any bytes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = cli.tempfile.TemporaryDirectory(prefix="ranklab-test-")
        cls.addClassCleanup(cls.made.cleanup)
        cls.file = pathlib.Path(cls.made.name) / "r.h5"
        write = ("io", "-n", 4, "-s", 20, "--ceilings", "off", "--output", "r.h5")
        for words, ranks in ((("--strategy", "mpi-send", "--ranks", "1,2", "-i", 7, "--label", "sweep"), 2),
                             (("--strategy", "binary", "-i", 2, "--label", BAD_LABEL), 1)):
            result = cli.ranklab(*write, *words, ranks=ranks, cwd=cls.made.name)
            assert result.code == 0, str(result)

    def report(self, *words, file=None, **how):
        return cli.ranklab("report", file or self.file, *words, cwd=self.folder, **how)

    def read(self, *words, **how):
        result = self.report(*words, **how)
        self.assertCode(result, 0)
        return result.stdout

    def runs(self, *words):
        return json.loads(self.read("--format", "json", *words))["runs"]


class Formats(Stored):
    def test_json_is_what_the_schema_says(self):
        for words in ((), ("--label", "none such"), ("--where", "ranks=2")):
            self.assertSchema("report", self.read("--format", "json", *words))

    def test_a_label_of_any_bytes_is_valid_everywhere(self):
        run = self.runs("--where", "strategy=binary")[0]
        self.assertEqual(run["label"], 'a"\\\x01\x1b[31m\ufffd\ufffd \ufffd\ufffd\ufffd,b')
        rows = list(csv.reader(line for line in io.StringIO(self.read("--format", "csv")) if not line.startswith("#")))
        self.assertIn('a"\\  [31m\ufffd\ufffd \ufffd\ufffd\ufffd,b', {row[2] for row in rows})
        self.assertEqual({len(row) for row in rows}, {23})
        for format in ("text", "markdown"):
            self.assertNotIn("\x1b", self.read("--format", format))
        for format in ("gbench", "chrome-trace"):
            json.loads(self.read("--format", format))
        for line in self.read("--format", "extrap", "--where", "ranks=1,2").splitlines():
            json.loads(line)

    def test_compare_too_prints_json_or_nothing(self):
        for words, code in ((("--where", "strategy=mpi-send"), None), (("--where", "nonsense"), 2), (("--label", "none such"), None)):
            result = cli.ranklab("compare", self.file, self.file, "--format", "json", *words, cwd=self.folder)
            if code is not None:
                self.assertCode(result, code)
            if result.stdout:
                json.loads(result.stdout)
            else:
                self.assertNotEqual(result.code, 0, str(result))

    def test_json_and_csv_say_the_same(self):
        rows = list(csv.DictReader(line for line in io.StringIO(self.read("--format", "csv")) if not line.startswith("#")))
        medians = {(row["run_id"], row["name"]): row["median"] for row in rows}
        for run in self.runs():
            for measurement in run["measurements"]:
                text = medians.pop((run["id"], measurement["name"]))
                self.assertEqual(float(text) if text else None, measurement["median"])
        self.assertEqual(medians, {})

    def test_filters_are_honoured_by_all(self):
        ids = [run["id"] for run in self.runs()]
        of_two = [run["id"] for run in self.runs("--where", "ranks=2", "--where", "strategy=mpi-send")]
        self.assertEqual(len(of_two), 1)
        self.assertEqual([run["id"] for run in self.runs("--last", 2)], ids[-2:])
        self.assertEqual([run["id"] for run in self.runs("--label", "sweep")], ids[:-1])
        for format in ("text", "csv", "json"):
            text = self.read("--format", format, "--where", "ranks=2", "--where", "strategy=mpi-send")
            self.assertEqual([one for one in ids if one in text], of_two, format)
        summary = [run["id"] for run in self.runs() if not run["measurements"]]
        self.assertSays(self.report("--format", "chrome-trace", "--run", summary[0]), 2, "1 run has none")
        trace = json.loads(self.read("--format", "chrome-trace", "--run", of_two[0], "--trace-steps", 3))
        self.assertEqual([one["run"] for one in trace["otherData"]["runs"]], of_two)
        self.assertEqual({event["tid"] for event in trace["traceEvents"]}, {0, 1})
        self.assertEqual({event["name"] for event in trace["traceEvents"] if event.get("cat") == "step"},
                         {f"repetition {i}" for i in (1, 2, 3)})
        names = {one["run_name"] for one in json.loads(self.read("--format", "gbench", "--where", "ranks=2"))["benchmarks"]}
        self.assertIn("io/mpi-send/files:4/size:20/ranks:2/job_time", names)
        params = [json.loads(line)["params"] for line in self.read("--format", "extrap", "--where", "ranks=1,2").splitlines()]
        self.assertEqual({one["p"] for one in params}, {1, 2})

    def test_nothing_that_matches_is_said_and_no_error(self):
        for format in FORMATS:
            result = self.report("--format", format, "--where", "model=x")
            self.assertCode(result, 0)
            self.assertIn("holds no run of model=x", result.stdout + result.stderr, format)
            if format in JSON:
                json.loads(result.stdout)

    def test_a_key_that_no_run_has_is_refused_by_all(self):
        new = self.folder / "new.h5"
        for words in (("report",), ("report", "--last", 1), ("report", "--format", "json"), ("compare", self.file), ("results", "list"),
                      ("results", "prune", "--dry-run"), ("results", "export", "--output", new)):
            command, options = (words[:2], words[2:]) if words[0] == "results" else (words[:1], words[1:])
            with self.subTest(words=words):
                def where(condition): return cli.ranklab(*command, self.file, *options, "--where", condition)
                self.assertSays(where("zzz=1"), 2, "'zzz' is no setting, field or fact", "how it is spelt")
                self.assertSays(where("stratgy!=x"), 2, "did you mean strategy?")
                self.assertSays(where("host.cpus=x"), 2, "did you mean host.cpu?")
                self.assertSays(where("ranks>=x"), 2, "'ranks>=x' is no condition")
        self.assertSays(self.report("--group-by", "rank"), 2, "'rank' is no setting", "did you mean ranks?")
        self.assertCode(self.report("--where", "environment.NEVER_SET!=x", "--group-by", "ranks,bucket-cap-mb"), 0)

    def test_a_measurement_of_no_name_is_refused(self):
        for words in ((), ("--group-by", "strategy"), ("--format", "json"), ("--format", "markdown")):
            with self.subTest(words=words):
                self.assertSays(self.report("--measure", "job_time", *words), 2, "no run has the measurement 'job_time'", "did you mean job_time_s?")
                self.assertSays(self.report("--measure", "job_time_s,zzz", *words), 2, "'zzz'", "check how it is spelt")
        known = self.report("--measure", "step_time_s")
        self.assertCode(known, 0)
        self.assertIn("have none of the measurements", known.stdout, "a name that ranklab makes, of other runs")

    def test_what_would_have_no_effect_is_refused(self):
        self.assertSays(self.report("--plots", "plots", "--format", "csv"), 2, "leave --format out")
        self.assertSays(self.report("--format", "json", "--trace-steps", 3), 2, "--format chrome-trace")
        self.assertEqual(self.names(), [])

    def test_googles_compare_reads_it(self):
        if not COMPARE_PY.exists():
            self.skipTest(f"{COMPARE_PY} is not there: Debian's libbenchmark-tools has it, ./bootstrap installs it")
        numpy = cli.python_with("numpy")
        if numpy is None:
            self.skipTest("compare.py needs numpy")
        (self.folder / "a.json").write_text(self.read("--format", "gbench", "--where", "strategy=mpi-send", "--where", "ranks=1"))
        changed = json.loads((self.folder / "a.json").read_text())
        for one in changed["benchmarks"]:
            one["real_time"] *= 1.25
        (self.folder / "b.json").write_text(json.dumps(changed))
        (self.folder / "scipy").mkdir()
        (self.folder / "scipy" / "__init__.py").touch()
        (self.folder / "scipy" / "stats.py").write_text(STAND_IN_SCIPY)
        result = cli.run(numpy, "-B", COMPARE_PY, "--no-color", "--no-utest", "benchmarks", "a.json", "b.json", cwd=self.folder,
                         env=cli.environment(PYTHONPATH=self.folder))
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"io/mpi-send/files:4/size:20/ranks:1/job_time_median +\+0\.25\d* +\+0\.00")


class Groups(Stored):
    def test_ranks_have_speedup_and_efficiency_over_a_named_base(self):
        text = self.read("--where", "strategy=mpi-send", "--where", "ranks=1,2", "--group-by", "strategy,ranks")
        self.assertRegex(text, r"(?m)^  strategy +ranks +marks +runs +cores +speedup +95% interval")
        self.assertRegex(text, r"(?m)^  strategy +ranks +marks .*efficiency/core +95% interval")
        self.assertRegex(text, r"(?m)^  mpi-send +1 +\[1\] +1 +1 +base")
        self.assertRegex(text, r"(?m)^  \[1\] single run$")
        self.assertRegex(text, r"base: strategy = mpi-send, ranks = 1, job_time_s \S+ s, 1 run\(s\)")
        self.assertIn("strong scaling", text)
        medians = {int(run["config"]["ranks"]): m["median"] for run in self.runs("--where", "strategy=mpi-send", "--where", "ranks=1,2")
                   for m in run["measurements"] if m["name"] == "job_time_s"}
        self.assertIn(f"{medians[1] / medians[2]:.3f}", text)

    def test_markdown_is_a_table(self):
        lines = self.read("--format", "markdown", "--group-by", "ranks", "--where", "ranks=1,2").splitlines()
        self.assertTrue(lines[0].startswith("| ranks | runs | job\\_time\\_s |"))
        self.assertEqual({line.count("|") for line in lines if line.startswith("|")}, {lines[0].count("|")})
        self.assertTrue(any(line.startswith("2 run(s) of ranks=1,2; command = io") or "run(s) of ranks=1,2" in line for line in lines))

    def test_a_file_without_runs(self):
        none = results_files.write(self.folder / "none.h5", [])
        for words in ((), ("--group-by", "ranks"), ("--format", "markdown")):
            result = self.report(*words, file=none)
            self.assertCode(result, 0)
            self.assertEqual(result.stdout, f"{none} holds no runs yet; `ranklab train --output {none}` would store one\n")

    def test_what_has_no_effect_is_refused(self):
        self.assertSays(self.report("--group-by", "ranks", "--format", "csv"), 2, "--group-by makes tables")
        self.assertSays(self.report("--measure", "job_time_s", "--format", "csv"), 2, "--measure is for tables")
        for words in ((), ("--group-by", "ranks", "--format", "extrap"), ("--format", "json")):
            self.assertSays(self.report("--allow", "hosts", *words), 2, "--allow is for tables")
        self.assertSays(self.report("--group-by", "ranks", "--allow", "hots"), 2, "'hots'", "--allow", "did you mean hosts?", "host.cpu")
        self.assertSays(self.report("--group-by", "ranks,,sync"), 2, "a table is made by keys", "--group-by")
        self.assertSays(self.report("--run", "x", "--last", 3), 2, "one run is named", "--run, --where, --label, --last")
        self.assertSays(self.report("--group-by", "strategy", "--format", "extrap"), 2, "Extra-P's parameters are numbers")


class Errors(Stored):
    def assertNothingSaid(self, code, *parts, words=(), file=None):
        for format in FORMATS:
            result = self.report("--format", format, *words, file=file)
            self.assertSays(result, code, *parts)
            self.assertEqual(result.stdout, "", format)

    def test_a_wrong_run_or_condition_leaves_stdout_empty(self):
        self.assertNothingSaid(2, "has no run 'nope'", words=("--run", "nope"))
        self.assertNothingSaid(2, "'ranks' is no condition", words=("--where", "ranks"))
        self.assertNothingSaid(2, "missing.h5", file=self.folder / "missing.h5")

    def test_what_cannot_be_read_is_not_said_to_be_written(self):
        (self.folder / "circle.h5").symlink_to("circle.h5")
        for name in ("circle.h5", 300 * "x"):
            result = self.report(file=self.folder / name)
            self.assertSays(result, 2, "cannot be read")
            self.assertNotIn("writ", result.stderr)
            self.assertNotIn("--output", result.stderr)

    def test_a_folder_that_one_may_not_read_is_not_said_to_be_written(self):
        as_nobody = ("setpriv", "--reuid=65534", "--clear-groups") if os.geteuid() == 0 else ()
        if as_nobody and cli.run(*as_nobody, "test", "-x", cli.RANKLAB).code != 0:
            self.skipTest("nobody may not run the programs here")
        (self.folder / "us").mkdir()
        (self.folder / "us" / "r.h5").write_bytes(self.file.read_bytes())
        self.folder.chmod(0o755)
        (self.folder / "us").chmod(0o700 if as_nobody else 0)
        result = cli.run(*as_nobody, cli.RANKLAB, "report", self.folder / "us" / "r.h5", cwd="/")
        (self.folder / "us").chmod(0o700)
        self.assertSays(result, 5, "r.h5: you may not read it")
        self.assertNotIn("writ", result.stderr)

    def test_messages_name_what_the_user_named(self):
        result = self.report("--output", "/proc/p.html")
        self.assertCode(result, 5)
        self.assertNotIn(".tmp", result.stderr)
        self.assertIn("/proc/p.html: ", result.stderr)
        self.assertSays(self.report("--plots", "/proc/plots"), 5, "/proc/plots", "No such file", "--plots")
        small = self.mount_small_tmpfs(4096)
        self.assertSays(self.report("--plots", small), 5, "No space left", "--plots")
        self.make_read_only(small)
        self.assertSays(self.report("--plots", small / "new"), 5, "Read-only file system", "--plots")

    def test_a_command_that_is_shown_can_be_typed(self):
        (self.folder / "-dash.h5").write_bytes(self.file.read_bytes())
        result = cli.ranklab("report", "--", "-dash.h5", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertIn("  ranklab report ./-dash.h5 --run ", result.stdout)

    def test_no_key_and_a_key_in_capitals(self):
        self.assertSays(self.report("--group-by", ""), 2, "--group-by names no key")
        self.assertSays(self.report("--group-by", "RANKS"), 2, "did you mean ranks?")

    def test_a_damaged_file_leaves_stdout_empty(self):
        whole = self.file.read_bytes()
        for name, content in (("cut.h5", whole[: len(whole) * 2 // 3]), ("foreign.h5", b"no HDF5" * 100)):
            (self.folder / name).write_bytes(content)
            self.assertNothingSaid(3, name, file=self.folder / name)

    def test_a_run_that_is_damaged_in_the_middle_leaves_stdout_empty(self):
        (h5py,) = cli.modules("h5py")
        copy = self.folder / "bad.h5"
        copy.write_bytes(self.file.read_bytes())
        with h5py.File(copy, "r+") as file:
            file["runs"][list(file["runs"])[-1]].attrs["config_json"] = "{no JSON"
        for format in ("json", "csv", "gbench", "extrap"):
            result = self.report("--format", format, file=copy)
            self.assertSays(result, 3, "config_json")
            self.assertEqual(result.stdout, "", format)

    def test_a_full_disk_and_a_closed_pipe_are_said(self):
        for format in FORMATS:
            command = [cli.RANKLAB, "report", self.file, "--format", format]
            with open("/dev/full", "w") as full:
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=cli.environment())
            self.assertEqual(done.returncode, 5, format)
            self.assertIn("could not be written to stdout", done.stderr)
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, env=cli.environment())
            os.close(writer)
            self.assertEqual(done.returncode, 5, format)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_an_output_that_is_full_is_advised_once(self):
        place = self.mount_small_tmpfs(4096)
        result = self.report("--format", "html", "--output", place / "p.html")
        self.assertSays(result, 5, "no room", "; --output)")
        self.assertNotIn("---", result.stderr)

    def test_an_output_file_is_whole_or_what_it_was(self):
        target = self.folder / "new" / "out.json"
        said = self.report("--format", "json", "--output", target)
        self.assertEqual((said.code, said.stdout, len(said.said)), (0, "", 1))
        self.assertTrue(said.said[0].endswith(f"the report is in {target}"), said.stderr)
        before = target.read_text()
        self.assertEqual(before, self.read("--format", "json"))
        self.assertSays(self.report("--format", "json", "--output", target, "--run", "nope"), 2, "nope")
        self.assertEqual(target.read_text(), before)
        self.assertEqual(self.names(), ["new/out.json"])
        self.read("--format", "csv", "--output", target)
        self.assertEqual(target.read_text(), self.read("--format", "csv"))

    def test_an_output_that_cannot_be_is_refused(self):
        self.assertSays(self.report("--output", self.file), 2, "is an HDF5 file, which is not replaced", "(--output)")
        self.assertEqual(len(self.runs()) > 2, True)
        self.assertSays(self.report("--output", self.folder), 2, "folder")
        self.assertSays(self.report("--output", "/dev/full"), 2, "device")
        small = self.mount_small_tmpfs(4096)
        self.assertSays(self.report("--format", "json", "--output", small / "o.json"), 5, "no room")
        self.assertEqual(list(small.iterdir()), [])
        self.make_read_only(small)
        self.assertSays(self.report("--output", small / "o.txt"), 5, "read-only")


class OddNumbersTest(cli.Case):
    def test_what_is_no_number_is_said_so_and_not_drawn(self):
        values = (0.1, 1e308, float("inf"), float("nan"))
        runs = [results_files.run(10 * i + ranks, {("step_time_s", "s", "cost"): value, ("forward_time_s", "s", "cost"): 1e308, ("job_time_s", "s", "cost"): value,
                                                   ("throughput_samples_per_s", "samples/s", "rate"): value},
                                  duration_s=float("nan"), label="a\x1b[31mb", config={"model": "mnist-cnn", "batch-size": 64, "lr": i},
                                  hosts=[(rank, rank, "node01", "0-3", "cpu") for rank in range(ranks)])
                for i, value in enumerate(values) for ranks in (1, 2)]
        file = results_files.write(self.folder / "odd.h5", runs)
        for run in runs:
            result = cli.ranklab("report", file, "--run", run["id"])
            self.assertCode(result, 0)
            self.assertNotRegex(result.stdout, r"\b(inf|nan)\b|n/a [%s]|\d{20}")
        for words in (("--format", "html"), ("--plots", self.folder / "plots"), ("--group-by", "lr,ranks"), ("--format", "csv")):
            result = cli.ranklab("report", file, *words)
            self.assertCode(result, 0)
            self.assertEqual(result.stderr, "", words)
            self.assertNotIn("\x1b", result.stdout)
        self.assertNotRegex("".join(path.read_text() for path in (self.folder / "plots").glob("*.*p")), r"\binf\b")


if __name__ == "__main__":
    cli.main()
