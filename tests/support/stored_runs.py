"""The runs of a results file, read with h5py alone."""

import json

import ranklab_cli as cli

(h5py,) = cli.modules("h5py")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


class StoredRun:
    """One run of a results file, read with h5py alone."""

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


def stored_runs(path):
    with h5py.File(path) as file:
        return [StoredRun(file["runs"][name]) for name in file["runs"]]
