"""ranklab comm: every operation, type and form between real ranks, verified; faults that are found and named; what
cannot be is refused in a sentence; what is stopped is stored.
"""

import json
import os
import signal
import unittest

import ranklab_cli as cli

SHORT = ("-n", 3, "-w", 1)
HEAD = "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong"


class CommTest(cli.Case):
    def comm(self, *words, ranks=2, **how):
        return cli.ranklab("comm", "--output", "r.h5", *words, ranks=ranks, cwd=self.folder, **how)

    def measured(self, *words, ranks=2, code=0):
        result = self.comm(*words, "--json", "--quiet", ranks=ranks)
        self.assertCode(result, code)
        return json.loads(result.stdout)["runs"][0]

    def test_all_operations_and_types_at_1_to_4_ranks(self):
        for ranks in (1, 2, 3, 4):
            with self.subTest(ranks=ranks):
                run = self.measured(*SHORT, "--op", "all", "-d", "all", "-o", "all", "--sizes", "1,1000,70000", ranks=ranks)
                table = run["tables"]["messages"]
                self.assertTrue(run["valid"])
                self.assertEqual(set(table["wrong_elements"]), {0})
                operations = {"allreduce", "broadcast", "reduce", "allgather", "reduce_scatter", "alltoall", "sendrecv", "barrier"}
                self.assertEqual(set(table["op"]), operations | ({"latency", "bandwidth"} if ranks > 1 else set()))
                self.assertEqual(set(table["dtype"]), {"fp32", "fp16", "bf16", "fp64", "int32", "int64", "uint8", "none"})
                self.assertEqual(all(busbw is None for busbw in table["busbw_GBps"]), ranks == 1)

    def test_numbers_belong_together(self):
        run = self.measured("-n", 20, "--op", "allreduce,allgather", "--sizes", "64K")
        table = run["tables"]["messages"]
        for row in range(len(table["op"])):
            time, algbw = table["time_us"][row], table["algbw_GBps"][row]
            self.assertAlmostEqual(algbw, table["bytes"][row] / time / 1e3, places=9)
            factor = {"allreduce": 1, "allgather": 0.5}[table["op"][row]]
            self.assertAlmostEqual(table["busbw_GBps"][row], factor * algbw, places=9)
            self.assertLessEqual(table["min_us"][row], table["low_us"][row])
            self.assertLessEqual(table["low_us"][row], time)
            self.assertLessEqual(time, table["high_us"][row])
        names = {m["name"]: m for m in run["measurements"]}
        self.assertEqual(names["time_us"]["median"], names["time_us:allreduce:fp32:sum:65536"]["median"])
        self.assertEqual(names["time_us:allgather:fp32:none:65536"]["n"], 20)
        self.assertEqual(names["wrong_elements"]["median"], 0)

    def test_the_screen_is_that_of_nccl_tests(self):
        result = self.comm(*SHORT, "--sizes", "8,64K", "-I")
        self.assertCode(result, 0)
        self.assertIn(HEAD, result.stdout)
        rows = [line.split() for line in result.stdout.splitlines() if line.startswith("   ") and "float" in line]
        self.assertEqual([row[:5] for row in rows], [["8", "2", "float", "sum", "-1"], ["65536", "16384", "float", "sum", "-1"]])
        self.assertEqual([row[8] for row in rows], ["0", "0"], "#wrong")
        self.assertIn("# Out of bounds values : 0 OK", result.stdout)
        self.assertIn("# Avg bus bandwidth", result.stdout)
        self.assertIn("i_p99", result.stdout)
        self.assertCode(cli.ranklab("report", "r.h5", cwd=self.folder), 0)

    def test_json_file(self):
        self.assertCode(self.comm(*SHORT, "--sizes", "8", "-d", "double", "-J", "x.json"), 0)
        found = json.loads((self.folder / "x.json").read_text())
        self.assertIs(found["out_of_bounds"]["okay"], True)
        (row,) = found["results"]
        self.assertEqual((row["size"], row["count"], row["type"], row["redop"]), (8, 1, "double", "sum"))
        self.assertEqual(row["out_of_place"]["nwrong"], 0)
        self.assertGreater(row["in_place"]["time"], 0)
        self.assertEqual([device["rank"] for device in found["devices"]], [0, 1])

    def test_a_flipped_bit_is_counted(self):
        for ranks, who in ((2, 1), (3, 0)):
            result = self.comm(*SHORT, "--op", "allreduce", "--sizes", "8,64K", "--fault", f"flip:{who}", ranks=ranks)
            self.assertCode(result, 3)
            self.assertIn("4 elements are wrong, in 4 of 4 messages", result.stdout)
            self.assertIn("# Out of bounds values : 4 FAILED", result.stdout)

    def test_a_sleeper_is_named(self):
        for words in ((), ("-z", 2), ("--op", "latency")):
            run = self.measured("-n", 10, "--sizes", 8, "--fault", "sleep:1:20", *words)
            self.assertEqual(run["context"]["collectives"]["late_rank"], "1", words)
            self.assertTrue(any(warning.startswith("rank 1 on ") for warning in run["warnings"]), run["warnings"])

    def test_a_models_buckets(self):
        run = self.measured("-n", 2, "-w", 0, "--from-model", "resnet18")
        table = run["tables"]["buckets"]
        self.assertEqual(set(table["wrong_elements"]), {0})
        shipped = (cli.SOURCE / "lib/experiments/collectives/buckets/resnet18.csv").read_text().splitlines()
        self.assertIn(f"# parameters: {sum(table['elements'])}", shipped)
        rows = [line.split(",") for line in shipped if line[0] not in "#b"]
        self.assertEqual([int(row[4]) for row in rows], table["bytes"])
        (self.folder / "own.csv").write_text("\n".join(shipped) + "\n")
        self.assertEqual(self.measured("-n", 1, "-w", 0, "--from-model", "own.csv")["tables"]["buckets"]["bytes"], table["bytes"])

    def test_where_the_calls_hide(self):
        run = self.measured("-n", 8, "--op", "all", "--sizes", "64K", "--nonblocking", "--progress", "poll", "--place", "out-of-place")
        table = run["tables"]["nonblocking"]
        self.assertGreater(len(table["op"]), 5)
        for percent, mark in zip(table["overlap_percent"], table["mark"]):
            self.assertTrue(mark if percent is None else 0 <= percent <= 100)

    def test_compare_judges_a_message(self):
        for label in ("a", "b"):
            for _ in range(2):
                self.assertCode(self.comm(*SHORT, "--sizes", "8", "--label", label, "--quiet"), 0)
        done = cli.ranklab("compare", "label:a", "label:b", "--file", "r.h5", "--measure", "time_us:allreduce:fp32:sum:8", cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn("time_us:allreduce:fp32:sum:8", done.stdout)

    def test_what_cannot_be(self):
        cases = (
            (("--op", "allredcue"), 2, "did you mean allreduce"),
            (("--op", "sum"), 2, "sum is a reduction: --redop sum"),
            (("-d", "fp8"), 2, "--datatype"),
            (("-b", "2M", "-e", "1M"), 2, "larger than the largest"),
            (("-b", "0", "-e", "1G", "-i", "1"), 2, "more than 1000 message sizes"),
            (("--sizes", "8,x"), 2, "--sizes"),
            (("--root", "2"), 2, "ranks of this job are 0 to 1"),
            (("--fault", "flip:7"), 2, "--fault"),
            (("--memory", "device", "--backend", "mpi"), 2, "works in host memory"),
            (("--sizes", "900G"), 2, "free there"),
            (("--progress", "poll"), 2, "--nonblocking"),
            (("--from-model", "resnet50", "--op", "reduce"), 2, "--from-model"),
            (("--from-model", "resnet51"), 2, "resnet50"),
            (("--from-model", "./none.csv"), 3, "none.csv"),
            (("--op", "broadcast", "--place", "out-of-place"), 2, "--place both"),
            (("-J", "no/such/x.json"), 5, "json-file"),
            (("-J", "."), 2, "folder"),
            (("-J", "/dev/zero"), 2, "device"),
            (("-J", "r.h5"), 2, "results file"),
            (("-J", "own.txt"), 2, "else than JSON"),
            (("-w", "1000000000"), 2, "at most 1000000"),
            (("-e", "9007199254740995"), 2, "2^50"),
            (("-g", "1"), 2, "each rank has one GPU"),
            (("--from-model", "resnet18", "--with-load"), 2, "--with-load"),
        )

        (self.folder / "own.txt").write_text("mine")

        def refused(case):
            return self.comm(*case[0])

        for (words, code, part), result in zip(cases, cli.several(refused, cases)):
            with self.subTest(words=words):
                self.assertSays(result, code, part)
        self.assertFalse((self.folder / "r.h5").exists())
        self.assertSays(self.comm("--op", "latency", ranks=1), 2, "between two ranks")
        self.assertSays(self.comm("--backend", "self", ranks=2), 5, "serves one rank")

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "there is a GPU")
    def test_nccl_without_a_gpu(self):
        self.assertSays(self.comm("--backend", "nccl"), 5, "no GPU")

    def test_a_full_disk_loses_no_numbers(self):
        place = self.mount_small_tmpfs("1m")
        result = self.comm("--sizes", "8", "-J", f"{place}/x.json", *SHORT)
        self.assertCode(result, 0)
        fill = os.open(place / "fill", os.O_WRONLY | os.O_CREAT)
        self.addCleanup(os.close, fill)
        try:
            while True:
                os.write(fill, b"0" * 4096)
        except OSError:
            pass
        self.assertCode(self.comm("--sizes", "8", "-J", f"{place}/y.json", *SHORT), 5)
        self.assertEqual(json.loads((place / "x.json").read_text())["version"], 3, "the earlier file is whole")

    def test_a_signal_and_a_time_limit_store_what_there_is(self):
        job = self.start(*cli.mpirun_words(2), cli.RANKLAB, "comm", "--output", "r.h5", "-n", 1000000, "--sizes", "8,16,4M",
                         "--stall-timeout", 120)
        job.wait_until(lambda: len(job.ranks()) == 2)
        for pid in job.ranks().values():
            os.kill(pid, signal.SIGTERM)
        # Before anything is measured the signal itself ends them.
        self.assertIn(job.finish(100).code, (128 + signal.SIGTERM, cli.LAUNCHER.killed_by(signal.SIGTERM)))
        result = self.comm("--op", "all", "-n", 100000, "--time-limit", 0.5, "--quiet")
        self.assertCode(result, 6)
        runs = json.loads(cli.ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"]
        self.assertTrue(any("time limit ended the run after" in warning for run in runs for warning in run["warnings"]))

    def test_ranks_with_different_tables(self):
        text = (cli.SOURCE / "lib/experiments/collectives/buckets/mnist-cnn.csv").read_text()
        words = []
        for folder, content in (("a", text), ("b", text.replace("fp32", "fp16").replace("4724264", "2362132").replace("75264", "37632"))):
            (self.folder / folder).mkdir()
            (self.folder / folder / "t.csv").write_text(content)
            words += [":", "-n", 1, "-wdir", self.folder / folder, cli.RANKLAB, "comm", "--output", "none", "--from-model", "t.csv", "-n", 1]
        self.assertSays(cli.run("mpirun", *words[1:], cwd=self.folder), 3, "different tables")

    def test_the_time_limit_ends_a_message_and_a_model(self):
        for words in (("--sizes", "1M", "-n", 100000), ("--from-model", "resnet18", "-n", 10000)):
            with self.subTest(words=words):
                result = self.comm(*words, "--time-limit", 1)
                self.assertCode(result, 6)
                self.assertLess(result.seconds, 30 * cli.patience())

    def test_a_dry_run_says_what_would_be_done(self):
        result = self.comm("--op", "all", "-e", "1K", "--dry-run")
        self.assertCode(result, 0)
        for line in ("# op: all", "# messages: ", "# bytes-per-rank: "):
            self.assertIn(line, result.stdout)
        self.assertFalse((self.folder / "r.h5").exists())


if __name__ == "__main__":
    cli.main()
