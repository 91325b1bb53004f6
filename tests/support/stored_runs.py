"""Reads the runs of a results file with h5py."""

import json
import math

import ranklab_cli as cli

h5py, np = cli.modules("h5py", "numpy")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


class StoredRun:
    """One run of a results file."""

    def __init__(self, group):
        self.id = group.name.rsplit("/", 1)[-1]
        self.attrs = {key: text(value) for key, value in group.attrs.items()}
        self.rows = {text(row["name"]): {key: text(row[key]) for key in row.dtype.names} for row in group["measurements"][()]}
        self.samples = {name: data[()] for name, data in group["samples"].items()}
        self.sample_attrs = {name: {k: text(v) for k, v in data.attrs.items()} for name, data in group["samples"].items()}
        self.warmup = {name: data[()] for name, data in group["warmup"].items()} if "warmup" in group else {}
        self.hosts = [{key: text(row[key]) for key in row.dtype.names} for row in group["hosts"][()]]
        self.tables = {name: {key: [text(v) for v in table[key]] for key in table.dtype.names} for name, table in group["tables"].items()}
        self.config, self.context = json.loads(self.attrs["config_json"]), json.loads(self.attrs["context_json"])
        self.warnings = json.loads(self.attrs["warnings_json"])
        verdicts = self.tables.get("verification", {"check": [], "result": []})
        self.verification = dict(zip(verdicts["check"], zip(verdicts["result"], verdicts.get("detail", verdicts["result"]))))

    @property
    def losses(self):
        """The training loss of every step, warm-up first."""
        return np.concatenate([self.warmup.get("train_loss", np.empty(0)).ravel(), self.samples["train_loss"].ravel()])


def stored_runs(path):
    with h5py.File(path) as file:
        return [StoredRun(file["runs"][name]) for name in file["runs"]]


class RunCase(cli.Case):
    """A test of whole training runs."""

    def run_and_read(self, *words, ranks=1, name="r.h5", **how):
        """Returns (result, stored run)."""
        output = self.folder / name
        before = {run.id for run in stored_runs(output)} if output.exists() else set()
        result = cli.train(*words, "--output", output, ranks=ranks, cwd=self.folder, **how)
        self.assertCode(result, 0)
        (run,) = [run for run in stored_runs(output) if run.id not in before]
        return result, run

    def parameters(self, path):
        """Returns {name: values} of a file by --save-parameters."""
        with h5py.File(path) as file:
            return {name: data[()] for name, data in file.items()}

    def assertClose(self, value, expected, relative=1e-12, what=""):
        if math.isnan(expected):
            self.assertTrue(math.isnan(value), f"{what}: {value} is not n/a")
        else:
            self.assertLessEqual(abs(value - expected), relative * max(abs(expected), 1e-300), f"{what}: {value} is not {expected}")
