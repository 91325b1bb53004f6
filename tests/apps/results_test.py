"""ranklab results: check, merge, export and list; two HDF5 libraries, concurrent and killed writers, and a lock of another process."""

import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import signal

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

h5py, numpy = cli.modules("h5py", "numpy")

WRITER = cli.BIN.parent / "tests" / "results_writer"
WRITER_WITHOUT_MPI = cli.BIN.parent / "tests" / "results_writer_no_mpi"
IO = ("io", "--strategy", "binary", "--files", 2, "--size", 10)


def results(*arguments, **how):
    return ranklab("results", *arguments, **how)


def ids(path):
    with h5py.File(path) as file:
        return list(file["runs"])


class ResultsCase(Case):
    """Copies a file with three runs of `io` into the scratch folder."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cli.tempfile.TemporaryDirectory(prefix="ranklab-test-")
        cls.addClassCleanup(made.cleanup)
        cls.whole = pathlib.Path(made.name) / "r.h5"
        for label in "abb":
            result = ranklab(*IO, "--label", label, "--output", cls.whole, cwd=made.name)
            assert result.code == 0, str(result)

    def setUp(self):
        super().setUp()
        self.file, self.pattern = self.folder / "r.h5", self.folder / "pattern.h5"
        for path in (self.file, self.pattern): shutil.copy(self.whole, path)

    def labels(self, path):
        with h5py.File(path) as file:
            return [run.attrs["label"] for run in file["runs"].values()]

    def good(self, *arguments):
        result = results(*arguments, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertEqual(result.said, [], str(result))
        return result.stdout

    def append(self, prefix, count, writer=WRITER):
        return self.start(writer, "append", self.file, self.pattern, prefix, count)


class VerbsTest(ResultsCase):
    def test_list(self):
        text = self.good("list", self.file)
        for run in ids(self.file): self.assertIn(run, text)
        self.assertRegex(text, r"io binary on 1 x \d+ +[\d.]+ MiB/s +a\n")
        self.assertIn("2 runs", self.good("list", self.file, "--where", "label=b", "--where=ranks>=1"))
        self.assertIn("binary", self.good("list", self.file, "--where", "strategy=binry"))

    def test_a_damaged_run_is_named_and_the_others_can_be_saved(self):
        self.assertRegex(self.good("check", self.file), r"r\.h5: 3 runs, [\d.]+ KiB, 0 damaged\n")
        victim = ids(self.file)[1]
        with h5py.File(self.file, "r+") as file: del file[f"runs/{victim}/hosts"]
        result = results("check", self.file)
        self.assertSays(result, 3, "1 of 3 runs", "--skip-damaged")
        self.assertIn(f"damaged {victim}: ", result.stdout)
        for words in (("results", "merge", self.folder / "m.h5", self.file), ("report", self.file, "--format", "json"), ("compare", self.file, self.file),
                      ("results", "export", self.file, "--output", self.folder / "n.h5"), ("results", "list", self.file, "--where", "label=b")):
            with self.subTest(words=words):
                result = ranklab(*words)
                self.assertSays(result, 3, victim, "--skip-damaged")
                self.assertEqual(result.stdout, "")
        self.good("export", self.file, "--output", self.folder / "saved.h5", "--skip-damaged")
        self.assertEqual(self.labels(self.folder / "saved.h5"), ["a", "b"])
        self.good("check", self.folder / "saved.h5")

    def test_what_is_no_results_file_stays_as_it_is(self):
        (self.folder / "cut").write_bytes(self.file.read_bytes()[:4000])
        with h5py.File(self.folder / "foreign", "w") as file: file["runs/data"] = numpy.arange(3)
        with h5py.File(self.folder / "schema2", "w") as file:
            file.attrs["ranklab_schema"] = 2
            file.create_group("runs")
        for name in ("cut", "foreign", "schema2"):
            bad = self.folder / name
            before = bad.read_bytes()
            for words in (("check", bad), ("list", bad), ("merge", self.file, bad), ("merge", bad, self.file),
                          ("export", bad, "--output", self.folder / "new.h5")):
                with self.subTest(words=words): self.assertSays(results(*words), 3, bad)
            self.assertEqual(bad.read_bytes(), before)
        self.assertEqual(self.file.read_bytes(), self.whole.read_bytes())
        self.assertFalse((self.folder / "new.h5").exists())

    def test_merge(self):
        other = self.folder / "other.h5"
        self.assertCode(ranklab(*IO, "--label", "c", "--output", other, cwd=self.folder), 0)
        everything = self.folder / "all.h5"
        self.assertRegex(self.good("merge", everything, self.file), r"\b3 runs\b.*\b0\b")
        self.assertRegex(self.good("merge", everything, other, self.file), r"\b1 runs\b.*\b0\b")
        self.assertEqual(sorted(self.labels(everything)), ["a", "b", "b", "c"])
        self.assertRegex(self.good("merge", everything, other), r"\b0 runs\b.*\b1\b")
        self.good("check", everything)
        wanted, found = ({run["id"]: run for run in json.loads(ranklab("report", path, "--format", "json").stdout)["runs"]} for path in (self.file, everything))
        self.assertEqual({name: found[name] for name in wanted}, wanted)

    def test_export(self):
        self.good("export", self.file, "--output", self.folder / "b.h5", "--where", "label=b")
        self.assertEqual(self.labels(self.folder / "b.h5"), ["b", "b"])


class TwoLibrariesTest(ResultsCase):
    """Jobs write with the parallel HDF5, programs of the login node with the serial one (ADR 0016)."""

    def contents(self):
        with h5py.File(self.file) as file:
            return {name: {table: repr(group[table][...].tolist()) for table in ("measurements", "hosts")} for name, group in file["runs"].items()}

    def test_each_reads_and_appends_to_what_the_other_wrote(self):
        wanted = list(self.contents().values())
        self.good("export", self.pattern, "--output", self.folder / "desk.h5")  # made by the serial HDF5
        shutil.copy(self.folder / "desk.h5", self.file)
        for turn, writer in enumerate((WRITER, WRITER_WITHOUT_MPI, WRITER)):
            before = self.contents()
            self.assertCode(self.append(f"turn{turn}", 3, writer).finish(), 0)
            after = self.contents()
            self.assertEqual({name: after.get(name) for name in before}, before)
            self.assertEqual([after[f"turn{turn}-{i}"] for i in range(3)], wanted)
        self.good("check", self.file)


class WritersTest(ResultsCase):
    """The long form: tests/slow/apps/results_storm_test.py."""

    def test_no_kill_loses_a_stored_run(self):
        stored = set(ids(self.file))
        for kill in range(10):
            job = self.append(f"k{kill}", 0)
            job.wait_until(lambda: os.pread(job._stdout.fileno(), 1, 0))
            cli.time.sleep(random.uniform(0, 0.03))
            os.kill(job.process.pid, signal.SIGKILL)
            stored |= set(job.finish().stdout.split())
            self.assertLessEqual(stored, set(ids(self.file)), f"after kill {kill}")
        self.assertCode(results("check", self.file), 0)
        self.assertCode(self.append("after", 1).finish(), 0)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".")], [], "what they left is tidied")

    def test_many_writers_at_once(self):
        for job in [self.append(f"w{writer}", 5) for writer in range(8)]: self.assertCode(job.finish(), 0)
        self.assertLessEqual({f"w{writer}-{run}" for writer in range(8) for run in range(5)}, set(ids(self.file)))
        self.assertEqual(len(ids(self.file)), 43)

    def test_a_lock_that_others_keep(self):
        """The run goes into a separate file beside it, and the printed command merges it."""
        with open(self.folder / "r.h5.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            result = ranklab(*IO, "--output", "r.h5", "--lock-timeout", 0.2, cwd=self.folder)
            self.assertSays(results("merge", self.file, self.whole, "--lock-timeout", 0.1), 5, "r.h5")
        self.assertCode(result, 5)
        self.assertIn("  write ", result.stdout)
        command = re.search(r"`ranklab (results merge r.h5 \S+\.h5)`", result.stderr)
        self.assertIsNotNone(command, str(result))
        self.assertCode(ranklab(*command[1].split(), cwd=self.folder), 0)
        self.assertEqual(len(ids(self.file)), 4)


if __name__ == "__main__":
    cli.main()
