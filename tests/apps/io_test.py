"""`ranklab io`: files, verification, times and output of every strategy in --list."""

import json
import os
import re
import shutil
import signal
import struct

import ranklab_cli as cli
from io_runs import PARALLEL, RUNGS, column, measured, runs_of, shared
from ranklab_cli import Case, ranklab

FILES, SIZE, TIMES = 7, 10, 2  # divisible by neither 2 nor 3 ranks


def io(*arguments, **how):
    return ranklab("io", "--output", "none", *arguments, **how)


def kernel(n, size, t, loop=False):
    """The original's formula in Python, row by row; the original's text loop goes by columns."""
    def value(x, y):
        return ((x / 10) ** 2 * (y / 10) + (y / 10) ** 2 * (x / 10) + t / n) % 1

    xs, ys = [i - size / 2 for i in range(size)], [500 - size / 2 + i for i in range(size)]
    return [value(x, y) for x in xs for y in ys] if loop else [value(x, y) for y in ys for x in xs]


class Ladder(Case):
    """One start with all rungs at 1 rank and one at 3."""

    @classmethod
    def setUpClass(cls):
        cls.case = Case()
        cls.case.setUp()
        cls.addClassCleanup(cls.case.doCleanups)
        cls.out, cls.result, cls.runs = {}, {}, {}
        for ranks in (1, 3):
            cls.out[ranks], file = cls.case.folder / f"out{ranks}", cls.case.folder / f"ladder{ranks}.h5"
            cls.result[ranks] = ranklab("io", "--config", cli.SOURCE / "configs/io/ladder_smoke.ini", "-n", FILES, "-s", SIZE, "-k", "-i", TIMES,
                                        "--ceilings", "on", "--verbose", "--output", file, "--directory", cls.out[ranks], ranks=ranks,
                                        timeout=180)
            cls.case.assertCode(cls.result[ranks], 0)
            cls.runs[ranks] = runs_of(file)

    def test_every_rung_is_verified_and_says_by_whom(self):
        for ranks, runs in self.runs.items():
            ladder = runs[-1]["tables"]["ladder"]
            self.assertEqual(ladder["rung"], RUNGS)
            self.assertEqual(set(ladder["verified"]), {"yes"})
            for run in runs[:-1]:
                with self.subTest(rung=run["config"]["strategy"], ranks=ranks):
                    check = run["tables"]["verification"]
                    self.assertEqual(check["result"], ["passed"])
                    self.assertIn(f"{TIMES * FILES * SIZE**2} elements", check["detail"][0])
                    self.assertEqual(measured(run, "wrong_elements")["max"], 0)
                    self.check_readers(run, ranks)

    def check_readers(self, run, ranks):
        """The verification and io_reads name the ranks that read each record."""
        rung = run["config"]["strategy"]
        order = "own" if ranks == 1 else "written together" if rung == "hdf5-parallel-collective" else "other ranks'"
        self.assertRegex(column(run, "verification", "detail")[0], {"own": "wrote them$", "written together": "wrote them together$"}.get(order, "by other ranks"))
        passes = dict(zip(column(run, "io_reads", "pass"), column(run, "io_reads", "order")))
        self.assertEqual(passes["check" if ranks > 1 else "read 1"], order, rung)
        if ranks > 1 and rung not in PARALLEL:
            self.assertEqual(passes["read 1"], "shared out", f"{rung}: rank 0 wrote what all read")

    def test_the_table_is_the_runs(self):
        for ranks, (*runs, summary) in self.runs.items():
            ladder = summary["tables"]["ladder"]
            self.assertEqual(ladder["n"], [TIMES] * len(RUNGS))
            self.assertEqual(ladder["speedup"][0], 1)
            self.assertEqual(ladder["ranks"], [ranks if rung in PARALLEL else 1 for rung in RUNGS])
            for i, run in enumerate(runs):
                time = ladder["job_time_s"][i]
                self.assertEqual(time, measured(run, "job_time_s")["median"])
                self.assertAlmostEqual(ladder["speedup"][i], ladder["job_time_s"][0] / time, delta=1e-9)
                if i:
                    self.assertAlmostEqual(ladder["over_previous"][i], ladder["job_time_s"][i - 1] / time, delta=1e-9)
                self.check_ceiling(ladder, i, run["tables"]["ceilings"])
                row = column(run, "io_phases", "phase").index("job")
                self.assertAlmostEqual(column(run, "io_phases", "longest_s")[row], measured(run, "job_time_s")["max"], delta=1e-12)
                for shortest, longest, total in zip(*(column(run, "io_phases", name) for name in ("shortest_s", "longest_s", "cumulative_s"))):
                    self.assertLessEqual(shortest, longest)
                    self.assertLessEqual(longest, total)
                if ladder["ranks"][i] == 1:
                    self.assertAlmostEqual(column(run, "io_phases", "cumulative_s")[row], TIMES * measured(run, "job_time_s")["mean"], delta=1e-9)
            self.assertRegex(self.result[ranks].stdout, r"(?m)^  strategy +(note +)?job time ")

    def test_rates_are_of_numbers_in_units_of_2_to_the_20(self):
        for ranks, (*runs, _) in self.runs.items():
            for run in runs:
                rung = run["config"]["strategy"]
                with self.subTest(rung=rung, ranks=ranks):
                    on_disk, numbers = sum(path.stat().st_size for path in records_in(self.out[ranks] / rung)), 8 * FILES * SIZE**2
                    self.assertEqual(measured(run, "file_bytes")["median"], numbers if shared(rung) else on_disk)
                    self.assertAlmostEqual(measured(run, "write_MiBps")["mean"] / measured(run, "files_per_s")["mean"] * 2**20 * FILES / numbers, 1, 9)
                    rated = column(run, "io_reads", "pass").index("read 1")
                    rate_x_time = column(run, "io_reads", "MiB_per_s")[rated] * column(run, "io_reads", "read_s")[rated]
                    self.assertAlmostEqual(rate_x_time * 2**20 / numbers, 1, 9)
                    self.assertAlmostEqual(measured(run, "read_MiBps")["mean"] * 2**20 * measured(run, "read_time_s")["mean"] / numbers, 1, 9)

    def check_ceiling(self, ladder, i, ceilings):
        """Every table marks exactly the shares above 105 % as "not the limit"."""
        for percent, mark in zip(ceilings["percent"], ceilings["mark"]):
            self.assertEqual(percent > 105, "not the limit" in mark)
        limits = [(s, name) for s, name, percent in zip(ceilings["ceiling_s"], ceilings["ceiling"], ceilings["percent"]) if percent <= 105]
        self.assertEqual(ladder["ceiling"][i], max(limits)[1] if limits else "n/a")
        self.assertEqual(any(ceilings["mark"]), "not the limit" in ladder["mark"][i])
        if limits: self.assertLessEqual(ladder["percent_of_ceiling"][i], 105)

    def test_names_and_formats_are_the_documented_ones(self):
        for ranks, out in self.out.items():
            self.assertEqual(sorted(path.name for path in out.iterdir()), sorted(RUNGS))
            for rung in RUNGS:
                with self.subTest(rung=rung, ranks=ranks):
                    ending = ".txt" if rung.startswith("text") else ".npy"
                    names = ["data.h5"] if shared(rung) else [f"data{i:05}{ending}" for i in range(FILES)]
                    self.assertEqual([path.name for path in records_in(out / rung)], names)
                    for t, name in enumerate(names):
                        self.check_file(out / rung / name, kernel(FILES, SIZE, t, rung == "text-loop"))

    def check_file(self, path, values):
        data = path.read_bytes()
        if path.suffix == ".h5":  # only the bytes; tests/oracle reads the datasets
            self.assertEqual([t for t in range(FILES) if struct.pack(f"<{SIZE**2}d", *kernel(FILES, SIZE, t)) not in data], [])
        elif path.suffix == ".txt":
            rows = [values[i:i + SIZE] for i in range(0, SIZE**2, SIZE)]
            self.assertEqual(data.decode(), "".join(" ".join(f"{value:.18e}" for value in row) + "\n" for row in rows))
        else:
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({SIZE}, {SIZE}), }}"
            self.assertEqual(data[:128], b"\x93NUMPY\x01\x00v\x00" + header.ljust(117).encode() + b"\n")
            self.assertEqual(data[128:], struct.pack(f"<{SIZE**2}d", *values))

    def test_a_flipped_bit_is_found_in_every_rung(self):
        shutil.copytree(self.out[1], self.folder / "out")
        for rung in RUNGS:
            path = self.folder / "out" / rung
            flip_last_value(path / "data.h5" if shared(rung) else records_in(path)[3])
        for ranks in (1, 3):
            file = self.folder / f"spoilt{ranks}.h5"
            result = ranklab("io", "--strategy", "all", "-n", FILES, "-s", SIZE, "--read-only", "--output", file, "--directory", self.folder / "out", ranks=ranks)
            self.assertCode(result, 3)
            for rung, run, said in zip(RUNGS, runs_of(file), [line for line in result.said if not line.startswith("warning: ")], strict=False):
                with self.subTest(rung=rung, ranks=ranks):
                    self.assertEqual((run["config"]["strategy"], run["exit_code"], run["valid"]), (rung, 3, False))
                    self.assertEqual(measured(run, "wrong_elements")["max"], 1)
                    self.assertRegex(said, rf"1 elements in 1 records.*{rung}/data\S*, record {FILES - 1 if shared(rung) else 3}\b")
            self.assertEqual(runs_of(file)[-1]["tables"]["ladder"]["verified"], ["NO"] * len(RUNGS))


def records_in(folder):
    """Returns the files of records; the folder's mark begins with a dot."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def flip_last_value(path):
    """Changes the file's last value. In HDF5 that is the last record's: metadata may follow."""
    data = bytearray(path.read_bytes())
    if path.suffix == ".txt":
        at = data.rindex(b".") + 1
        data[at] = ord("1") if data[at] != ord("1") else ord("2")
    elif path.suffix == ".h5":
        data[data.rindex(struct.pack("<d", kernel(FILES, SIZE, FILES - 1)[-1]))] ^= 1
    else:
        data[-8] ^= 1
    path.write_bytes(data)


class Work(Case):
    def test_reordered_reading_is_by_others_where_it_is_timed(self):
        file = self.folder / "r.h5"
        self.assertCode(ranklab("io", "--strategy", "binary,process-queue,mpi-send", "-C", "-n", FILES, "-s", 8, "--ceilings", "off",
                                "--output", file, "--directory", self.folder / "out", ranks=3), 0)
        for run in runs_of(file)[:3]:
            self.assertEqual((column(run, "io_reads", "pass"), column(run, "io_reads", "order")), (["read 1"], ["other ranks'"]))

    def test_files_of_earlier_runs_are_replaced_and_others_left_alone(self):
        out = self.folder / "out"
        out.mkdir()
        words = ("--strategy", "binary", "-s", 4, "--directory", out)
        self.assertCode(io(*words, "-n", 3, "-k"), 0)
        (out / "data00009.npy").write_bytes(b"mine")
        (out / "notes").write_text("mine")
        self.assertSays(io(*words, "-n", 10), 2, "data00009.npy")
        self.assertCode(io(*words, "-n", 3, "-e"), 0)
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["data00009.npy", "notes"])
        job = self.start(cli.RANKLAB, "io", "--output", "none", "--strategy", "binary", "-s", 30, "-n", 200000, "--directory", self.folder / "killed")
        job.wait_until((self.folder / "killed" / "data00007.npy").exists)
        job.kill()
        self.assertCode(io("--strategy", "binary", "-s", 4, "-n", 3, "--directory", self.folder / "killed"), 0)
        self.assertEqual(min(path.name for path in (self.folder / "killed").glob("data*")), "data00003.npy")

    def test_files_that_only_look_like_records_stay(self):
        out = self.folder / "output"
        made = {"binary": "data00000.npy", "process-pool": "data00001.npy", "text-loop": "data00000.txt", "hdf5-serial": "data.h5", "mpi-send": "data00000.npy"}
        for rung, name in made.items():
            for ranks in (1, 2) if rung.startswith("mpi") else (1,):
                with self.subTest(rung=rung, ranks=ranks):
                    self.assertCode(io("--strategy", rung, "-n", 2, "-s", 4, "-k", "--directory", self.folder / "made"), 0)
                    shutil.rmtree(out, ignore_errors=True)
                    out.mkdir()
                    source = self.folder / "made" / name
                    shutil.copy(source, out / name)  # a user's own of the same form, in a folder that ranklab did not mark
                    result = io("--strategy", rung, "-n", 2, "-s", 4, ranks=ranks, cwd=self.folder)
                    self.assertSays(result, 2, name)
                    self.assertEqual((out / name).read_bytes(), source.read_bytes())
                    self.assertEqual([path.name for path in out.iterdir()], [name])

    def test_no_libtorch(self):
        for program in ("ranklab-io", "ranklab-io-worker", "ranklab-comm"):
            text = cli.run("ldd", cli.BIN / program).stdout
            self.assertRegex(text, "libstdc")
            self.assertNotRegex(text, r"libtorch|libc10", program)


class Verification(Case):
    def test_truncated_missing_and_foreign_files(self):
        ways = {"truncated": lambda path: os.truncate(path, path.stat().st_size // 2), "missing": os.unlink,
                "foreign": lambda path: path.write_bytes(b"GIF89a" * 200)}
        for rung in ("text-loop", "binary", "hdf5-serial"):
            name = {"text-loop": "data00003.txt", "binary": "data00003.npy"}.get(rung, "data.h5")
            for way, spoil in ways.items():
                for ranks in (1, 3) if (rung, way) in (("binary", "truncated"), ("hdf5-serial", "foreign")) else (1,):
                    with self.subTest(rung=rung, way=way, ranks=ranks):
                        common = ("--strategy", rung, "-n", 5, "-s", 6, "--directory", self.folder / f"{rung}-{way}-{ranks}")
                        self.assertCode(io(*common, "-k"), 0)
                        spoil(common[-1] / name)
                        result = io(*common, "--read-only", ranks=ranks)
                        self.assertSays(result, 3, name)
                        if way != "missing" or not rung.startswith("hdf5"): self.assertIn("INVALID", result.stdout)

    def test_not_verified_is_said(self):
        for word in ("--no-verify", "--write-only"):
            result = io("--strategy", "binary", word, "--verbose", "--directory", self.folder / "o")
            self.assertCode(result, 0)
            self.assertRegex(result.stdout, r"every value is as computed +not verified +" + word)

    def test_checks_as_ior(self):
        self.assertCode(io("--strategy", "binary", "-n", 5, "-s", 7, "-k", "--directory", self.folder / "o"), 0)
        for ranks, words in ((2, ("-k", "--read-only")), (1, ("-W",)), (1, ("-R",)), (1, ("-C",)), (3, ("-W", "-R", "-C", "-i", 2))):
            with self.subTest(words=words, ranks=ranks):
                result = io("--strategy", "binary", "-n", 5, "-s", 7, *words, "--verbose", "--directory", self.folder / "o", ranks=ranks)
                self.assertCode(result, 0)
                self.assertRegex(result.stdout, r"every value is as computed +passed")
                self.assertEqual("--read-only" in words, "written by an earlier run" in " ".join(result.stdout.split()))


class Cache(Case):
    def test_cold_is_proven_or_refused(self):
        # Some file systems keep pages that they are asked to drop: then "cold" must be refused.
        file = self.folder / "cold.h5"
        result = ranklab("io", "--strategy", "binary", "-n", 20, "-s", 300, "--cold", "--reads", 2, "--output", file,
                         "--directory", self.folder / "o")
        reads = runs_of(file)[-1]["tables"]["io_reads"]
        if reads["cache"][0] == "cold":
            self.assertCode(result, 0)
            self.assertLessEqual(reads["resident_percent"][0], 1)
            self.assertGreater(reads["block_layer_MiB"][0], 0.9 * reads["MiB"][0])
        else:
            self.assertSays(result, 7, "--cold", reads["cache"][0])
        self.assertEqual(reads["cache"][1], "memory (tmpfs)" if reads["file_system"][1] == "tmpfs" else "warm")
        self.assertGreaterEqual(reads["resident_percent"][1], 99)

    def test_tmpfs_is_named_and_never_cold(self):
        place = self.mount_small_tmpfs(16 << 20)
        for ranks in (1, 3):
            result = io("--strategy", "binary", "-n", 4, "-s", 50, "--cold", "--directory", place / "o", ranks=ranks)
            self.assertSays(result, 7, "tmpfs")
        self.assertCode(io("--strategy", "binary", "-n", 4, "-s", 50, "--directory", place / "o"), 0)

    def test_memory_does_not_grow_with_the_number_of_files(self):
        peaks = {}
        for rung in ("binary", "process-queue", "hdf5-serial"):
            for files in (300, 3000):
                file = self.folder / f"{rung}{files}.h5"
                self.assertCode(ranklab("io", "--strategy", rung, "-n", files, "-s", 2, "--workers", 2, "--ceilings", "off", "--output", file,
                                        "--directory", self.folder / "o"), 0)
                peaks[files] = measured(runs_of(file)[-1], "peak_rss_bytes")["max"]
            # HDF5 itself keeps an index of the datasets in memory.
            self.assertLess(peaks[3000] - peaks[300], 40 << 20 if shared(rung) else 4 << 20, rung)


class Stop(Case):
    def test_sigterm_tells_what_exists_and_leaves_no_half(self):
        out = self.folder / "out"
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "io", "--strategy", "mpi-scatter", "-n", 200000, "-s", 30,
                         "--directory", out, "--output", "none")
        job.wait_until(lambda: len(job.ranks()) == 2 and out.exists() and len(os.listdir(out)) > 20)
        for pid in job.ranks().values():
            os.kill(pid, signal.SIGTERM)
        result = job.finish(40)
        self.assertCode(result, 128 + signal.SIGTERM)
        left = records_in(out)
        self.assertEqual(len(left) + 1, len(list(out.iterdir())), "besides the mark a temporary file is left")
        self.assertEqual({path.stat().st_size for path in left}, {128 + 8 * 30**2})
        self.assertEqual(int(re.search(r"(\d+) of 200000", result.stderr).group(1)), len(left))

    def test_the_time_limit_keeps_whole_repetitions(self):
        """A repetition that the limit cut is dropped; each run and the summary run are marked."""
        file = self.folder / "r.h5"
        result = ranklab("io", "--strategy", "text-loop,binary", "-n", 50, "-s", 30, "-i", 100000, "--ceilings", "off", "--directory",
                         self.folder / "o", "--output", file, "--time-limit", 0.5)
        self.assertCode(result, 6)
        runs = runs_of(file)
        self.assertEqual([(run["exit_code"], run["valid"], run["cut_short"]) for run in runs], [(6, True, "time limit")] * 3)
        for run in runs[:2]:
            # On a busy machine a strategy may have had one repetition, which has no interval.
            self.assertLessEqual(measured(run, "job_time_s")["min"], measured(run, "job_time_s")["median"])
        self.assertRegex(runs[2]["warnings"][0], r"2 of 2\b.*\b2\b")
        result = io("--strategy", "binary", "-i", 100000, "-s", 300, "--time-limit", 0.2, "--directory", self.folder / "o")
        self.assertSays(result, 6, "time limit", "100000")


class Lanes(Case):
    """--trace and --profile calls, which say when and how often what the phases' table sums up."""

    WORKERS, STRATEGIES = 2, ["process-pool", "process-queue", "mpi-scatter", "hdf5-parallel-independent"]

    @classmethod
    def setUpClass(cls):
        cls.case = Case()
        cls.case.setUp()
        cls.addClassCleanup(cls.case.doCleanups)
        folder = cls.case.folder
        cls.result = ranklab("io", "--strategy", ",".join(cls.STRATEGIES), "--workers", cls.WORKERS, "-n", FILES, "-s", 100, "--write-only", "--no-verify",
                             "--ceilings", "off", "--profile", "calls", "--trace", folder / "t.json", "--directory", folder / "out", "--output", folder / "r.h5",
                             ranks=2, timeout=60)
        cls.case.assertCode(cls.result, 0)
        *cls.runs, cls.ladder = runs_of(folder / "r.h5")
        events = json.loads((folder / "t.json").read_text())["traceEvents"]
        process = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        lane = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
        cls.lanes = {}  # by strategy and name of the lane
        for event in events:
            if event["name"] == "thread_name": cls.lanes.setdefault(process[event["pid"]], {})[event["args"]["name"]] = []
            elif event["ph"] == "X": cls.lanes[process[event["pid"]]][lane[event["pid"], event["tid"]]].append(event)

    def test_each_rank_and_each_worker_has_one(self):
        for strategy, lanes in self.lanes.items():
            names = sorted(re.sub(r" on [^,]+", "", name) for name in lanes)
            self.assertEqual(names, ["rank 0", "rank 0, worker 0", "rank 0, worker 1"] if strategy.startswith("process") else ["rank 0", "rank 1"])
        self.assertEqual(list(self.lanes), self.STRATEGIES)

    def test_their_events_add_up_to_the_phases(self):
        for run in self.runs:
            strategy = run["config"]["strategy"]
            stored = dict(zip(column(run, "io_phases", "phase"), column(run, "io_phases", "cumulative_s")))
            waits = sum(column(run, "tasks", "wait_s")) if strategy.startswith("process") else 0  # of workers, not of the rank
            for phase in set(stored) - {"job", "record"}:
                traced = sum(event["dur"] for lane in self.lanes[strategy].values() for event in lane if event["name"] == phase) / 1e6
                self.assertAlmostEqual(traced, stored[phase] + (waits if phase == "wait" else 0), 9, f"{strategy} {phase}")
            records = [event for lane in self.lanes[strategy].values() for event in lane if event["name"] == "record"]
            self.assertEqual(len(records), FILES, strategy)

    def test_moments_follow_each_other_within_the_writing(self):
        for run in self.runs:
            strategy = run["config"]["strategy"]
            for name, lane in self.lanes[strategy].items():
                phases = sorted((event["ts"], event["ts"] + event["dur"]) for event in lane if event["name"] != "record")
                self.assertTrue(all(end <= begin + 1e-3 for (_, end), (begin, _) in zip(phases, phases[1:])), f"{strategy} {name}")
                whole = 1e6 * measured(run, "job_time_s")["max"] + 1e-3
                self.assertTrue(all(0 <= begin <= end <= whole for begin, end in phases), f"{strategy} {name}")

    def test_tasks_of_the_blocking_pool_are_in_turn(self):
        """As apply() of the original: no two workers write at a time."""
        records = sorted((event["ts"], event["ts"] + event["dur"]) for lane in self.lanes["process-pool"].values() for event in lane if event["name"] == "record")
        self.assertTrue(all(end <= begin for (_, end), (begin, _) in zip(records, records[1:])))
        self.assertTrue(all(any(event["name"] == "record" for event in lane) for name, lane in self.lanes["process-pool"].items() if "worker" in name))

    def test_calls_are_sorted_by_their_own_time(self):
        calls = self.ladder["tables"]["calls"]
        rows = list(zip(calls["strategy"], calls["call"], calls["calls"], calls["own_s"], calls["per_call_s"], calls["longest_s"]))
        for run in self.runs:
            mine = [row for row in rows if row[0] == run["config"]["strategy"]]
            phases = run["tables"]["io_phases"]
            self.assertEqual({row[1]: row[2:4] for row in mine}, dict(zip(phases["phase"], zip(phases["calls"], phases["total_s"]))))
            self.assertEqual([row[3] for row in mine], sorted((row[3] for row in mine), reverse=True))
            for row in mine: self.assertAlmostEqual(row[4] * max(1, row[2]), row[3], 12)
            self.assertEqual([row for row in mine if row[5] < row[4] * (1 - 1e-9)], [], "the longest call is shorter than the mean")
        self.assertEqual(len(re.findall(r"(?m)^  process-pool +\S+ +\d+ +\S+ (?:s|ms|us) ", self.result.stdout)), sum(row[0] == "process-pool" for row in rows))

    def test_a_file_of_another_kind_is_refused(self):
        for name in ("t.txt", "none/t.json"): self.assertSays(io("--trace", name), 2, "--trace", "FILE.json")
        self.assertSays(io("--trace", "t.json", "--read-only"), 2, "--read-only")


if __name__ == "__main__":
    cli.main()
