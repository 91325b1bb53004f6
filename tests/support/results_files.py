"""Writes results files without ranklab, by docs/results.md, for tests that need chosen numbers."""

import json

import ranklab_cli as cli

h5py, np = cli.modules("h5py", "numpy")

NUMBERS = ("median", "mean", "min", "max", "p95", "p99", "ci95_low", "ci95_high")
TEXT, NUMBER = h5py.string_dtype("utf-8", 64), "<f8"


def run(minute, values, **changes):
    """Returns a run of `train` that started at that minute; values: {(name, unit, kind): median}."""
    made = {
        "id": f"20261121T{10 + minute // 60:02}{minute % 60:02}00Z-{minute:06x}",
        "command": "train",
        "argv": "ranklab-train",
        "label": "",
        "started_utc": f"2026-11-21T{10 + minute // 60:02}:{minute % 60:02}:00Z",
        "duration_s": 1.5,
        "version": "0.1.0",
        "git_revision": "0123456789ab",
        "exit_code": 0,
        "valid": 1,
        "config": {"model": "mnist-cnn", "batch-size": 64, "lr": 0.7, "seed": 1},
        "context": {"host": {"cpu": "A64FX", "kernel": "6.1"}, "libraries": {"libtorch": "2.11.0"}},
        "warnings": [],
        "hosts": [(0, 0, "node01", "0-3", "cpu")],
        "values": values,
        "checks": ["passed"],
    }
    made.update(changes)
    return made


def step_times(medians, first_minute=0, every=1, **changes):
    return [run(first_minute + every * i, {("step_time_s", "s", "cost"): value}, **changes) for i, value in enumerate(medians)]


def table(group, name, fields, rows):
    group.create_dataset(name, data=np.array(rows, dtype=fields))


def write(path, runs):
    """Replaces the file and returns its path."""
    with h5py.File(path, "w", track_order=True) as file:
        file.attrs["ranklab_schema"] = np.int64(1)
        file.attrs["created_utc"] = "2026-11-21T10:00:00Z"
        all_runs = file.create_group("runs", track_order=True)
        for one in runs:
            add(all_runs.create_group(one["id"], track_order=True), one)
    return path


def add(group, one):
    for name in ("command", "argv", "label", "started_utc", "version", "git_revision"):
        group.attrs[name] = one[name]
    group.attrs["duration_s"] = np.float64(one["duration_s"])
    for name in ("exit_code", "valid"):
        group.attrs[name] = np.int64(one[name])
    for name in ("config", "context", "warnings"):
        group.attrs[name + "_json"] = json.dumps(one[name])
    table(group, "measurements",
          [("name", TEXT), ("unit", TEXT), ("kind", TEXT), ("n", "<i8"), *((name, NUMBER) for name in NUMBERS), ("rank_reduction", TEXT)],
          [(*key, 50, *([value] * len(NUMBERS)), "max") for key, value in one["values"].items()])
    table(group, "hosts", [("rank", "<i8"), ("local_rank", "<i8"), ("host", TEXT), ("cpus", TEXT), ("device", TEXT)], one["hosts"])
    for name in ("samples", "warmup"):
        group.create_group(name)
    tables = group.create_group("tables", track_order=True)
    if one["checks"]:
        table(tables, "verification", [("check", TEXT), ("result", TEXT), ("detail", TEXT)],
              [(f"check {i}", result, "") for i, result in enumerate(one["checks"])])
