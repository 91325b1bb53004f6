"""ranklab report: files that cannot be written or read, Google's compare.py as a reader of its output, and values that are not numbers."""

import json
import os
import pathlib
import subprocess

import ranklab_cli as cli
import results_files
from report_case import FORMATS, ReportCase

COMPARE_PY = pathlib.Path("/usr/share/benchmark/compare.py")  # Debian's libbenchmark-tools

# The part of scipy that compare.py needs without tests.
STAND_IN_SCIPY = """import math
def gmean(rows):
    import numpy
    return numpy.array([math.exp(sum(math.log(v) for v in column) / len(column)) for column in zip(*rows)])
def mannwhitneyu(*_, **__):
    raise NotImplementedError
"""


class Report(ReportCase):
    def test_googles_compare_reads_it(self):
        if not COMPARE_PY.exists():
            self.skipTest(f"{COMPARE_PY} is not there: Debian's libbenchmark-tools has it, ./bootstrap installs it")
        numpy = cli.python_with("numpy")
        if numpy is None:
            self.skipTest("compare.py needs numpy")
        (self.folder / "a.json").write_text(self.read("--format", "gbench", "--label", "one"))
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
        self.assertRegex(result.stdout, r"io/mpi-send/files:4/size:20/ranks:1/job_time +\+0\.25")

    def test_what_cannot_be_read_is_not_said_to_be_written(self):
        (self.folder / "circle.h5").symlink_to("circle.h5")
        for name, said in (("circle.h5", "circle of links"), (300 * "x", "cannot be read")):
            result = self.report(file=self.folder / name)
            self.assertSays(result, 2, said)
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
        self.assertSays(result, 5, "r.h5")
        self.assertNotIn("writ", result.stderr)

    def test_messages_name_what_the_user_named(self):
        result = self.report("--output", "/proc/p.html")
        self.assertCode(result, 5)
        self.assertNotIn(".tmp", result.stderr)
        self.assertIn("/proc/p.html: ", result.stderr)
        self.assertSays(self.report("--plots", "/proc/plots"), 5, "/proc/plots", "--plots")
        small = self.mount_small_tmpfs(4096)
        self.assertSays(self.report("--plots", small), 5, small, "--plots")
        self.make_read_only(small)
        self.assertSays(self.report("--plots", small / "new"), 5, small, "--plots")

    def test_a_full_disk_and_a_closed_pipe_are_said(self):
        for format in FORMATS:
            command = [cli.RANKLAB, "report", self.file, "--format", format]
            with open("/dev/full", "w") as full:
                done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=cli.environment())
            self.assertEqual(done.returncode, 5, format)
            self.assertIn("stdout", done.stderr)
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, env=cli.environment())
            os.close(writer)
            self.assertEqual(done.returncode, 5, format)
            self.assertIn("stdout", done.stderr.splitlines()[-1])

    def test_an_output_that_cannot_be_is_refused(self):
        self.assertSays(self.report("--output", self.file), 2, self.file, "--output")
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
        runs = [results_files.run(10 * i + ranks, {("step_time_s", "s", "cost"): value, ("forward_time_s", "s", "cost"): 1e308,
                                                   ("throughput_samples_per_s", "samples/s", "rate"): value},
                                  duration_s=float("nan"), label="a\x1b[31mb", config={"model": "mnist-cnn", "batch-size": 64, "lr": i},
                                  hosts=[(rank, rank, "node01", "0-3", "cpu") for rank in range(ranks)])
                for i, value in enumerate((0.1, 1e308, float("inf"), float("nan"))) for ranks in (1, 2)]
        file = results_files.write(self.folder / "odd.h5", runs)
        for words in [("--run", runs[i]["id"]) for i in (2, 4, 6)] + [("--format", "html"), ("--group-by", "lr,ranks")]:
            result = cli.ranklab("report", file, *words)
            self.assertCode(result, 0)
            self.assertEqual(result.stderr, "", words)
            self.assertNotIn("\x1b", result.stdout)
            if words[0] == "--run": self.assertNotRegex(result.stdout, r"\b(inf|nan)\b|n/a [%s]")
        # The newest runs, which --plots draws, have no finite number.
        self.assertSays(cli.ranklab("report", file, "--plots", self.folder / "plots"), 2, "to draw")


if __name__ == "__main__":
    cli.main()
