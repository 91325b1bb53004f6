"""--monitor: GPUs by a stand-in for NVML (tests/support/fake_nvml.c), and energy."""

import json

import ranklab_cli as cli

LIBRARIES = cli.BIN.parent / "tests"
COUNTERS = "sys/class/powercap/intel-rapl:0"


class Monitor(cli.Case):
    def setUp(self):
        super().setUp()
        (self.folder / COUNTERS).mkdir(parents=True)
        for name, text in (("name", "package-0"), ("energy_uj", "5000000"), ("max_energy_range_uj", "262143328850")):
            (self.folder / COUNTERS / name).write_text(text + "\n")

    def monitored(self, mode="", library="libfake_nvml.so", ranks=2):
        """Returns tables, measurements, the reasons for missing energy, and the result."""
        env = cli.environment(RANKLAB_NVML_LIBRARY=LIBRARIES / library, RANKLAB_ROCM_SMI_LIBRARY="/nonexistent/rocm.so",
                              FAKE_NVML=mode, RANKLAB_SYSTEM_ROOT=self.folder)
        result = cli.ranklab("comm", "--output", "none", "-n", 500, "--sizes", "1M", "--monitor", 0.05, "--json", "--quiet",
                             ranks=ranks, cwd=self.folder, env=env)
        self.assertCode(result, 0)
        (run,) = json.loads(result.stdout)["runs"]
        tables = {name: [dict(zip(columns, row)) for row in zip(*columns.values())] for name, columns in run["tables"].items()}
        return tables, {m["name"]: m["median"] for m in run["measurements"]}, run["context"].get("energy", {}), result

    def test_gpus_are_sampled_and_their_energy_added_up(self):
        tables, measured, why_not, _ = self.monitored()
        rows = tables["gpu_monitor"]
        self.assertEqual(len({row["gpu"] for row in rows}), 2)
        self.assertGreaterEqual(len(rows), 4)
        expected = {"gpu": "GPU-00000000-1111-2222-3333-444444444444", "name": "Fake H100 no. 0", "busy_percent": 90, "memory_bytes": 1e9, "power_W": 250.5,
                    "temperature_C": 60, "clock_MHz": 1980, "throttle": "power cap, hot", "energy_J": 0}
        self.assertEqual(rows[0], rows[0] | expected)
        self.assertEqual({row["rank"] for row in rows}, {-1}, "the CUDA runtime sees no GPU of these names")
        self.assertAlmostEqual(measured["gpu_energy_J"], rows[-1]["energy_J"] + rows[-2]["energy_J"])
        self.assertGreater(measured["gpu_energy_J"], 0)
        self.assertNotIn("cpu_energy_J", measured)
        self.assertEqual(list(why_not), ["cpu"])
        self.assertIn("stands still", why_not["cpu"])

    def test_what_is_not_known_is_no_number_and_says_why(self):
        (self.folder / COUNTERS / "energy_uj").unlink()
        for how, reason in ((("lost",), "GPU GPU-00000001"), (("lost-at-start",), "GPU 1"), (("no-energy-counter",), "GPU GPU-00000001"), (("", "libfake_old_nvml.so"), "GPU GPU-00000001"),
                            (("", "none.so"), "none.so"), (("does-not-start",), "NVML")):
            with self.subTest(how=how):
                tables, measured, why_not, _ = self.monitored(*how, ranks=1)
                self.assertNotIn("gpu_energy_J", measured)
                self.assertNotIn("cpu_energy_J", measured)
                self.assertIn("not measured: ", why_not["gpu"])
                self.assertIn(reason, why_not["gpu"])
                self.assertIn("energy_uj", why_not["cpu"])
                self.assertIn("monitor", tables)
                self.assertEqual("gpu_monitor" in tables, reason.startswith("GPU"))
                if how == ("lost",): self.assertIsNone(tables["gpu_monitor"][1]["power_W"])

    @cli.only_open_mpi
    def test_the_daemon_of_a_rank_without_mpirun_is_no_part_of_the_rank(self):
        result = cli.ranklab("comm", "--output", "none", "-n", 200, "--sizes", "1M", "--monitor", 0.05, "--json", "--quiet", cwd=self.folder,
                             env=cli.environment(RANKLAB_SYSTEM_ROOT="/"))
        self.assertCode(result, 0)
        (run,) = json.loads(result.stdout)["runs"]
        used = [rss for rss, rank in zip(run["tables"]["monitor"]["rss_bytes"], run["tables"]["monitor"]["rank"]) if rank == 0]
        self.assertLessEqual(max(used), run["tables"]["job_use"]["peak_rss_bytes"][0])

    def test_a_driver_that_does_not_answer_is_left_alone(self):
        tables, _, why_not, result = self.monitored("blocked", ranks=1)
        self.assertLess(result.seconds, 40, "it blocks for 60 s")
        self.assertRegex(why_not["gpu"], r"driver.*\b2 s\b")
        self.assertIn(-1, {row["rank"] for row in tables["monitor"]})
        self.assertLessEqual(len(tables["gpu_monitor"]), 2, "from before")


if __name__ == "__main__":
    cli.main()
