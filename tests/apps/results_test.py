"""ranklab results: check, merge, export, prune and list, on files that are whole, foreign, damaged and gone."""

import json
import os
import shutil
import time
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

h5py, numpy = cli.modules("h5py", "numpy")

WRITER = cli.BIN.parent / "tests" / "results_writer"
WRITER_WITHOUT_MPI = cli.BIN.parent / "tests" / "results_writer_no_mpi"


def results(*arguments, **how):
    return ranklab("results", *arguments, **how)


def ids(path):
    with h5py.File(path) as file:
        return list(file["runs"])


class ResultsCase(Case):
    """Runs of `ranklab io`, which are real and take no time."""

    def setUp(self):
        super().setUp()
        self.file = self.store("r.h5", "a", "b", "b")

    def store(self, name, *labels):
        path = self.folder / name
        for label in labels:
            result = ranklab("io", "--strategy", "binary", "--files", 2, "--size", 10, "--label", label, "--output", path, cwd=self.folder)
            self.assertCode(result, 0)
        return path

    def labels(self, path):
        with h5py.File(path) as file:
            return [run.attrs["label"] for run in file["runs"].values()]

    def good(self, *arguments):
        result = results(*arguments, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertEqual(result.said, [], str(result))
        return result.stdout


class ListTest(ResultsCase):
    def test_runs_and_those_that_meet_conditions(self):
        for run in ids(self.file):
            self.assertIn(run, self.good("list", self.file))
        self.assertIn("2 run(s)", self.good("list", self.file, "--where", "label=b", "--where", "command=io"))
        self.assertIn("2 run(s)", self.good("list", self.file, "--where", "label=b", "--where=ranks>=1"))
        self.assertSays(results("list", self.file, "--where", "label"), 2, "'label' is no condition")
        self.assertEqual(self.good("list", self.file, "--where", "model=x"), f"{self.file} holds no run of model=x; none has model\n")
        self.assertIn("strategy is binary there", self.good("list", self.file, "--where", "strategy=binry"))
        self.assertRegex(self.good("list", self.file), r"io binary on 1 x \d+ +[\d.]+ MiB/s  a\n")
        self.assertSays(results("list", self.file, "--where", "strategy==binary"), 2, "no ==, did you mean =?")


    def test_what_may_not_be_read(self):
        """Another user's file is not taken for a foreign one."""
        self.folder.chmod(0o755)
        self.file.chmod(0)
        as_nobody = ("setpriv", "--reuid=65534", "--clear-groups") if os.geteuid() == 0 else ()
        if as_nobody and cli.run(*as_nobody, "test", "-x", cli.RANKLAB).code != 0:
            self.skipTest("another user may not enter the build folder")
        for words in (("report", self.file), ("results", "list", self.file), ("compare", self.file, self.file)):
            result = cli.run(*as_nobody, cli.RANKLAB, *words, cwd="/")
            self.assertSays(result, 5, "you may not read it")

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_a_screen_that_takes_nothing(self):
        result = cli.run("sh", "-c", 'exec "$0" results list r.h5 >/dev/full', cli.RANKLAB, cwd=self.folder)
        self.assertSays(result, 5, "stdout")


class CheckTest(ResultsCase):
    def test_a_whole_file(self):
        self.assertRegex(self.good("check", self.file), r"r\.h5: 3 runs, \d+ datasets, [\d.]+ KiB, 0 damaged\n")

    def test_a_damaged_run_is_named_and_the_others_can_be_saved(self):
        with h5py.File(self.file, "r+") as file:
            victim = list(file["runs"])[1]
            del file[f"runs/{victim}/hosts"]
        result = results("check", self.file)
        self.assertSays(result, 3, "1 of 3 runs are damaged", "--skip-damaged")
        self.assertIn(f"damaged {victim}: ", result.stdout)
        for words in (("results", "list", self.file), ("results", "merge", self.folder / "m.h5", self.file), ("report", self.file),
                      ("results", "prune", self.file, "--where", "label=a", "--yes"), ("compare", self.file, self.file), ("report", self.file, "--format", "json")):
            with self.subTest(words=words):
                result = ranklab(*words)
                if words[:2] == ("results", "list") or words == ("report", self.file):
                    self.assertCode(result, 0)  # no more is read than what is shown
                    result = ranklab(*words, "--where", "label=b")
                self.assertSays(result, 3, f"run {victim} is damaged; `ranklab results export {self.file} --output NEW.h5 --skip-damaged` saves")
                self.assertNotRegex(result.stderr, r"H5[A-Z]|\.cpp|\[")
                self.assertEqual(result.stdout, "")
        self.assertSays(results("export", self.file, "--output", self.folder / "no.h5", "--skip-damaged", "--where", "label=a"), 2, "--skip-damaged")
        self.assertIn("2 runs", self.good("export", self.file, "--output", self.folder / "saved.h5", "--skip-damaged"))
        self.assertEqual(self.labels(self.folder / "saved.h5"), ["a", "b"])
        self.good("check", self.folder / "saved.h5")

    def test_what_it_finds_sound_every_command_takes(self):
        def soft_run(file):
            file["runs/other"] = h5py.SoftLink(f"/runs/{list(file['runs'])[0]}")

        def soft_table(file):
            run = list(file["runs"].values())[0]
            run["tables/other"] = h5py.SoftLink(f"{run.name}/hosts")

        def soft_note(file):
            file["notes"] = h5py.SoftLink("/runs")

        def lists_of_any_length(file):
            list(file["runs"].values())[0].create_dataset("more", (2,), h5py.vlen_dtype("f8"))

        def no_date(file):
            del file.attrs["created_utc"]

        def more_than_we_know(file):
            file["notes"] = numpy.arange(3)
            list(file["runs"].values())[0].attrs["more"] = "x"

        for change, code in ((soft_run, 3), (soft_table, 3), (soft_note, 3), (lists_of_any_length, 3), (no_date, 3), (more_than_we_know, 0)):
            with self.subTest(change.__name__):
                path = self.folder / "changed.h5"
                path.write_bytes(self.file.read_bytes())
                with h5py.File(path, "r+") as file:
                    change(file)
                new = self.folder / "new.h5"
                new.unlink(missing_ok=True)
                codes = {words: results(*words).code for words in (
                    ("check", path), ("list", path), ("export", path, "--output", new), ("merge", self.folder / "fresh.h5", path),
                    ("merge", path, self.file), ("prune", path, "--where", "label=nobody"), ("prune", path, "--keep-last", "1", "--yes"))}
                self.assertEqual(codes["check", path], code, codes)
                if code == 0: self.assertEqual(set(codes.values()), {0}, codes)

    def test_nothing_to_export_is_told_by_its_reason(self):
        new = self.folder / "new.h5"
        self.assertSays(results("export", self.file, "--output", new, "--where", "label=nobody"), 2, "meets the conditions")
        with h5py.File(self.file, "r+") as file:
            for run in file["runs"].values(): del run["hosts"]
        for words in (("export", self.file, "--output", new, "--skip-damaged"), ("check", self.file)):
            self.assertSays(results(*words), 3, "3 of 3 runs are damaged; restore a copy")
        with h5py.File(self.file, "r+") as file:
            for run in list(file["runs"]): del file["runs"][run]
        self.assertSays(results("export", self.file, "--output", new), 2, "holds no runs")
        self.assertSays(results("export", self.file, "--output", new, "--skip-damaged"), 2, "holds no runs")

    def test_what_lies_beside_the_runs(self):
        with h5py.File(self.file, "r+") as file:
            file["notes"] = h5py.SoftLink("/runs")
        result = results("check", self.file)
        self.assertSays(result, 3, "beside its runs", "results export")
        self.assertIn("damaged beside the runs: /notes is a soft link", result.stdout)
        self.assertCode(results("prune", self.file, "--keep-last", "1", "--yes"), 3)
        self.good("export", self.file, "--output", self.folder / "runs.h5")
        self.good("check", self.folder / "runs.h5")

    def test_what_is_no_results_file(self):
        whole = self.file.read_bytes()
        (self.folder / "text").write_text("run,median\n")
        (self.folder / "empty").write_bytes(b"")
        (self.folder / "cut").write_bytes(whole[: len(whole) // 2])
        with h5py.File(self.folder / "foreign", "w") as file:
            file["runs/data"] = numpy.arange(3)
        with h5py.File(self.folder / "schema2", "w") as file:
            file.attrs["ranklab_schema"] = 2
            file.create_group("runs")
        for name, part in (("text", "not an HDF5 file"), ("empty", "not an HDF5 file"), ("cut", "damaged or cut short"),
                           ("foreign", "ranklab_schema"), ("schema2", "results schema 2")):
            bad = self.folder / name
            before = bad.read_bytes()
            for words in (["check", bad], ["list", bad], ["merge", self.file, bad], ["merge", bad, self.file], ["prune", bad, "--keep-last", 0, "--yes"],
                          ["export", bad, "--output", self.folder / "new.h5"]):
                with self.subTest(words=words):
                    self.assertSays(results(*words), 3, bad, part)
            self.assertEqual(bad.read_bytes(), before)
        self.assertEqual(self.file.read_bytes(), whole)
        self.assertSays(results("check", self.folder), 2, "is a folder")
        self.assertSays(results("check", self.folder / "none"), 2, "there is no results file")
        self.assertFalse((self.folder / "new.h5").exists())


class MergeTest(ResultsCase):
    def test_files_of_two_clusters_and_once_more(self):
        time.sleep(1.1)  # started_utc counts seconds
        other = self.store("other.h5", "c")
        text = self.good("merge", self.folder / "all.h5", other, self.file)
        self.assertIn("1 runs added, 0 there already, 0 renamed", text)
        self.assertIn("all.h5: 4 runs", text)
        self.assertEqual(self.labels(self.folder / "all.h5"), ["a", "b", "b", "c"], "in the order of their start")
        self.assertIn("0 runs added, 3 there already", self.good("merge", self.folder / "all.h5", self.file))
        self.assertEqual(len(ids(self.folder / "all.h5")), 4)
        self.good("check", self.folder / "all.h5")
        before = json.loads(ranklab("report", self.file, "--format", "json").stdout)["runs"]
        after = json.loads(ranklab("report", self.folder / "all.h5", "--format", "json").stdout)["runs"]
        self.assertEqual(after[:3], before)

    def test_a_clash_of_ids_keeps_both(self):
        clash = self.folder / "clash.h5"
        shutil.copy(self.file, clash)
        with h5py.File(clash, "r+") as file:
            victim = list(file["runs"])[0]
            file[f"runs/{victim}"].attrs["label"] = "another"
        text = self.good("merge", self.file, clash)
        self.assertIn("1 runs added, 2 there already, 1 renamed", text)
        self.assertIn(f"renamed {victim} to ", text)
        self.assertEqual(sorted(self.labels(self.file)), ["a", "another", "b", "b"])
        self.assertIn("0 runs added, 3 there already", self.good("merge", self.file, clash))

    def test_a_full_disk_leaves_the_file_as_it_was(self):
        place = self.mount_small_tmpfs(512 << 10)
        shutil.copy(self.file, place / "r.h5")
        cli.run(WRITER, "multiply", self.file, self.folder / "big.h5", 60)
        before = (place / "r.h5").read_bytes()
        self.assertSays(results("merge", place / "r.h5", self.folder / "big.h5"), 5, "no room")
        self.assertEqual((place / "r.h5").read_bytes(), before)
        self.assertEqual([p.name for p in place.iterdir() if p.suffix != ".lock"], ["r.h5"])

    def test_needs_two_files(self):
        self.assertSays(results("merge", self.file), 2, "needs the file to merge into")


class ExportAndPruneTest(ResultsCase):
    def test_export(self):
        self.good("export", self.file, "--output", self.folder / "b.h5", "--where", "label=b")
        self.assertEqual(self.labels(self.folder / "b.h5"), ["b", "b"])
        self.assertSays(results("export", self.file, "--output", self.folder / "b.h5"), 2, "is there already")
        self.assertSays(results("export", self.file, "--output", self.folder / "n.h5", "--where", "label=z"), 2, "no run of")
        self.assertSays(results("export", self.file), 2, "--output")

    def test_prune_asks_says_and_does(self):
        before = self.file.read_bytes()
        first, second, third = ids(self.file)
        self.assertIn("1 runs would be removed", self.good("prune", self.file, "--where", "label=b", "--keep-last", 1, "--dry-run"))
        self.assertSays(results("prune", self.file, "--where", "label=b"), 2, "--yes")
        self.assertSays(results("prune", self.file, "--yes"), 2, "--where CONDITION or --keep-last N")
        self.assertEqual(self.file.read_bytes(), before)
        self.assertIn(f"would remove {second} io b", results("prune", self.file, "--where", "label=b").stdout)
        text = self.good("prune", self.file, "--where", "label=b", "--keep-last", 1, "--yes")
        self.assertIn(f"removed {second} io b", text)
        self.assertEqual(ids(self.file), [first, third])
        self.assertLess(self.file.stat().st_size, len(before) * 0.8)
        self.assertIn("0 runs to remove", self.good("prune", self.file, "--where", "label=z", "--yes"))

    def test_a_place_that_cannot_be_written(self):
        place = self.mount_small_tmpfs(512 << 10)
        shutil.copy(self.file, place / "r.h5")
        self.make_read_only(place)
        for words in (("prune", place / "r.h5", "--keep-last", 1, "--yes"), ("merge", place / "r.h5", self.file)):
            result = results(*words)
            self.assertSays(result, 5, "read-only")
            self.assertEqual(result.stdout, "", "nothing was done")
            self.assertNotIn("--output", result.stderr, "which it does not have")

    def test_appends_meanwhile_are_kept(self):
        pattern = self.folder / "pattern.h5"
        shutil.copy(self.file, pattern)
        job = self.start(WRITER, "append", self.file, pattern, "n", 40)
        for _ in range(5):
            for words in (("prune", self.file, "--where", "label=a", "--yes"), ("merge", self.file, pattern)):
                done = results(*words, cwd=self.folder)
                self.assertCode(done, 0)
                others = [line for line in done.said if not line.startswith("waiting for process ")]
                self.assertEqual(others, [], str(done))
        told = job.finish().stdout.split()
        self.assertEqual(len(told), 40)
        gone = {run for run in told if int(run.partition("-")[2]) % 3 == 0}  # those of label a may have been pruned
        self.assertLessEqual(set(told) - gone, set(ids(self.file)))


class TwoLibrariesTest(ResultsCase):
    """Jobs write by the parallel HDF5, the programs of the login node by the serial one (ADR 0016)."""

    def contents(self, path):
        with h5py.File(path) as file:
            return {name: {table: repr(group[table][...].tolist()) for table in ("measurements", "hosts")} for name, group in file["runs"].items()}

    def append(self, writer, prefix):
        done = cli.run(writer, "append", self.file, self.pattern, prefix, 3)
        self.assertCode(done, 0)
        self.assertEqual(done.said, [], str(done))

    def test_each_reads_and_appends_to_what_the_other_wrote(self):
        self.pattern = self.folder / "pattern.h5"
        shutil.copy(self.file, self.pattern)
        wanted = list(self.contents(self.pattern).values())
        for turn, writer in enumerate((WRITER, WRITER_WITHOUT_MPI, WRITER, WRITER_WITHOUT_MPI)):
            before = self.contents(self.file)
            self.append(writer, f"turn{turn}")
            after = self.contents(self.file)
            self.assertEqual({name: after.get(name) for name in before}, before)
            self.assertEqual([after[f"turn{turn}-{i}"] for i in range(3)], wanted)
        self.assertIn("15 run(s)", self.good("list", self.file))
        self.good("check", self.file)

    def test_a_file_that_the_login_node_made_takes_runs_of_a_job(self):
        self.good("export", self.file, "--output", self.folder / "b.h5", "--where", "label=b")
        self.file = self.store("b.h5", "c")
        self.assertEqual(self.labels(self.file), ["b", "b", "c"])
        self.pattern = self.folder / "r.h5"
        self.append(WRITER, "job")
        self.append(WRITER_WITHOUT_MPI, "desk")
        self.assertIn("9 run(s)", self.good("list", self.file))
        self.good("check", self.file)


class HelpTest(Case):
    def test_help_and_slips(self):
        for words in (["--help"], ["check", "--help"], ["prune", "--help"]):
            self.assertIn("Usage: ranklab results", results(*words).stdout)
        self.assertCode(results(), 2)
        self.assertSays(results("chek", "x"), 2, "did you mean check?")
        self.assertSays(results("check"), 2, "needs a results file")
        self.assertIn("results ", ranklab("--help").stdout)


if __name__ == "__main__":
    cli.main()
