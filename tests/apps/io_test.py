"""`ranklab io`: what it writes, checks, times and says, for every rung that --list names."""

import json
import os
import pathlib
import re
import signal
import struct

import ranklab_cli as cli
from ranklab_cli import Case, ranklab

RUNGS = cli.rungs()
PARALLEL = [name for name in RUNGS if name.startswith(("mpi", "hdf5-parallel"))]


def shared(rung):
    return rung.startswith("hdf5")


def io(*arguments, **how):
    return ranklab("io", "--output", "none", *arguments, **how)


def runs_of(file):
    report = ranklab("report", file, "--format", "json")
    assert report.code == 0, str(report)
    return json.loads(report.stdout)["runs"]


def column(run, table, name):
    return run["tables"][table][name]


def measured(run, name):
    return next(m for m in run["measurements"] if m["name"] == name)


def written_by(pid):
    """Bytes that the process gave to write calls."""
    return int(re.search(r"(?m)^wchar: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text()).group(1))


class Ladder(Case):
    def run_all(self, ranks, *arguments):
        file = self.folder / f"ladder{ranks}.h5"
        result = ranklab("io", "--output", file, "--directory", self.folder / f"out{ranks}", *arguments, ranks=ranks,
                         timeout=180)
        self.assertCode(result, 0)
        return result, runs_of(file)

    def test_every_rung_is_verified_at_1_to_4_ranks(self):
        for ranks, files, size in ((1, 7, 37), (2, 7, 37), (3, 7, 10), (4, 2, 5)):
            with self.subTest(ranks=ranks, files=files, size=size):
                _, runs = self.run_all(ranks, "-n", files, "-s", size)
                ladder = runs[-1]["tables"]["ladder"]
                self.assertEqual(ladder["rung"], RUNGS)
                self.assertEqual(set(ladder["verified"]), {"yes"})
                for run in runs[:-1]:
                    check = run["tables"]["verification"]
                    self.assertEqual(check["result"], ["passed"], run["config"]["strategy"])
                    self.assertIn(f"{files * size * size} elements", check["detail"][0])
                    self.check_readers(run, ranks)
                    self.assertEqual(measured(run, "wrong_elements")["max"], 0)
                self.assertFalse((self.folder / f"out{ranks}").exists(), "what was written is still there")

    def check_readers(self, run, ranks):
        """By whom it was read back stands in the verdict and in io_reads, rung by rung, and is so."""
        rung = run["config"]["strategy"]
        words, order = "read by other ranks of the same node", "other ranks'"
        if ranks == 1:
            words = "read back by the rank " + ("whose worker processes" if rung.startswith("process") else "that") + " wrote them"
            order = "own"
        elif rung == "hdf5-parallel-collective":
            words, order = "read by ranks that wrote them together", "written together"
        self.assertTrue(run["tables"]["verification"]["detail"][0].endswith(words), run["tables"]["verification"]["detail"])
        passes = dict(zip(column(run, "io_reads", "pass"), column(run, "io_reads", "order")))
        self.assertEqual(passes["check" if ranks > 1 else "read 1"], order, rung)
        if ranks > 1 and rung not in PARALLEL:
            self.assertEqual(passes["read 1"], "shared out", f"{rung}: rank 0 wrote what all read")

    def test_no_files_at_all(self):
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                _, runs = self.run_all(ranks, "-n", 0, "-s", 5)
                self.assertEqual(len(runs), len(RUNGS) + 1)

    def test_the_table_ends_the_ladder(self):
        result, runs = self.run_all(2, "-n", 5, "-s", 20, "-i", 6, "--verbose")
        ladder = runs[-1]["tables"]["ladder"]
        self.assertEqual(ladder["n"], [6] * len(RUNGS))
        self.assertEqual(ladder["speedup"][0], 1)
        for i, rung in enumerate(RUNGS):
            self.assertGreater(ladder["job_time_s"][i], 0)
            self.assertLessEqual(ladder["low_s"][i], ladder["job_time_s"][i])
            self.assertAlmostEqual(ladder["speedup"][i], ladder["job_time_s"][0] / ladder["job_time_s"][i], delta=1e-9)
            self.assertEqual(ladder["ranks"][i], 2 if rung in PARALLEL else 1, rung)
            self.assertGreater(ladder["percent_of_ceiling"][i], 0, rung)
            self.check_ceiling(ladder, i, runs[i]["tables"]["ceilings"], " ".join(result.stdout.split()))
            if i > 0:
                self.assertAlmostEqual(ladder["over_previous"][i], ladder["job_time_s"][i - 1] / ladder["job_time_s"][i],
                                       delta=1e-9)
        self.assertRegex(result.stdout, r"(?m)^ladder$")

    def check_ceiling(self, ladder, i, ceilings, text):
        """A share above 105 % is said to be of a ceiling that does not bind, with the reason, in every table; no other is."""
        for percent, mark in zip(ceilings["percent"], ceilings["mark"]):
            self.assertEqual(percent > 105, "a ceiling that does not bind, since" in mark)
        nearest = ceilings["ceiling_s"].index(max(ceilings["ceiling_s"]))
        binds = ceilings["percent"][nearest] <= 105
        self.assertEqual([word for word in ceilings["binds"] if word], ["yes" if binds else "does not bind"])
        self.assertEqual(ladder["ceiling"][i], ceilings["ceiling"][nearest] + ("" if binds else " (does not bind)"))
        self.assertEqual(binds, "does not bind, since" not in ladder["mark"][i])
        if not binds:
            self.assertIn(ceilings["mark"][nearest], text, "below the table")

    def test_a_rung_is_held_against_its_slowest_writer(self):
        """The pool's workers wait for each other: their phases add up. Those of the queue write at once: the longest counts."""
        file = self.folder / "writers.h5"
        self.assertCode(ranklab("io", "--strategy", "process-pool,process-queue", "--workers", 3, "-n", 12, "-s", 50, "-i", 1,
                                "--ceilings", "on", "--order", "sequential", "--output", file, "--directory", self.folder / "out"), 0)
        for run in runs_of(file)[:-1]:
            with self.subTest(rung=run["config"]["strategy"]):
                total = dict(zip(column(run, "io_phases", "phase"), column(run, "io_phases", "total_s")))
                rung_s = dict(zip(column(run, "ceilings", "ceiling"), column(run, "ceilings", "rung_s")))
                writing, creating = rung_s["raw write()"], rung_s["file creation"]
                if run["config"]["strategy"] == "process-pool":
                    self.assertAlmostEqual(writing, total["write"], delta=1e-9)
                    self.assertAlmostEqual(creating, total["open"] + total["close"], delta=1e-9)
                else:
                    self.assertGreaterEqual(writing, total["write"] / 3 - 1e-9)
                    self.assertLessEqual(writing, total["write"] + 1e-9)

    def test_the_profile_has_the_longest_job_and_not_the_sum(self):
        file = self.folder / "profile.h5"
        self.assertCode(ranklab("io", "--strategy", "binary", "-n", 4, "-s", 20, "-i", 3, "--output", file,
                                "--directory", self.folder / "out"), 0)
        run = runs_of(file)[-1]
        row = column(run, "io_phases", "phase").index("job")
        times = measured(run, "job_time_s")
        self.assertAlmostEqual(column(run, "io_phases", "longest_s")[row], times["max"], delta=1e-12)
        self.assertAlmostEqual(column(run, "io_phases", "cumulative_s")[row], 3 * times["mean"], delta=1e-9)

    def test_whoever_asks_for_chunks_does_not_read_them(self):
        for ranks in (1, 2, 3, 4):
            file = self.folder / f"dynamic{ranks}.h5"
            result = ranklab("io", "--strategy", "mpi-send", "--dynamic", "-n", 9, "-s", 8, "--ceilings", "off", "--output", file,
                             "--directory", self.folder / "out", ranks=ranks)
            self.assertCode(result, 0)
            with self.subTest(ranks=ranks):
                self.check_readers(runs_of(file)[0], ranks)

    def test_reordered_reading_is_by_others_where_it_is_timed(self):
        for rung in ("binary", "process-queue", "mpi-send"):
            for ranks, order in ((1, "own"), (3, "other ranks'")):
                file = self.folder / f"{rung}{ranks}.h5"
                result = ranklab("io", "--strategy", rung, "-C", "-n", 7, "-s", 8, "--ceilings", "off", "--output", file,
                                 "--directory", self.folder / "out", ranks=ranks)
                with self.subTest(rung=rung, ranks=ranks):
                    self.assertCode(result, 0)
                    run = runs_of(file)[0]
                    self.assertEqual((column(run, "io_reads", "pass"), column(run, "io_reads", "order")), (["read 1"], [order]))

    def test_what_an_earlier_run_wrote_is_not_said_to_be_read_by_others(self):
        common = ("--strategy", "binary", "-n", 5, "-s", 8, "--directory", self.folder / "out")
        self.assertCode(io(*common, "-k"), 0)
        for ranks in (1, 2):
            result = io(*common, "--read-only", "--verbose", ranks=ranks)
            self.assertCode(result, 0)
            self.assertIn("written by an earlier run", " ".join(result.stdout.split()))
            self.assertNotIn("read by other ranks", " ".join(result.stdout.split()))

    def test_sweeps(self):
        file = self.folder / "sweep.h5"
        result = ranklab("io", "--strategy", "process-queue,mpi-send", "--sweep-workers", "1,2", "--ranks", "1,2", "--dynamic",
                         "-n", 6, "-s", 10, "--output", file, "--directory", self.folder / "out", ranks=2)
        self.assertCode(result, 0)
        ladder = runs_of(file)[-1]["tables"]["ladder"]
        self.assertEqual(ladder["rung"], ["process-queue"] * 2 + ["mpi-send"] * 2)
        self.assertEqual(ladder["workers"], [1, 2, 0, 0])
        self.assertEqual(ladder["ranks"], [1, 1, 1, 2])


class Files(Case):
    def names_left(self, rung, ranks, *arguments):
        out = self.folder / f"{rung}{ranks}"
        self.assertCode(io("--strategy", rung, "-n", 3, "-s", 4, "-k", "--directory", out, *arguments, ranks=ranks), 0)
        return sorted(path.name for path in out.iterdir())

    def test_names_and_nothing_beside_them(self):
        for rung in RUNGS:
            ending = ".txt" if rung.startswith("text") else ".npy"
            names = ["data.h5"] if shared(rung) else [f"data{i:05}{ending}" for i in range(3)]
            for ranks, extra in ((1, ()), (2, ("--rename", "-i", 2, "-e"))):
                with self.subTest(rung=rung, ranks=ranks):
                    self.assertEqual(self.names_left(rung, ranks, *extra), names)

    def test_old_files_are_replaced_and_others_left_alone(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "data00000.npy").write_bytes(b"")  # as a killed run may leave it
        (out / "data00001.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9, 9), }")
        (out / "data00009.npy").write_bytes(b"mine")
        (out / "notes").write_text("mine")
        self.assertCode(io("--strategy", "binary", "-n", 3, "-s", 4, "--directory", out), 0)
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["data00009.npy", "notes"])

    def test_several_strategies_have_a_folder_each(self):
        self.assertCode(io("--strategy", "binary,text-loop", "-n", 2, "-s", 4, "-k", "--directory", self.folder / "out"), 0)
        self.assertEqual(self.names(), [f"out/{rung}/data0000{i}.{ending}" for rung, ending in
                                        (("binary", "npy"), ("text-loop", "txt")) for i in range(2)])


class Verification(Case):
    def spoilt(self, rung, ranks, spoil, *arguments):
        out = self.folder / f"{rung}-{spoil.__name__}-{ranks}"
        common = ("--strategy", rung, "-n", 5, "-s", 6, "--directory", out)
        self.assertCode(io(*common, "-k"), 0)
        self.assertCode(io(*common, "--read-only", ranks=ranks), 0)
        name = "data.h5" if shared(rung) else sorted(p.name for p in out.iterdir())[3]
        spoil(out / name)
        result = io(*common, "--read-only", *arguments, ranks=ranks)
        self.assertTrue((out / name).exists() or spoil is remove)
        return result, name

    def test_a_flipped_bit_is_found(self):
        for rung in RUNGS:
            for ranks in (1, 3):
                with self.subTest(rung=rung, ranks=ranks):
                    result, name = self.spoilt(rung, ranks, flip_last_value)
                    self.assertSays(result, 3, "1 elements are wrong in 1 records", name)
                    self.assertIn("INVALID", result.stdout)

    def test_truncated_missing_and_foreign_files(self):
        for rung in ("text-loop", "binary", "hdf5-serial"):
            for spoil in (truncate, remove, foreign):
                for ranks in (1, 3):
                    with self.subTest(rung=rung, spoil=spoil.__name__, ranks=ranks):
                        result, name = self.spoilt(rung, ranks, spoil)
                        self.assertSays(result, 3, name)

    def test_not_verified_is_said(self):
        for word in ("--no-verify", "--write-only"):
            result = io("--strategy", "binary", word, "--verbose", "--directory", self.folder / "o")
            self.assertCode(result, 0)
            self.assertRegex(result.stdout, r"every value is as computed +not verified +" + word)

    def test_checks_as_ior(self):
        for ranks in (1, 2):
            for words in (("-W",), ("-R",), ("-C",), ("-W", "-R", "-C", "-i", 2)):
                result = io("--strategy", "binary", "-n", 5, "-s", 7, *words, "--verbose", "--directory", self.folder / "o", ranks=ranks)
                self.assertCode(result, 0)
                self.assertRegex(result.stdout, r"every value is as computed +passed")


def flip_last_value(path):
    """Another last value of the file, or, in HDF5, of the last record: metadata may follow it."""
    data = bytearray(path.read_bytes())
    if path.suffix == ".txt":
        at = data.rindex(b".") + 1
        data[at] = ord("1") if data[at] != ord("1") else ord("2")
    elif path.suffix == ".h5":
        data[data.rindex(struct.pack("<d", kernel(5, 6, 4)[-1]))] ^= 1
    else:
        data[-8] ^= 1
    path.write_bytes(data)


def kernel(n, size, t):
    """Python's own floats: the original's formula, by_y."""
    values = []
    for row in range(size):
        y = 500 - size / 2 + row
        for column in range(size):
            x = 0 - size / 2 + column
            values.append(((x / 10) ** 2 * (y / 10) + (y / 10) ** 2 * (x / 10) + t / n) % 1)
    return values


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def remove(path):
    path.unlink()


def foreign(path):
    path.write_bytes(b"GIF89a" * 200)


class Cache(Case):
    def reads(self, *arguments, code=0):
        file = self.folder / "reads.h5"
        result = ranklab("io", "--strategy", "binary", "-n", 20, "-s", 100, "--output", file, *arguments)
        self.assertCode(result, code)
        return result, runs_of(file)[-1]["tables"]["io_reads"]

    def test_a_second_read_is_warm(self):
        _, reads = self.reads("--reads", 2, "--directory", self.folder / "o")
        self.assertEqual(reads["cache"][1], "memory (tmpfs)" if reads["file_system"][1] == "tmpfs" else "warm")
        self.assertGreaterEqual(reads["resident_percent"][1], 99)

    def test_cold_is_proven_or_refused(self):
        # Some file systems keep what they are asked to drop: then it must be refused.
        file = self.folder / "cold.h5"
        result = ranklab("io", "--strategy", "binary", "-n", 20, "-s", 300, "--cold", "--reads", 2, "--output", file,
                         "--directory", self.folder / "o")
        reads = runs_of(file)[-1]["tables"]["io_reads"]
        if reads["cache"][0] == "cold":
            self.assertCode(result, 0)
            self.assertLessEqual(reads["resident_percent"][0], 1)
            self.assertGreater(reads["block_layer_MiB"][0], 0.9 * reads["MiB"][0])
            self.assertEqual(reads["cache"][1], "warm")
        else:
            self.assertSays(result, 7, "--cold", reads["cache"][0])

    def test_tmpfs_is_named_and_never_cold(self):
        place = self.mount_small_tmpfs(16 << 20)
        for ranks in (1, 3):
            result = io("--strategy", "binary", "-n", 4, "-s", 50, "--cold", "--directory", place / "o", ranks=ranks)
            self.assertSays(result, 7, "tmpfs")
        self.assertCode(io("--strategy", "binary", "-n", 4, "-s", 50, "--directory", place / "o"), 0)


class Size(Case):
    def test_memory_does_not_grow_with_the_number_of_files(self):
        peaks = {}
        for rung in RUNGS:
            many = 5000 if shared(rung) else 20000
            for files in (many // 10, many):
                file = self.folder / f"{rung}{files}.h5"
                result = ranklab("io", "--strategy", rung, "-n", files, "-s", 10, "--workers", 2, "--ceilings", "off",
                                 "--output", file, "--directory", self.folder / "o", ranks=2 if rung in PARALLEL else 1,
                                 timeout=300)
                self.assertCode(result, 0)
                peaks[rung, files] = measured(runs_of(file)[-1], "peak_rss_bytes")["max"]
            # HDF5 itself keeps an index of the datasets in memory.
            room = 60 << 20 if shared(rung) else 8 << 20
            self.assertLess(peaks[rung, many] - peaks[rung, many // 10], room, rung)


class Stop(Case):
    def test_ctrl_c_tells_what_exists_and_leaves_no_half(self):
        for rung in ("text-loop", "binary", "process-pool", "process-queue", "hdf5-serial"):
            for rename in ((), ("--rename",)):
                with self.subTest(rung=rung, rename=rename):
                    out = self.folder / f"{rung}{len(rename)}"
                    job = self.start(cli.RANKLAB, "io", "--strategy", rung, "-n", 200000, "-s", 30, "--workers", 2,
                                     "--directory", out, "--output", "none", *rename)
                    job.wait_until(lambda: out.exists() and len(os.listdir(out)) > (0 if shared(rung) else 20))
                    os.kill(job.process.pid, signal.SIGINT)
                    result = job.finish(30)
                    self.assertSays(result, 130, "stopped by Ctrl-C", "data.h5" if shared(rung) else "of 200000 files")
                    left = list(out.iterdir()) if out.exists() else []
                    self.assertFalse([p for p in left if p.name.startswith(".")], "a temporary file is left")
                    if not shared(rung):
                        self.assertEqual({p.stat().st_size for p in left}, {30 * 30 * 25 if "text" in rung else 7328})
                        said = int(re.search(r"(\d+) of 200000", result.stderr).group(1))
                        self.assertEqual(said, len(left))

    def test_sigterm_of_the_batch_system(self):
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", PARALLEL[0], "-n", 200000, "-s", 30,
                         "--directory", self.folder / "o", "--output", "none")
        job.wait_until(lambda: len(job.ranks()) == 2 and (self.folder / "o").exists()
                       and len(os.listdir(self.folder / "o")) > 0)
        for pid in job.ranks().values():
            os.kill(pid, signal.SIGTERM)
        result = job.finish(40)
        self.assertEqual(result.code, 143, str(result))
        self.assertIn("stopped by SIGTERM", result.stderr)

    def test_one_rank_in_the_middle_of_a_writing(self):
        """The others hear of it where each writes for itself, and agree where they write together: nobody waits for one that left."""
        for number, rung in enumerate(PARALLEL):
            with self.subTest(rung=rung):
                out = self.folder / rung
                job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", rung, "-n", 100000, "-s", 64, "--directory", out,
                                 "--output", "r.h5")
                job.wait_until(lambda: len(job.ranks()) == 2 and out.exists() and len(os.listdir(out)) > 0)
                os.kill(job.ranks()[number % 2], signal.SIGTERM)
                result = job.finish(60)
                self.assertCode(result, 128 + signal.SIGTERM)
                said = [line for line in result.said if "stopped by SIGTERM" in line]
                self.assertEqual(len(said), 1, str(result))
                self.assertIn(f"stopped by SIGTERM while {rung} wrote: ", said[0])
                self.assertNotIn("did not come to the end", result.stderr)
                self.assertEqual(list(self.folder.glob("r.h5.*pending*")), [], "nothing was whole")

    def test_a_rank_that_closes_the_shared_file_already(self):
        """It does not wait inside HDF5 for one that a signal stops in its last records: the whole repetitions are stored."""
        files, size, share = 60, 500, 30 * 500 * 500 * 8
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", "hdf5-parallel-independent", "-n", files, "-s", size, "-i", 100,
                         "--write-only", "--ceilings", "off", "--directory", self.folder / "o", "--output", "r.h5")
        job.wait_until(lambda: len(job.ranks()) == 2)
        first, second = job.ranks()[0], job.ranks()[1]
        job.wait_until(lambda: written_by(first) > 1.2 * share)  # in the second repetition
        os.kill(first, signal.SIGSTOP)
        before = written_by(first)
        job.wait_until(lambda: written_by(second) >= (before // share + 1) * share)  # it closes
        os.kill(first, signal.SIGTERM)
        os.kill(first, signal.SIGCONT)
        result = job.finish(60)
        self.assertCode(result, 128 + signal.SIGTERM)
        self.assertNotIn("did not come to the end", result.stderr)
        self.assertEqual(list(self.folder.glob("r.h5.*pending*")), [])
        self.assertEqual(measured(runs_of(self.folder / "r.h5")[0], "job_time_s")["n"], before // share)

    def test_what_was_cut_is_in_no_table(self):
        """A turn that the time limit or a signal cut is none of the run's."""
        for signalled in (False, True):
            with self.subTest(signalled=signalled):
                out, file = self.folder / "o", self.folder / f"r{signalled}.h5"
                job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", "text-loop,hdf5-parallel-collective", "-n", 300, "-s", 30,
                                 "-i", 100000, "--ceilings", "off", "--directory", out, "--output", file,
                                 *(() if signalled else ("--time-limit", 0.7)))
                if signalled:
                    job.wait_until(lambda: list(self.folder.glob("rTrue.h5.*pending*")))  # some are whole
                    for pid in job.ranks().values():
                        os.kill(pid, signal.SIGTERM)
                self.assertCode(job.finish(60), 128 + signal.SIGTERM if signalled else 6)
                for run in runs_of(file)[:2]:
                    n = measured(run, "job_time_s")["n"]
                    self.assertEqual(len(column(run, "order", "round")), n)
                    self.assertEqual(column(run, "order", "round"), list(range(1, n + 1)))

    def test_a_comparison_of_cut_runs_is_marked(self):
        """Each of the runs is cut in its own turn: so is what they came to, and a filter for whole ones leaves it out."""
        file = self.folder / "r.h5"
        words = ("io", "--strategy", "text-loop,binary", "-n", 50, "-s", 30, "-i", 100000, "--ceilings", "off", "--directory",
                 self.folder / "o", "--output", file, "--time-limit", 0.7)
        result = ranklab(*words, cwd=self.folder)
        self.assertCode(result, 6)
        *runs, summary = runs_of(file)
        self.assertEqual([(run["exit_code"], run["valid"], run["cut_short"]) for run in (*runs, summary)], [(6, True, "time limit")] * 3)
        self.assertEqual(summary["warnings"][0], "2 of 2 runs were cut short (time limit): it compares what was measured until then")
        self.assertRegex(result.stdout, r"\n  fastest ")
        self.assertIn("holds no run of cut_short=", ranklab("results", "list", file, "--where", "cut_short=").stdout)

    def test_the_lines_of_finished_runs_do_not_wait_once_a_signal_came(self):
        """The job may be killed before their pace allows them."""
        out = self.folder / "o"
        job = self.start(cli.RANKLAB, "io", "--strategy", "text-loop,binary,mpi-send,hdf5-serial", "-n", 200, "-s", 60, "-i", 20,
                         "--order", "sequential", "--ceilings", "off", "--directory", out, "--output", "none")
        job.wait_until(lambda: (out / "binary").exists())
        os.kill(job.process.pid, signal.SIGTERM)
        result = job.finish(60)
        self.assertCode(result, 128 + signal.SIGTERM)
        self.assertRegex(result.stderr, r"(?m)^text-loop: .* verified \(not stored\)$")

    def test_the_time_limit(self):
        result = io("--strategy", "binary", "-i", 100000, "-s", 300, "--time-limit", 0.5, "--directory", self.folder / "o")
        self.assertSays(result, 6, "time limit", "of 100000 repetitions")


class Libraries(Case):
    def test_no_libtorch(self):
        for program in ("ranklab-io", "ranklab-io-worker"):
            text = cli.run("ldd", cli.BIN / program).stdout
            self.assertRegex(text, "libstdc")
            self.assertNotRegex(text, r"libtorch|libc10", program)


if __name__ == "__main__":
    cli.main()
