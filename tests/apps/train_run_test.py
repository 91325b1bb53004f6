"""Whole training runs at one, two and three ranks: what is stored, whether its numbers are right, and who says what where."""

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
import sys
import tempfile
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab, train
from stored_runs import StoredRun, stored_runs, text

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed for this Python")
    sys.exit(77)

PHASES = ("data_time_s", "copy_time_s", "forward_time_s", "backward_time_s", "sync_exposed_time_s", "optimizer_time_s")
# "Measurement names of `train`" of interface.md, those of --ablation aside.
NAMES = {"step_time_s", "epoch_time_s", "throughput_samples_per_s", *PHASES, "time_to_first_step_s", "train_loss", "validation_loss",
         "validation_accuracy", "peak_rss_bytes"}
SUMMARY = ("median", "mean", "min", "max", "p95", "p99", "ci95_low", "ci95_high")
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")


def order_statistic_interval(values):
    """The narrowest symmetric [x(l), x(n+1-l)] that holds the median with 95 %; exact, by counting coin tosses."""
    x, n = sorted(values), len(values)
    rank, below = 0, 0
    while rank < n and (below + math.comb(n, rank)) * 1000 <= 25 * 2**n:
        below += math.comb(n, rank)
        rank += 1
    if rank < 1 or 2 * rank > n:
        return math.nan, math.nan
    weight = 0
    if n >= 30:  # Hettmansperger and Sheather: as far inside as the level allows
        share = (1 - 2 * below / 2**n - 0.95) / (2 * math.comb(n, rank) / 2**n)
        weight = (n - rank) * share / (rank + (n - 2 * rank) * share)
    return x[rank - 1] + weight * (x[rank] - x[rank - 1]), x[n - rank] + weight * (x[n - 1 - rank] - x[n - rank])


def summary_of(values):
    low, high = order_statistic_interval(values)
    return {"median": np.percentile(values, 50), "mean": np.mean(values), "min": np.min(values), "max": np.max(values), "p95": np.percentile(values, 95),
            "p99": np.percentile(values, 99), "ci95_low": low, "ci95_high": high}


class RunCase(Case):
    def run_and_read(self, *words, ranks=1, name="r.h5", **how):
        """(result, the run it stored)"""
        output = self.folder / name
        before = {run.id for run in stored_runs(output)} if output.exists() else set()
        result = train(*words, "--output", output, ranks=ranks, cwd=self.folder, **how)
        self.assertCode(result, 0)
        (run,) = [run for run in stored_runs(output) if run.id not in before]
        return result, run

    def assertClose(self, value, expected, relative=1e-12, what=""):
        if math.isnan(expected):
            self.assertTrue(math.isnan(value), f"{what}: {value} is not n/a")
        else:
            self.assertLessEqual(abs(value - expected), relative * max(abs(expected), 1e-300), f"{what}: {value} is not {expected}")


class OneJob:
    """Two epochs at `ranks` ranks on idx files whose sizes do not divide; run once for all tests of a class."""

    TRAIN, TEST, BATCH, WARMUP, EPOCHS = 131, 101, 8, 3, 2

    def __init__(self, ranks):
        self.ranks = ranks
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-test-"))
        data = cli.make_idx(self.folder / "data", self.TRAIN, self.TEST, gz=ranks == 3)
        self.file = self.folder / "r.h5"
        self.secret = "hunter2-4711-do-not-store"
        self.result = train("--data", "mnist", "--data-dir", data, "--batch-size", self.BATCH, "--epochs", self.EPOCHS, "--warmup", self.WARMUP,
                            "--label", "a label, with \"quotes\" and ä", "--output", self.file, "--verbose", ranks=ranks, cwd=self.folder,
                            env=cli.environment(SECRET_TOKEN=self.secret, AWS_SECRET_ACCESS_KEY=self.secret, MY_OMP_SECRET=self.secret))
        if self.result.code != 0:
            raise AssertionError(str(self.result))
        (self.run,) = stored_runs(self.file)
        self.steps_per_epoch = -(-(-(-self.TRAIN // ranks)) // self.BATCH)
        self.steps = self.EPOCHS * self.steps_per_epoch


@needs_train
class StoredRunAtTwoRanks(RunCase):
    RANKS = 2

    @classmethod
    def setUpClass(cls):
        cls.job = OneJob(cls.RANKS)
        cls.addClassCleanup(shutil.rmtree, cls.job.folder, ignore_errors=True)

    def test_every_name_of_the_interface_is_there(self):
        job = self.job
        self.assertLessEqual(NAMES, set(job.run.rows))
        self.assertLessEqual(NAMES, set(job.run.samples))
        for name in NAMES:
            suffix = {"_s": "s", "bytes": "B", "per_s": "samples/s"}
            unit = next((unit for end, unit in reversed(suffix.items()) if name.endswith(end)), "1")
            self.assertEqual(job.run.rows[name]["unit"], unit, name)

    def test_samples_are_steps_by_ranks_and_warm_up_stands_apart(self):
        job = self.job
        for name in ("step_time_s", *PHASES):
            self.assertEqual(job.run.samples[name].shape, (job.steps - job.WARMUP, job.ranks), name)
            self.assertEqual(job.run.warmup[name].shape, (job.WARMUP, job.ranks), name)
            self.assertEqual(job.run.samples[name].dtype, np.float64)
            self.assertEqual(job.run.sample_attrs[name], {"unit": "s", "kind": "cost", "axis": "step"}, name)
            self.assertEqual(job.run.rows[name]["n"], job.steps - job.WARMUP)
        self.assertEqual(job.run.samples["epoch_time_s"].shape, (job.EPOCHS, job.ranks))
        self.assertEqual(len(job.run.samples["train_loss"]), job.steps - job.WARMUP)
        self.assertEqual(len(job.run.warmup["train_loss"]), job.WARMUP)
        self.assertEqual(len(job.run.samples["validation_accuracy"]), job.EPOCHS)

    def test_summaries_are_those_of_numpy(self):
        """Over the maximum of the ranks in each step for costs; the mean of a rate is sum over sum."""
        job = self.job
        for name, row in job.run.rows.items():
            if name in ("communication_hidden_s", "overlap", "overlap_balance"):  # one value of all pairs
                self.assertNotIn(name, job.run.samples)
                self.assertTrue(math.isnan(row["mean"]), name)
                self.assertEqual(name == "overlap" and math.isnan(row["median"]),
                                 name == "overlap" and "no_overlap" in job.run.context.get("communication", {}))
                continue
            if name not in job.run.samples:  # one value of the whole run
                self.assertTrue(row["n"] == 1 and row["median"] == row["mean"] == row["min"] == row["max"], name)
                continue
            samples = job.run.samples[name]
            values = samples.max(axis=1) if samples.ndim == 2 else samples
            expected = summary_of(values)
            if name == "throughput_samples_per_s":
                costs = job.run.samples["step_time_s"].max(axis=1)
                expected["mean"] = (values * costs).sum() / costs.sum()
            if job.run.sample_attrs[name]["kind"] == "ratio" and len(values) > 1:
                expected["mean"] = math.nan  # ratios are not averaged
            self.assertEqual(row["n"], len(values), name)
            methods = dict(zip(job.run.tables["statistics"]["name"], job.run.tables["statistics"]["method"]))
            for key in SUMMARY:
                if key.startswith("ci95") and methods.get(name) != "order statistics":
                    # Steps that are correlated, as losses always are, have a wider interval.
                    self.assertFalse(row["ci95_low"] > expected["ci95_low"] or row["ci95_high"] < expected["ci95_high"], name)
                    self.assertEqual(math.isnan(row[key]), math.isnan(expected[key]), name)
                    continue
                self.assertClose(row[key], expected[key], 1e-9 if key == "mean" else 1e-12, f"{name} {key}")

    def test_statistics_of_the_steps(self):
        """Of the slowest rank in each step; outliers stay counted, and the warm-up is the one that was fixed."""
        job, table = self.job, self.job.run.tables["statistics"]
        rows = {name: {key: values[i] for key, values in table.items()} for i, name in enumerate(table["name"])}
        self.assertLessEqual(len(rows), 8)
        for name, row in rows.items():
            values = job.run.samples[name].max(axis=1)
            low, high = np.percentile(values, [25, 75])
            self.assertEqual(row["n"], len(values), name)
            self.assertEqual(row["outliers_high"], (values > high + 3 * (high - low)).sum(), name)
            self.assertEqual(row["outliers_low"], (values < low - 3 * (high - low)).sum(), name)
            self.assertEqual(row["warmup_fixed"], job.WARMUP, name)
            self.assertIn(row["warmup_detected"], range(0, job.steps // 2 + 5, 5), name)
            self.assertTrue(1 <= row["effective_n"] <= row["n"], name)
        step = rows["step_time_s"]
        detected = step["warmup_detected"] if job.WARMUP + step["n"] >= 20 else "n/a (n < 20)"
        self.assertIn(f"{step['outliers_low']} low, {step['outliers_high']} high of {step['n']} in step_time_s, all counted; "
                      f"warm-up: fixed {job.WARMUP}, detected {detected}", " ".join(job.result.stdout.split()))
        correlated = [warning for warning in job.run.warnings if warning.startswith("step_time_s: ")]
        self.assertEqual(len(correlated), 1 if step["effective_n"] < step["n"] else 0, job.run.warnings)

    def test_phases_are_parts_of_their_step(self):
        job = self.job
        together = sum(job.run.samples[name] for name in PHASES)
        self.assertTrue((together <= job.run.samples["step_time_s"] * (1 + 1e-9)).all())
        for name in PHASES:
            self.assertTrue((job.run.samples[name] >= 0).all(), name)
        for name in ("data_time_s", "forward_time_s", "backward_time_s", "sync_exposed_time_s"):
            self.assertTrue((job.run.samples[name] > 0).all(), f"{name} was not marked")

    def test_samples_per_second_count_every_sample_once(self):
        """pad repeats samples to make the ranks' shares equal; the repeats are no throughput."""
        job = self.job
        shares = [job.BATCH * job.ranks] * (job.steps_per_epoch - 1)
        counts = (shares + [job.TRAIN - sum(shares)]) * job.EPOCHS
        costs = job.run.samples["step_time_s"].max(axis=1)
        np.testing.assert_allclose(job.run.samples["throughput_samples_per_s"] * costs, counts[job.WARMUP:], rtol=1e-12)
        self.assertEqual(job.run.tables["epochs"]["samples"], [job.TRAIN] * job.EPOCHS)

    def test_test_samples_are_counted_exactly_once(self):
        job = self.job
        self.assertEqual(job.run.verification["test samples counted once"], ("passed", f"{job.TEST} of {job.TEST} test samples were evaluated"))
        for accuracy in job.run.samples["validation_accuracy"]:
            self.assertAlmostEqual(accuracy * job.TEST, round(accuracy * job.TEST), 9)

    def test_epochs_are_a_table(self):
        job = self.job
        epochs = job.run.tables["epochs"]
        self.assertEqual(epochs["epoch"], [1, 2])
        self.assertEqual(epochs["steps"], [job.steps_per_epoch] * 2)
        self.assertEqual(epochs["validation_accuracy"], list(job.run.samples["validation_accuracy"]))
        self.assertEqual(epochs["time_s"], list(job.run.samples["epoch_time_s"].max(axis=1)))
        self.assertEqual(epochs["samples_per_s"], [samples / time for samples, time in zip(epochs["samples"], epochs["time_s"])])
        self.assertTrue(all(0 < time < job.run.attrs["duration_s"] for time in epochs["validation_time_s"]), epochs["validation_time_s"])

    def test_hosts_say_where_each_rank_ran(self):
        job = self.job
        self.assertEqual([row["rank"] for row in job.run.hosts], list(range(job.ranks)))
        for row in job.run.hosts:
            self.assertEqual((row["local_rank"], row["host"], row["device"]), (row["rank"], os.uname().nodename, "cpu"))
            self.assertRegex(row["cpus"], r"^\d[\d,-]*$")

    def test_attributes_of_file_and_run(self):
        job = self.job
        with h5py.File(job.file) as file:
            self.assertEqual(file.attrs["ranklab_schema"], 1)
            self.assertRegex(text(file.attrs["created_utc"]), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        attrs = job.run.attrs
        self.assertRegex(job.run.id, r"^\d{8}T\d{6}Z-[0-9a-f]{6}$")
        self.assertEqual((attrs["command"], attrs["exit_code"], attrs["valid"]), ("train", 0, 1))
        self.assertEqual(attrs["label"], 'a label, with "quotes" and ä')
        self.assertIn("--epochs 2", attrs["argv"])
        self.assertGreater(attrs["duration_s"], 0)
        self.assertTrue(attrs["version"] and attrs["git_revision"])
        self.assertEqual(attrs["started_utc"].replace("-", "").replace(":", ""), job.run.id[:16])
        self.assertEqual((job.run.config["batch-size"], job.run.config["global-batch-size"], job.run.config["epochs"], job.run.config["seed"],
                          job.run.config["sync"], job.run.config["mode"]), (8, 8 * job.ranks, 2, 1, "bucketed", "ddp"))
        self.assertNotIn("steps", job.run.config)
        for section, key in (("libraries", "mpi"), ("libraries", "hdf5"), ("libraries", "libtorch"), ("build", "compiler"), ("build", "type"),
                             ("host", "kernel"), ("host", "cpu"), ("process", "allocator"), ("output", "file_system"), ("training", "data_origin")):
            value = job.run.context[section][key]
            self.assertTrue(value and value.isprintable(), f"{section}.{key}: {value!r}")
        self.assertEqual(job.run.context["training"]["train_samples"], str(job.TRAIN))

    def test_memory_threads_and_first_step(self):
        job = self.job
        rss = job.run.samples["peak_rss_bytes"].ravel()
        self.assertEqual(len(rss), job.ranks)
        self.assertTrue(((50 << 20) < rss).all() and (rss <= job.result.max_rss).all(), f"{rss}, the launcher saw {job.result.max_rss}")
        first = job.run.samples["time_to_first_step_s"].ravel()
        self.assertEqual(len(first), job.ranks)
        self.assertTrue((first > job.run.warmup["step_time_s"][0]).all() and (first < job.result.seconds).all(), first)
        self.assertTrue((job.run.samples["threads"] >= 1).all())

    def test_h5dump_reads_it(self):
        job = self.job
        result = cli.run("h5dump", "-H", job.file)
        self.assertCode(result, 0)
        for name in (job.run.id, "measurements", "step_time_s", "hosts", "verification"):
            self.assertIn(name, result.stdout)
        self.assertCode(cli.run("h5dump", "-d", f"/runs/{job.run.id}/measurements", job.file), 0)

    def test_json_has_the_same_numbers(self):
        job = self.job
        result = ranklab("report", job.file, "--format", "json")
        self.assertCode(result, 0)
        document = json.loads(result.stdout, parse_constant=lambda word: self.fail(f"{word} is not JSON"))
        self.assertEqual(document["schema"], 1)
        (run,) = document["runs"]
        self.assertEqual((run["id"], run["command"], run["valid"]), (job.run.id, "train", True))
        self.assertEqual(run["config"], job.run.config)
        self.assertEqual(run["context"], job.run.context)
        self.assertEqual(run["hosts"], job.run.hosts)
        self.assertEqual({m["name"] for m in run["measurements"]}, set(job.run.rows))
        for measurement in run["measurements"]:
            row = job.run.rows[measurement["name"]]
            for key in ("unit", "kind", "n", "rank_reduction"):
                self.assertEqual(measurement[key], row[key])
            for key in SUMMARY:
                self.assertEqual(measurement[key], None if math.isnan(row[key]) else row[key], f"{measurement['name']} {key}")
        self.assertEqual(run["tables"], job.run.tables)

    def test_csv_has_the_same_numbers(self):
        job = self.job
        result = ranklab("report", job.file, "--format", "csv")
        self.assertCode(result, 0)
        lines = [line for line in result.stdout.splitlines() if not line.startswith("#")]
        rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
        self.assertEqual({row["name"] for row in rows}, set(job.run.rows))
        for row in rows:
            self.assertEqual((row["run_id"], row["label"], row["valid"]), (job.run.id, job.run.attrs["label"], "1"))
            for key in SUMMARY:
                stored = job.run.rows[row["name"]][key]
                self.assertEqual(row[key], "" if math.isnan(stored) else row[key])
                if row[key]:
                    self.assertEqual(float(row[key]), stored, f"{row['name']} {key}")

    def test_text_has_the_rates_and_the_accuracy(self):
        job = self.job
        for shown in (job.result.stdout, ranklab("report", job.file).stdout, ranklab("report", job.file, "--run", job.run.id).stdout):
            row = job.run.rows["throughput_samples_per_s"]
            for pattern, divisor in ((r"^Img/sec per rank: (\S+) \+- (\S+)$", job.ranks), (rf"^Total img/sec on {job.ranks} rank\(s\): (\S+) \+- (\S+)$", 1)):
                match = re.search(pattern, shown, re.MULTILINE)
                self.assertTrue(match, f"{pattern} is not in\n{shown}")
                half = max(row["ci95_high"] - row["median"], row["median"] - row["ci95_low"])
                for shown_value, stored in zip(match.groups(), (row["median"], half)):
                    self.assertAlmostEqual(float(shown_value), stored / divisor, delta=max(0.06, 1e-3 * row["median"] / divisor))
            last = job.run.tables["epochs"]["validation_accuracy"][-1]
            self.assertIn(f"{100 * last:.2f} %", re.search(r"test accuracy.*", shown).group(0), "not that of the last epoch")
            for name in ("step_time_s", *PHASES, "verification", job.run.id):
                self.assertIn(name, shown)
        self.assertIn(f"ranklab report {job.file} --run {job.run.id}", job.result.stdout, "the next command to type")

    def test_accuracy_differs_between_the_epochs(self):
        """Else the test above could not tell the last from the median."""
        job = self.job
        self.assertEqual(len(set(job.run.tables["epochs"]["validation_accuracy"])), 2)

    def test_secrets_of_the_environment_are_not_stored_or_shown(self):
        job = self.job
        content = job.file.read_bytes()
        for word in (job.secret, "SECRET_TOKEN", "AWS_SECRET", "MY_OMP_SECRET"):
            self.assertNotIn(word.encode(), content)
            self.assertNotIn(word, job.result.stdout + job.result.stderr)
        one = "OMPI_MCA_mpi_yield_when_idle" if cli.LAUNCHER.is_open_mpi else "OMP_NUM_THREADS"
        self.assertIn(one, job.run.context["environment"], "the allow-list lets this one in")
        allowed = r"^(OMP|NCCL|UCX|OMPI_MCA|MPIR_CVAR|MPICH|I_MPI|FI|ROMIO|HDF5|SLURM)_|^CUDA_VISIBLE_DEVICES$"
        self.assertEqual([name for name in job.run.context["environment"] if not re.match(allowed, name)], [])

    def test_stdout_is_the_report_and_stderr_the_log(self):
        job = self.job
        said = [line for line in job.result.said if not line.startswith("warning: ") and "what is measured so far is kept in" not in line]
        self.assertEqual(said, [])
        self.assertNotIn("warning: ", job.result.stdout.split("\nrun ")[0])
        self.assertTrue(job.result.stdout.startswith("# ranklab "))
        self.assertNotIn("\r", job.result.stdout)
        self.assertNotIn("\033", job.result.stdout)


class StoredRunAtThreeRanks(StoredRunAtTwoRanks):
    RANKS = 3


@needs_train
class FileTest(RunCase):
    def test_runs_are_added_in_order_and_change_nothing_stored(self):
        ids, texts = [], []
        for i in range(3):
            _, run = self.run_and_read("--steps", 3, "--label", f"run {i}")
            ids.append(run.id)
            texts.append(ranklab("report", "r.h5", "--run", ids[0], cwd=self.folder).stdout)
        self.assertEqual(len(set(texts)), 1, "the first run reads as before")
        document = json.loads(ranklab("report", "r.h5", "--format", "json", cwd=self.folder).stdout)
        self.assertEqual([run["label"] for run in document["runs"]], ["run 0", "run 1", "run 2"])
        self.assertEqual([run["id"] for run in document["runs"]], ids)

    def test_jobs_that_end_together_are_all_stored(self):
        jobs = [self.start(cli.RANKLAB, "train", "--model", "template-softmax", "--threads", "1", "--steps", "5", "--output", "r.h5", "--label", str(i))
                for i in range(5)]
        for job in jobs:
            self.assertCode(job.finish(), 0)
        self.assertEqual(sorted(run.attrs["label"] for run in stored_runs(self.folder / "r.h5")), list("01234"))
        self.assertEqual(self.names(), ["r.h5"])

    @cli.only_open_mpi
    def test_the_key_of_the_mpi_job_is_not_stored(self):
        """Open MPI puts the key with which the processes of a job know each other beside its settings."""
        for ranks in (1, 2):
            _, run = self.run_and_read("--steps", 3, ranks=ranks)
            self.assertNotIn("OMPI_MCA_orte_precondition_transports", run.context["environment"])

    def test_output_none_stores_nothing(self):
        for ranks in (1, 2):
            result = train("--steps", 3, "--output", "none", ranks=ranks, cwd=self.folder)
            self.assertCode(result, 0)
            self.assertIn("Img/sec per rank", result.stdout)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_default_place_and_folders_that_are_not_there_yet(self):
        self.assertCode(train("--steps", 3, cwd=self.folder), 0)
        self.assertCode(train("--steps", 3, "--output", "deep/er/r.h5", cwd=self.folder), 0)
        self.assertEqual(self.names(), ["deep/er/r.h5", "results/ranklab.h5"])


@needs_train
class ScreenTest(RunCase):
    def test_quiet_prints_one_line(self):
        for ranks, output, stored in ((1, "none", r"Not stored \(--output none\)"), (2, "r.h5", r"Stored as \S+ in r\.h5")):
            result = train("--steps", 7, "--quiet", "--output", output, ranks=ranks, cwd=self.folder)
            self.assertCode(result, 0)
            self.assertRegex(result.stdout, rf"^[\d.]+ \+- [\d.]+ samples/s on {ranks} rank\(s\); {stored}\n$")
            self.assertEqual(result.said, [])

    def test_the_answer_is_short_and_says_what_a_person_asks(self):
        for ranks in (1, 2):
            result = train("--steps", 20, "--output", "r.h5", ranks=ranks, cwd=self.folder)
            self.assertCode(result, 0)
            header, _, answer = result.stdout.partition("\n\n")
            self.assertTrue(all(line.startswith("# ") for line in header.splitlines()), header)
            self.assertNotIn("bucket-cap-mb", header, "a default is shown")
            for setting in ("# model: template-softmax", "# steps: 20", *(("# mode: ddp", "# sync: bucketed") if ranks == 2 else ())):
                self.assertIn(setting, header.splitlines())
            self.assertRegex(answer, rf"^Img/sec per rank: .*\nTotal img/sec on {ranks} rank\(s\): ")
            for part in ("  step ", "  limit ", " of the mean step ", "  verified      yes: ", "Stored as ", "Next: ranklab report r.h5 --run "):
                self.assertIn(part, answer)
            self.assertEqual("  communication " in answer, ranks == 2, answer)
            self.assertNotIn("kept in", result.stderr)
            self.assertNotIn("step_time_s  ", answer, "tables are for --verbose")

    def test_json_is_all_of_stdout(self):
        """Of one run, of several with the one that compares them, of an invalid one whose exit code stays."""
        several = ("--steps", 4, "--sync", "flat,bucketed")
        for words, ranks, code, runs, output in (((), 1, 0, 1, "one.h5"), (several, 2, 0, 3, "several.h5"), (several, 2, 0, 3, "none"),
                                                 (("--optimizer", "sgd", "--lr", "1e38", "--steps", 60), 1, 3, 1, "bad.h5")):
            with self.subTest(words=words, output=output):
                result = train(*(words or ("--steps", 4)), "--json", "--output", output, ranks=ranks, cwd=self.folder)
                self.assertCode(result, code)
                document = json.loads(result.stdout)
                self.assertEqual(len(document["runs"]), runs)
                self.assertEqual(document["runs"][0]["exit_code"], code)
                if output != "none":
                    stored = json.loads(ranklab("report", output, "--format", "json", cwd=self.folder).stdout)
                    self.assertEqual(sorted(document["runs"], key=lambda run: run["id"]), sorted(stored["runs"], key=lambda run: run["id"]))

    def test_what_does_not_go_together(self):
        for words, parts in ((("--verbose", "--quiet"), ("--verbose and --quiet exclude each other",)),
                             (("--verbose", "--json"), ("--verbose and --json exclude each other",)),
                             (("--json", "--dry-run"), ("--json and --dry-run exclude each other",))):
            self.assertSays(train("--steps", 2, "--output", "none", *words, cwd=self.folder), 2, *parts)

    def test_verbose_has_all_settings_and_tables(self):
        result = train("--steps", 5, "--verbose", "--output", "none", cwd=self.folder)
        self.assertCode(result, 0)
        dry = train("--steps", 5, "--dry-run", "--output", "none", cwd=self.folder)
        self.assertEqual([line for line in result.stdout.splitlines() if line.startswith("# ")], dry.stdout.splitlines())
        for part in ("\nrun ", "\n  step_time_s ", "\nverification\n"):
            self.assertIn(part, result.stdout)

    def test_plain_progress_lines_go_to_stderr_where_it_is_no_terminal(self):
        result = train("--steps", 1000000, "--time-limit", 6, "--output", "none", cwd=self.folder)
        self.assertCode(result, 6)
        lines = [line for line in result.said if re.match(r"\d+/1000010 steps  \d+ samples/s  epoch \d+ loss [\d.]+  .+ left$", line)]
        self.assertEqual(len(lines), 1, str(result))
        self.assertNotIn("left", result.stdout)
        self.assertNotIn("\r", result.stderr)

    def test_a_bar_is_drawn_on_a_terminal_and_removed(self):
        leader, follower = pty.openpty()
        result = subprocess.run([cli.RANKLAB, "train", "--model", "mnist-cnn", "--data", "synthetic", "--batch-size", "8", "--steps", "60", "--threads", "1",
                                 "--evaluate", "off", "--output", "none"], stdout=subprocess.PIPE, stderr=follower, stdin=subprocess.DEVNULL,
                                env=cli.environment(), cwd=self.folder, timeout=60, check=True)
        os.close(follower)
        shown = b""
        try:
            while chunk := os.read(leader, 65536):
                shown += chunk
        except OSError:
            pass  # Linux's way to say that the other end is closed
        os.close(leader)
        self.assertIn(b"\r\x1b[K[=", shown)
        self.assertRegex(shown, rb"\d+/66 steps  \d+ samples/s")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-80:])
        self.assertNotIn(b"\x1b", result.stdout)

    def test_the_header_says_what_runs_where(self):
        result = train("--steps", 3, "--output", "none", ranks=2, cwd=self.folder)
        self.assertRegex(result.stdout, r"(?m)^# ranks: 2 on 1 node, each 1 thread on \d+ core")
        self.assertIn(os.uname().nodename, result.stdout)


@needs_train
class MathematicsTest(RunCase):
    """What must not depend on the number of ranks."""

    def data(self, n_train=131, n_test=101):
        folder = self.folder / "data"
        return ("--data", "mnist", "--data-dir", folder if folder.exists() else cli.make_idx(folder, n_train, n_test))

    def losses(self, run):
        return np.concatenate([run.warmup.get("train_loss", np.empty(0)).ravel(), run.samples["train_loss"].ravel()])

    def test_the_same_losses_at_one_two_and_three_ranks(self):
        """Global batch 66, the published network, real images where they are installed."""
        data = ("--data", "fashion-mnist") if FASHION_MNIST.exists() else ("--data", "synthetic")
        losses = []
        for ranks in (1, 2, 3):
            _, run = self.run_and_read("--model", "mnist-cnn", *data, "--batch-size", 66 // ranks, "--steps", 20, "--warmup", 0, "--dropout", "off",
                                       "--precision", "fp64", "--optimizer", "sgd", "--evaluate", "off", "--check-parameters", "step", ranks=ranks)
            losses.append(self.losses(run))
            self.assertEqual(len(losses[-1]), 20)
            self.assertGreater(losses[0][0], losses[-1][-1], "it learns")
            if ranks > 1:
                self.assertEqual(run.verification["parameters equal on all ranks"][0], "passed")
        np.testing.assert_allclose(losses[1], losses[0], rtol=1e-9, atol=0)
        np.testing.assert_allclose(losses[2], losses[0], rtol=1e-9, atol=0)

    def test_the_strategies_give_the_same_losses(self):
        losses = []
        for sync in ("flat", "per-parameter"):
            _, run = self.run_and_read(*self.data(), "--sync", sync, "--precision", "fp64", "--steps", 12, "--batch-size", 8, "--evaluate", "off", ranks=2)
            losses.append(self.losses(run))
        np.testing.assert_allclose(losses[1], losses[0], rtol=1e-12, atol=0)

    def test_parameters_are_bit_identical_after_every_step_with_every_strategy(self):
        for sync in ("flat", "per-parameter"):
            for ranks in (2, 3):
                with self.subTest(sync=sync, ranks=ranks):
                    _, run = self.run_and_read("--model", "mnist-cnn", *self.data(), "--sync", sync, "--batch-size", 4, "--steps", 12, "--warmup", 0,
                                               "--check-parameters", "step", "--evaluate", "off", ranks=ranks)
                    self.assertEqual(run.verification["parameters equal on all ranks"], ("passed", "bit by bit, 14 times"))

    def test_ranks_that_are_not_synchronised_are_not_called_equal(self):
        _, run = self.run_and_read(*self.data(), "--sync", "none", "--batch-size", 4, "--steps", 6, ranks=2)
        self.assertEqual(run.verification["parameters equal on all ranks"][0], "not verified")

    def test_an_epochs_time_is_that_of_its_steps(self):
        """Nothing between the steps is in it, such as comparing the parameters after each."""
        _, run = self.run_and_read("--model", "mnist-cnn", *self.data(), "--batch-size", 8, "--epochs", 2, "--warmup", 3, "--check-parameters", "step",
                                   ranks=2)
        steps = np.concatenate([run.warmup["step_time_s"], run.samples["step_time_s"]])
        per_epoch = run.tables["epochs"]["steps_per_epoch"][0]
        for epoch, time_s in enumerate(run.samples["epoch_time_s"]):
            np.testing.assert_allclose(time_s, steps[epoch * per_epoch:(epoch + 1) * per_epoch].sum(axis=0), rtol=1e-9, atol=0)

    def test_a_rank_that_trains_alone_takes_the_mean_of_its_own_samples(self):
        """20 samples a rank: five micro-batches of 4, of which an epoch's last step of two has one, as a batch of 8 has 4 left."""
        def trained(name, *words):
            self.run_and_read(*self.data(40, 4), "--sync", "none", "--shuffle", "off", "--precision", "fp64", "--optimizer", "sgd", "--lr", 0.3,
                              "--epochs", 1, "--warmup", 0, "--evaluate", "off", "--save-parameters", self.folder / name, *words, ranks=2)
            with h5py.File(self.folder / name) as file:
                return {parameter: data[()] for parameter, data in file.items()}

        micro = trained("micro.h5", "--batch-size", 4, "--accumulate", 2)
        whole = trained("whole.h5", "--batch-size", 8)
        for name, values in whole.items():
            np.testing.assert_allclose(micro[name], values, rtol=1e-9, atol=1e-12)

    def test_exact_sharding_takes_every_sample_once(self):
        """With a learning rate of 0 the weighted mean over an epoch is the loss of all 131 samples, however they are dealt."""
        def epoch_loss(sharding, ranks):
            _, run = self.run_and_read(*self.data(), "--sharding", sharding, "--batch-size", 10, "--epochs", 1, "--lr", 0, "--precision", "fp64", ranks=ranks)
            return run.tables["epochs"]["train_loss"][0], run.tables["epochs"]["samples"][0], run

        whole, count, alone = epoch_loss("exact", 1)
        self.assertEqual(count, 131)
        for ranks in (2, 3):
            loss, count, run = epoch_loss("exact", ranks)
            self.assertEqual(count, 131)
            self.assertClose(loss, whole, 1e-12, f"exact at {ranks} ranks")
            # The same parameters, so the same test loss, each test sample counted once.
            for name in ("validation_loss", "validation_accuracy"):
                self.assertClose(run.samples[name][0], alone.samples[name][0], 1e-12, name)
        padded, count, _ = epoch_loss("pad", 2)
        self.assertEqual(count, 131, "a repeat is no sample")
        self.assertNotAlmostEqual(padded, whole, 12, "131 does not divide by 2: pad has a repeat in the mean")
        self.assertAlmostEqual(padded, whole, 1)

    def test_more_ranks_than_samples_in_the_last_batch(self):
        """exact, 7 samples on 3 ranks with batch 2: in the second step two ranks have nothing left."""
        _, run = self.run_and_read(*self.data(7, 4), "--sharding", "exact", "--batch-size", 2, "--epochs", 3, "--warmup", 0, "--precision", "fp64",
                                   "--check-parameters", "step", ranks=3)
        self.assertEqual(run.tables["epochs"]["samples"], [7, 7, 7])
        self.assertEqual(run.verification["parameters equal on all ranks"][0], "passed")
        _, alone = self.run_and_read(*self.data(), "--sharding", "exact", "--batch-size", 6, "--epochs", 3, "--warmup", 0, "--precision", "fp64")
        np.testing.assert_allclose(self.losses(run), self.losses(alone), rtol=1e-9, atol=0)

    def test_one_seed_is_one_run_and_another_seed_another(self):
        losses = {}
        for seed in (1, 1, 2):
            _, run = self.run_and_read("--model", "mnist-cnn", *self.data(), "--batch-size", 4, "--steps", 6, "--seed", seed, "--evaluate", "off")
            losses.setdefault(seed, []).append(self.losses(run).tolist())
        self.assertEqual(losses[1][0], losses[1][1])
        self.assertNotEqual(losses[1][0], losses[2][0])

    def test_epochs_are_shuffled_anew_and_not_with_shuffle_off(self):
        for shuffle, same in (("on", False), ("off", True)):
            _, run = self.run_and_read(*self.data(), "--shuffle", shuffle, "--lr", 0, "--batch-size", 16, "--epochs", 2, "--warmup", 0)
            first, second = np.split(self.losses(run), 2)
            self.assertEqual(first.tolist() == second.tolist(), same)

    def test_first_step_gradients_in_fp32_are_those_of_one_rank(self):
        """SGD with rate 1 subtracts the gradient from the parameters: their difference is the gradient."""
        if "--save-parameters" not in ranklab("train", "--help").stdout:
            self.skipTest("this ranklab train has no --save-parameters")

        def parameters(lr, ranks):
            path = self.folder / f"p{lr}-{ranks}.h5"
            self.run_and_read("--model", "mnist-cnn", *self.data(), "--batch-size", 66 // ranks, "--steps", 1, "--warmup", 0, "--dropout", "off",
                              "--optimizer", "sgd", "--lr", lr, "--lr-schedule", "none", "--evaluate", "off", "--save-parameters", path, ranks=ranks)
            with h5py.File(path) as file:
                return {name: file[name][()] for name in file}

        start = parameters(0, 1)
        gradients = {ranks: {name: start[name] - value for name, value in parameters(1, ranks).items()} for ranks in (1, 2, 3)}
        for ranks in (2, 3):
            for name, gradient in gradients[1].items():
                norm = np.linalg.norm(gradient)
                self.assertGreater(norm, 0, name)
                self.assertLess(np.linalg.norm(gradients[ranks][name] - gradient) / norm, 1e-5, f"{name} at {ranks} ranks")


if __name__ == "__main__":
    cli.main()
