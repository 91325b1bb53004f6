"""Whole training runs at one, two and three ranks: stored samples, their statistics, and output."""

import csv
import io
import json
import math
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile

import ranklab_cli as cli
from ranklab_cli import ranklab, train
from stored_runs import RunCase, stored_runs

cli.need_train()
(np,) = cli.modules("numpy")

PHASES = ("data_time_s", "copy_time_s", "forward_time_s", "backward_time_s", "sync_exposed_time_s", "optimizer_time_s")
# The measurement names of `train`, except those of --ablation.
NAMES = {"step_time_s", "epoch_time_s", "throughput_samples_per_s", *PHASES, "time_to_first_step_s", "train_loss", "validation_loss",
         "validation_accuracy", "peak_rss_bytes"}
SUMMARY = ("median", "mean", "min", "max", "p95", "p99", "ci95_low", "ci95_high")
SMALL_CNN = ("--model", "mnist-cnn", "--width", 8, "--warmup", 0, "--evaluate", "off")


class StoredRun(RunCase):
    """Two epochs at three ranks on idx files whose sizes do not divide; run once for all tests."""

    RANKS, TRAIN, TEST, BATCH, WARMUP, EPOCHS = 3, 131, 101, 8, 3, 2
    SECRET = "hunter2-4711-do-not-store"
    STEPS_PER_EPOCH = -(-(-(-TRAIN // RANKS)) // BATCH)
    STEPS = EPOCHS * STEPS_PER_EPOCH

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-test-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.file = folder / "r.h5"
        cls.result = train("--data", "mnist", "--data-dir", cli.make_idx(folder / "data", cls.TRAIN, cls.TEST, gz=True), "--batch-size", cls.BATCH,
                           "--epochs", cls.EPOCHS, "--warmup", cls.WARMUP, "--check-parameters", "step", "--label", 'a label, with "quotes" and ä',
                           "--output", cls.file, "--verbose", ranks=cls.RANKS, cwd=folder,
                           env=cli.environment(SECRET_TOKEN=cls.SECRET, MY_OMP_SECRET=cls.SECRET))
        if cls.result.code != 0:
            raise AssertionError(str(cls.result))
        (cls.run_,) = stored_runs(cls.file)

    def test_names_units_and_shapes(self):
        rows, samples, measured = self.run_.rows, self.run_.samples, self.STEPS - self.WARMUP
        self.assertLessEqual(NAMES, set(rows) & set(samples))
        for name in NAMES:
            unit = {"per_s": "samples/s", "bytes": "B"}.get(re.sub(r".*_(per_s|bytes)$", r"\1", name), "s" if name.endswith("_s") else "1")
            self.assertEqual(rows[name]["unit"], unit, name)
        for name in ("step_time_s", *PHASES):
            self.assertEqual((samples[name].shape, samples[name].dtype), ((measured, self.RANKS), np.float64), name)
            self.assertEqual(self.run_.warmup[name].shape, (self.WARMUP, self.RANKS), name)
            self.assertEqual(self.run_.sample_attrs[name], {"unit": "s", "kind": "cost", "axis": "step"}, name)
        self.assertEqual(samples["epoch_time_s"].shape, (self.EPOCHS, self.RANKS))
        self.assertEqual([len(samples[name]) for name in ("train_loss", "validation_accuracy")], [measured, self.EPOCHS])

    def test_the_parts_of_the_start_up_make_its_time_to_the_first_step(self):
        parts = self.run_.tables["start_up"]
        self.assertEqual(parts["part"][-1], "the first step")
        slowest = self.run_.rows["time_to_first_step_s"]["max"]
        self.assertLessEqual(sum(parts["mean_s"]), slowest + 1e-9)
        self.assertGreaterEqual(sum(parts["max_s"]) + 1e-9, slowest)

    def test_summaries_are_those_of_numpy(self):
        """Statistics over steps of the maximum over ranks; the mean of a rate is sum over sum. Intervals: tests/unit/stats."""
        for name, row in self.run_.rows.items():
            if name in ("communication_hidden_s", "overlap", "overlap_balance"):  # one value for all pairs
                continue
            if name not in self.run_.samples:  # one value for the run
                self.assertTrue(row["n"] == 1 and row["median"] == row["mean"] == row["min"] == row["max"], name)
                continue
            samples = self.run_.samples[name]
            values = samples.max(axis=1) if samples.ndim == 2 else samples
            expected = {"median": np.median(values), "mean": np.mean(values), "min": np.min(values), "max": np.max(values),
                        "p95": np.percentile(values, 95), "p99": np.percentile(values, 99)}
            if name == "throughput_samples_per_s":
                costs = self.run_.samples["step_time_s"].max(axis=1)
                expected["mean"] = (values * costs).sum() / costs.sum()
                expected |= {"median": 1 / np.median(1 / values), "p95": 1 / np.percentile(1 / values, 5), "p99": 1 / np.percentile(1 / values, 1)}
            if self.run_.sample_attrs[name]["kind"] == "ratio" and len(values) > 1:
                expected["mean"] = math.nan  # ratios are not averaged
            self.assertEqual(row["n"], len(values), name)
            for key, value in expected.items():
                self.assertClose(row[key], value, 1e-9 if key == "mean" else 1e-12, f"{name} {key}")
            self.assertFalse(row["ci95_low"] > row["median"] or row["ci95_high"] < row["median"], name)
            if len(values) < 6: self.assertTrue(math.isnan(row["ci95_low"]), name)

    def test_statistics_of_the_steps(self):
        """Samples are the slowest rank's in each step, outliers included; the warm-up is the number that was set."""
        table = self.run_.tables["statistics"]
        for i, name in enumerate(table["name"]):
            values = self.run_.samples[name].max(axis=1)
            low, high = np.percentile(values, [25, 75])
            self.assertEqual(table["outliers_high"][i], (values > high + 3 * (high - low)).sum(), name)
            self.assertEqual(table["outliers_low"][i], (values < low - 3 * (high - low)).sum(), name)
            self.assertEqual(table["warmup_fixed"][i], self.WARMUP, name)
            self.assertTrue(1 <= table["effective_n"][i] <= table["n"][i] == len(values), name)

    def test_phases_are_parts_of_their_step_and_steps_of_their_epoch(self):
        """An epoch's time excludes work between steps, such as comparing parameters."""
        samples = self.run_.samples
        self.assertTrue((sum(samples[name] for name in PHASES) <= samples["step_time_s"] * (1 + 1e-9)).all())
        for name in PHASES:
            self.assertTrue((samples[name] >= 0).all(), name)
        for name in ("data_time_s", "forward_time_s", "backward_time_s", "sync_exposed_time_s"):
            self.assertTrue((samples[name] > 0).all(), f"{name} was not marked")
        steps = np.concatenate([self.run_.warmup["step_time_s"], samples["step_time_s"]])
        for epoch, time_s in enumerate(samples["epoch_time_s"]):
            np.testing.assert_allclose(time_s, steps[epoch * self.STEPS_PER_EPOCH:(epoch + 1) * self.STEPS_PER_EPOCH].sum(axis=0), rtol=1e-9)

    def test_every_sample_counts_once(self):
        """--sharding pad repeats samples to give ranks equal shares; throughput does not count repeats."""
        samples, epochs = self.run_.samples, self.run_.tables["epochs"]
        shares = [self.BATCH * self.RANKS] * (self.STEPS_PER_EPOCH - 1)
        counts = (shares + [self.TRAIN - sum(shares)]) * self.EPOCHS
        np.testing.assert_allclose(samples["throughput_samples_per_s"] * samples["step_time_s"].max(axis=1), counts[self.WARMUP:], rtol=1e-12)
        self.assertEqual((epochs["epoch"], epochs["samples"], epochs["steps"]), ([1, 2], [self.TRAIN] * 2, [self.STEPS_PER_EPOCH] * 2))
        self.assertEqual(epochs["validation_accuracy"], list(samples["validation_accuracy"]))
        self.assertEqual(epochs["time_s"], list(samples["epoch_time_s"].max(axis=1)))
        self.assertEqual(epochs["samples_per_s"], [n / time for n, time in zip(epochs["samples"], epochs["time_s"])])
        self.assertEqual(self.run_.verification["test samples counted once"][0], "passed")
        for accuracy in samples["validation_accuracy"]:
            self.assertAlmostEqual(accuracy * self.TEST, round(accuracy * self.TEST), 9)

    def test_attributes_hosts_and_context(self):
        run, attrs = self.run_, self.run_.attrs
        self.assertRegex(run.id, r"^\d{8}T\d{6}Z-[0-9a-f]{16}$")
        self.assertEqual((attrs["command"], attrs["exit_code"], attrs["valid"], attrs["label"]), ("train", 0, 1, 'a label, with "quotes" and ä'))
        self.assertEqual(attrs["started_utc"].replace("-", "").replace(":", ""), run.id[:16])
        self.assertIn("--epochs 2", attrs["argv"])
        self.assertTrue(attrs["version"] and attrs["git_revision"] and attrs["duration_s"] > 0)
        self.assertLessEqual({"batch-size": 8, "global-batch-size": 24, "epochs": 2, "seed": 1, "sync": "bucketed", "mode": "ddp"}.items(), run.config.items())
        self.assertNotIn("steps", run.config)
        for section, key in (("libraries", "mpi"), ("libraries", "hdf5"), ("libraries", "libtorch"), ("build", "compiler"), ("host", "kernel"),
                             ("host", "cpu"), ("process", "allocator"), ("output", "file_system"), ("training", "data_origin")):
            self.assertTrue(run.context[section][key].isprintable() and run.context[section][key], f"{section}.{key}")
        for rank, row in enumerate(run.hosts):
            self.assertEqual((row["rank"], row["local_rank"], row["host"], row["device"]), (rank, rank, os.uname().nodename, "cpu"))
            self.assertRegex(row["cpus"], r"^\d[\d,-]*$")
        rss, first = run.samples["peak_rss_bytes"].ravel(), run.samples["time_to_first_step_s"].ravel()
        self.assertEqual((len(run.hosts), len(rss), len(first)), (self.RANKS,) * 3)
        self.assertTrue(((50 << 20) < rss).all() and (rss <= self.result.max_rss).all(), f"{rss}, the launcher saw {self.result.max_rss}")
        self.assertTrue((first > run.warmup["step_time_s"][0]).all() and (first < self.result.seconds).all(), first)

    def test_h5dump_json_csv_and_text_have_the_same_numbers(self):
        run = self.run_
        self.assertCode(cli.run("h5dump", "-d", f"/runs/{run.id}/measurements", self.file), 0)
        (shown,) = json.loads(ranklab("report", self.file, "--format", "json").stdout, parse_constant=self.fail)["runs"]
        self.assertEqual((shown["id"], shown["valid"], shown["config"], shown["context"], shown["hosts"], shown["tables"]),
                         (run.id, True, run.config, run.context, run.hosts, run.tables))
        lines = [line for line in ranklab("report", self.file, "--format", "csv").stdout.splitlines() if not line.startswith("#")]
        table = {row["name"]: row for row in csv.DictReader(io.StringIO("\n".join(lines)))}
        self.assertEqual({one["name"] for one in shown["measurements"]}, set(run.rows))
        self.assertEqual(set(table), set(run.rows))
        for one in shown["measurements"]:
            row = run.rows[one["name"]]
            self.assertEqual([one[key] for key in ("unit", "kind", "n", "rank_reduction")], [row[key] for key in ("unit", "kind", "n", "rank_reduction")])
            for key in SUMMARY:
                self.assertEqual(one[key], None if math.isnan(row[key]) else row[key], f"{one['name']} {key}")
                self.assertEqual(table[one["name"]][key] and float(table[one["name"]][key]), "" if math.isnan(row[key]) else row[key])
        total = float(re.search(r"(?m)^Total img/sec on 3 rank\(s\): (\S+)", self.result.stdout).group(1))
        self.assertAlmostEqual(total, run.rows["throughput_samples_per_s"]["median"], delta=max(0.06, 1e-3 * total))
        first, last = run.tables["epochs"]["validation_accuracy"]
        self.assertNotEqual(first, last)
        self.assertIn(f"{100 * last:.2f} %", re.search(r"test accuracy.*", self.result.stdout).group(0), "not that of the last epoch")

    def test_secrets_of_the_environment_are_not_stored_or_shown(self):
        stored = self.file.read_bytes()
        for word in (self.SECRET, "SECRET_TOKEN", "MY_OMP_SECRET"):
            self.assertNotIn(word.encode(), stored)
            self.assertNotIn(word, self.result.stdout + self.result.stderr)
        kept = self.run_.context["environment"]
        self.assertIn("OMP_NUM_THREADS", kept)
        allowed = r"^(OMP|NCCL|UCX|OMPI_MCA|MPIR_CVAR|MPICH|I_MPI|FI|ROMIO|HDF5|SLURM)_|^CUDA_VISIBLE_DEVICES$"
        self.assertEqual([name for name in kept if not re.match(allowed, name)], [])
        self.assertNotIn("OMPI_MCA_orte_precondition_transports", kept, "the key of the MPI job")


class Screen(RunCase):
    def test_quiet_and_output_none(self):
        result = train("--steps", 7, "--quiet", "--output", "none", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertRegex(result.stdout, r"^[\d.]+ samples/s \(\S+ \.\. \S+\) .*--output none.*\n$")
        self.assertEqual((result.said, self.names()), ([], []))

    def test_the_answer_is_short_and_its_run_is_added_to_the_default_file(self):
        for i in range(2):
            result = train("--steps", 6, "--label", i, ranks=2, cwd=self.folder)
            self.assertCode(result, 0)
        header, _, answer = result.stdout.partition("\n\n")
        self.assertTrue(all(line.startswith("# ") for line in header.splitlines()), header)
        self.assertLessEqual({"# model: template-softmax", "# steps: 6", "# mode: ddp", "# sync: bucketed"}, set(header.splitlines()))
        self.assertNotIn("bucket-cap-mb", header, "a default is shown")
        self.assertIn(os.uname().nodename, re.search(r"(?m)^# ranks: 2 on 1 node.*$", header).group(0))
        self.assertRegex(answer, r"^Img/sec per rank: .*\nTotal img/sec on 2 rank\(s\): ")
        runs = stored_runs(self.folder / "results" / "ranklab.h5")
        self.assertEqual([run.attrs["label"] for run in runs], ["0", "1"])
        for part in ("  step ", "  breakdown ", "  result ", "  verified ", f"results/ranklab.h5 --run {runs[1].id}"):
            self.assertIn(part, answer)
        self.assertNotIn("step_time_s  ", answer, "tables are for --verbose")
        self.assertEqual([line for line in result.said if not line.startswith("warning: ")], [])
        self.assertEqual(self.names(), ["results/ranklab.h5"])

    def test_json_is_all_of_stdout(self):
        """An invalid run keeps its exit code."""
        for words, code in ((("--steps", 4), 0), (("--optimizer", "sgd", "--lr", "1e38", "--steps", 30), 3)):
            result = train(*words, "--json", "--output", f"{code}.h5", cwd=self.folder)
            self.assertCode(result, code)
            document = json.loads(result.stdout)
            self.assertEqual([run["exit_code"] for run in document["runs"]], [code])
            self.assertEqual(document["runs"], json.loads(ranklab("report", f"{code}.h5", "--format", "json", cwd=self.folder).stdout)["runs"])

    def test_a_bar_is_drawn_on_a_terminal_and_removed(self):
        leader, follower = pty.openpty()
        result = subprocess.run([cli.RANKLAB, "train", "--model", "mnist-cnn", "--data", "synthetic", "--batch-size", "8", "--steps", "30", "--threads", "1",
                                 "--evaluate", "off", "--output", "none"], stdout=subprocess.PIPE, stderr=follower, stdin=subprocess.DEVNULL,
                                env=cli.environment(), cwd=self.folder, timeout=60, check=True)
        os.close(follower)
        shown = b""
        try:
            while chunk := os.read(leader, 65536):
                shown += chunk
        except OSError:
            pass  # closes the reading end
        os.close(leader)
        self.assertIn(b"\r\x1b[K[=", shown)
        self.assertRegex(shown, rb"\d+/33 steps  \d+ samples/s")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-80:])
        self.assertNotIn(b"\x1b", result.stdout)


class Mathematics(RunCase):
    """Losses do not depend on the number of ranks, and do depend on the order of samples."""

    def losses(self, *words, **how):
        return self.run_and_read(*words, **how)[1].losses

    def test_the_same_losses_at_one_two_and_three_ranks(self):
        runs = [self.run_and_read(*SMALL_CNN, "--batch-size", 66 // ranks, "--steps", 5, "--dropout", "off", "--precision", "fp64", "--optimizer", "sgd",
                                  "--check-parameters", "step", ranks=ranks)[1] for ranks in (1, 2, 3)]
        for run in runs[1:]:
            np.testing.assert_allclose(run.losses, runs[0].losses, rtol=1e-9, atol=0)
            self.assertEqual(run.verification["parameters equal on all ranks"], ("passed", "bit by bit, 7 times"))
        self.assertEqual(len(set(runs[0].losses)), 5)

    def test_exact_sharding_takes_every_sample_once(self):
        """At a learning rate of 0 the weighted mean over an epoch is the loss of all 31 samples. In the last step two ranks have no samples."""
        data = ("--data", "mnist", "--data-dir", cli.make_idx(self.folder / "data", 31, 10))

        def epoch(sharding, ranks):
            _, run = self.run_and_read(*data, "--sharding", sharding, "--batch-size", 10, "--epochs", 1, "--lr", 0, "--precision", "fp64", ranks=ranks)
            self.assertEqual(run.tables["epochs"]["samples"], [31], "a repeat is no sample")
            return run, run.tables["epochs"]["train_loss"][0]

        (alone, whole), (together, exact), (_, padded) = epoch("exact", 1), epoch("exact", 3), epoch("pad", 3)
        self.assertClose(exact, whole, 1e-12)
        for name in ("validation_loss", "validation_accuracy"):
            self.assertClose(together.samples[name][0], alone.samples[name][0], 1e-12, name)
        self.assertNotAlmostEqual(padded, whole, 12, "pad has a repeat in the mean")
        self.assertAlmostEqual(padded, whole, 1)

    def test_one_seed_is_one_run_and_another_seed_another(self):
        first, again, other = (self.losses(*SMALL_CNN, "--batch-size", 4, "--steps", 3, "--seed", seed).tolist() for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_epochs_are_shuffled_anew_and_not_with_shuffle_off(self):
        for shuffle, same in (("on", False), ("off", True)):
            first, second = np.split(self.losses("--train-samples", 32, "--shuffle", shuffle, "--lr", 0, "--batch-size", 8, "--epochs", 2, "--warmup", 0), 2)
            self.assertEqual(first.tolist() == second.tolist(), same)


class Epochs(RunCase):
    """The answer of whole and cut epochs, and the documents' own lines."""

    WORDS = ("--train-samples", 96, "--validation-samples", 50, "--batch-size", 4, "--threads", 1)

    def test_lines_have_the_numbers_of_the_table(self):
        result, run = self.run_and_read(*self.WORDS, "--epochs", 2, "--log-lines", ranks=2)
        epochs, out = run.tables["epochs"], result.stdout

        def numbers(pattern): return [tuple(map(float, found)) for found in re.findall(pattern, out)]

        taken = numbers(r"(?m)^Time taken for epoch (\d+) is (\S+) sec, avg (\S+) samples/sec$")
        for row, (epoch, seconds, rate) in enumerate(taken):
            self.assertEqual(epoch, row + 1)
            self.assertAlmostEqual(seconds, epochs["time_s"][row], 6)
            self.assertAlmostEqual(rate / epochs["samples_per_s"][row], 1, 6)
        self.assertEqual(numbers(r"(?m)^\[(\d+)\], epoch time: (\S+)s$"), [line[:2] for line in taken])
        for name, pattern in (("train_loss", r"Avg train loss=(\S+)"), ("validation_loss", r"Avg val loss=(\S+)"),
                              ("validation_time_s", r"Total validation time: (\S+) sec")):
            np.testing.assert_allclose([float(number) for number in re.findall(pattern, out)], epochs[name], rtol=0, atol=1e-6)
        tests = re.findall(r"(?m)^Test set: Average loss: (\S+), Accuracy: (\d+)/(\d+) \((\d+)%\)$", out)
        self.assertEqual([int(right) / int(all_) for _, right, all_, _ in tests], epochs["validation_accuracy"])
        steps = re.findall(r"(?m)^Train Epoch: (\d+) \[(\d+)/96 \((\d+)%\)\]\tLoss: \d+\.\d{6}$", out)
        self.assertEqual(steps, [(str(epoch), str(8 * step), f"{100 * step / 12:.0f}") for epoch in (1, 2) for step in (0, 10)])

    def test_an_answer_ends_with_the_epochs_and_the_total(self):
        result, run = self.run_and_read(*self.WORDS, "--epochs", 2)
        total = run.rows["training_time_s"]["median"]
        self.assertGreaterEqual(total, sum(run.tables["epochs"]["time_s"]) + sum(run.tables["epochs"]["validation_time_s"]))
        self.assertLess(total, result.seconds)
        rows = re.findall(r"(?m)^  (\d) +\S+ m?s ", result.stdout)
        self.assertEqual(rows, ["1", "2"])
        self.assertRegex(result.stdout, r"(?m)^  epoch +time +step +samples/s +loss ")
        self.assertIn("  24 steps per epoch: 96 samples in batches of 4 (4 per rank); ", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^  total +\S+ m?s ")
        self.assertRegex(" ".join(result.stdout.split()), rf" used \S+ m?s of wall time, .*, at most {run.rows['threads']['median']:.0f} threads per rank, ")

    def test_a_cut_epoch_is_in_no_epoch_time(self):
        _, cut = self.run_and_read(*self.WORDS, "--steps", 30, "--warmup", 0)  # 24 steps make an epoch
        self.assertEqual(cut.tables["epochs"]["steps"], [24, 6])
        self.assertEqual(cut.samples["epoch_time_s"].ravel().tolist(), cut.tables["epochs"]["time_s"][:1])
        result, short = self.run_and_read(*self.WORDS, "--steps", 6, "--warmup", 0)
        self.assertNotIn("epoch_time_s", short.rows)
        self.assertNotRegex(result.stdout, r"(?m)^  (epoch|total) ")

    def test_json_has_no_lines(self):
        self.assertSays(train("--epochs", 1, "--log-lines", "--json"), 2, "--json")


if __name__ == "__main__":
    cli.main()
