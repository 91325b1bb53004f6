"""ranklab comm: every operation, data type and form between real ranks, verified; injected faults are found and named; an
interrupted run is stored. Refusals: tests/refusals/comm.json."""

import json

import ranklab_cli as cli

SHORT = ("-n", 3, "-w", 1)
FACTORS = {"allreduce": 4 / 3, "allgather": 2 / 3, "reduce_scatter": 2 / 3, "alltoall": 2 / 3, "broadcast": 1, "reduce": 1, "sendrecv": 1}  # of 3 ranks


class CommTest(cli.Case):
    def comm(self, *words, ranks=2, **how):
        return cli.ranklab("comm", "--output", "r.h5", *words, ranks=ranks, cwd=self.folder, **how)

    def measured(self, *words, ranks=2, code=0):
        result = self.comm(*words, "--json", "--quiet", ranks=ranks)
        self.assertCode(result, code)
        return json.loads(result.stdout)["runs"][0]

    def test_all_operations_and_types(self):
        for ranks in (1, 3):
            with self.subTest(ranks=ranks):
                run = self.measured("-n", 6, "-w", 1, "--op", "all", "-d", "all", "-o", "all", "--sizes", "1,1000,70000", ranks=ranks)
                table = run["tables"]["messages"]
                self.assertTrue(run["valid"])
                self.assertEqual(set(table["wrong_elements"]), {0})
                self.assertEqual(set(table["op"]), {*FACTORS, "barrier"} | ({"latency", "bandwidth"} if ranks > 1 else set()))
                self.assertEqual(set(table["dtype"]), {"fp32", "fp16", "bf16", "fp64", "int32", "int64", "uint8", "none"})
                self.check_numbers(run, table, ranks)

    def check_numbers(self, run, table, ranks):
        """busbw follows from algbw, algbw from the time, and the time is the median of the samples."""
        names = {m["name"]: m for m in run["measurements"]}
        if ranks == 1: self.assertEqual(set(table["busbw_GBps"]), {None})
        rows = [row for row, op in enumerate(table["op"]) if op in FACTORS and table["bytes"][row]]
        self.assertGreater(len(rows), 100)
        for row in rows:
            op, time, algbw = table["op"][row], table["time_us"][row], table["algbw_GBps"][row]
            self.assertLessEqual(table["min_us"][row], time)
            self.assertAlmostEqual(algbw, table["bytes"][row] / time / 1e3, places=9)
            if ranks == 3: self.assertAlmostEqual(table["busbw_GBps"][row], FACTORS[op] * algbw, places=9, msg=op)
        time = names["time_us:allreduce:fp32:sum:70000"]
        self.assertEqual(time["n"], 6)
        self.assertIn(time["median"], [table["time_us"][row] for row, op in enumerate(table["op"]) if op == "allreduce"])
        self.assertLessEqual(time["ci95_low"], time["median"])
        self.assertEqual(names["wrong_elements"]["median"], 0)

    def test_the_json_file_has_the_run_with_options_of_nccl_tests(self):
        self.assertCode(self.comm("-b", 8, "-e", "64K", "-f", 8192, "-n", 3, "-w", 1, "-c", 1, "-d", "float", "-o", "sum", "-z", 3, "-I", "-J", "x.json"), 0)
        self.assertCode(cli.ranklab("report", "r.h5", cwd=self.folder), 0)
        found = json.loads((self.folder / "x.json").read_text())
        self.assertEqual(found["schema"], 1)
        table = found["runs"][0]["tables"]["messages"]
        self.assertEqual((table["bytes"][0], table["elements"][0], table["wrong_elements"][0]), (8, 2, 0))
        self.assertEqual(set(table["bytes"]), {8, 65536})

    def test_a_flipped_bit_is_counted(self):
        for ranks, who in ((2, 1), (3, 0)):
            run = self.measured(*SHORT, "--op", "allreduce", "--sizes", "8,64K", "--fault", f"flip:{who}", ranks=ranks, code=3)
            self.assertEqual(sum(run["tables"]["messages"]["wrong_elements"]), 4)

    def test_a_models_buckets(self):
        run = self.measured("-n", 1, "-w", 0, "--from-model", "mnist-cnn", ranks=3)
        table = run["tables"]["buckets"]
        self.assertEqual(set(table["wrong_elements"]), {0})
        shipped = (cli.SOURCE / "lib/experiments/collectives/buckets/mnist-cnn.csv").read_text().splitlines()
        self.assertIn(f"# parameters: {sum(table['elements'])}", shipped)
        rows = [line.split(",") for line in shipped if line[0] not in "#b"]
        self.assertEqual([int(row[4]) for row in rows], table["bytes"])
        (self.folder / "own.csv").write_text("\n".join(shipped) + "\n")
        self.assertEqual(self.measured("-n", 1, "-w", 0, "--from-model", "own.csv")["tables"]["buckets"]["bytes"], table["bytes"])

    def test_where_the_calls_hide(self):
        run = self.measured("-n", 8, "--op", "all", "--sizes", "64K", "--nonblocking", "--mpi-progress", "poll", "--place", "out-of-place")
        table = run["tables"]["nonblocking"]
        self.assertGreater(len(table["op"]), 5)
        for percent, mark in zip(table["overlap_percent"], table["mark"]):
            self.assertTrue(mark if percent is None else 0 <= percent <= 100)

    def test_compare_judges_a_message(self):
        for label in ("a", "b"):
            self.assertCode(self.comm(*SHORT, "--sizes", "8", "--label", label, "--quiet", ranks=1), 0)
        done = cli.ranklab("compare", "label:a", "label:b", "--file", "r.h5", "--measure", "time_us:allreduce:fp32:sum:8", cwd=self.folder)
        self.assertCode(done, 0)
        self.assertIn("time_us:allreduce:fp32:sum:8", done.stdout)

    def test_all_ranks_leave_and_one_speaks(self):
        for words, code, part in ((("--root", 2), 2, "ranks of this job are 0 to 1"), (("--backend", "self"), 5, "serves one rank"),
                                  (("-J", "no/such/x.json"), 5, "json-file")):
            self.assertSays(self.comm(*words), code, part)
        self.assertFalse((self.folder / "r.h5").exists())

    def test_nccl_without_a_gpu(self):
        self.assertSays(self.comm("--backend", "nccl", env=cli.environment(CUDA_VISIBLE_DEVICES="")), 5, "no GPU")

    def test_the_time_limit_stores_what_there_is(self):
        for words in (("--sizes", "1M", "-n", 100000), ("--from-model", "mnist-cnn", "-n", 10000)):
            with self.subTest(words=words):
                self.assertCode(self.comm(*words, "--time-limit", 0.3, "--quiet"), 6)
        runs = json.loads(cli.ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)["runs"]
        self.assertEqual([run["cut_short"] for run in runs], ["time limit"] * 2)
        for run in runs:
            self.assertTrue(any("time limit ended the run" in warning for warning in run["warnings"]), run["warnings"])

    def test_a_dry_run_says_what_would_be_done(self):
        result = self.comm("--op", "all", "-e", "1K", "--dry-run")
        self.assertCode(result, 0)
        for line in ("# op: all", "# messages: ", "# bytes-per-rank: "):
            self.assertIn(line, result.stdout)
        self.assertFalse((self.folder / "r.h5").exists())


if __name__ == "__main__":
    cli.main()
