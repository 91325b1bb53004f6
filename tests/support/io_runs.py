"""Helpers of the tests of `ranklab io`: strategies, runs of a results file as JSON, worker processes."""

import json

import ranklab_cli as cli

RUNGS = cli.rungs()
PARALLEL = [name for name in RUNGS if name.startswith(("mpi", "hdf5-parallel"))]


def shared(rung):
    """True if all records are in one file."""
    return rung.startswith("hdf5")


def runs_of(file):
    report = cli.ranklab("report", file, "--format", "json")
    assert report.code == 0, str(report)
    return json.loads(report.stdout)["runs"]


def column(run, table, name):
    return run["tables"][table][name]


def measured(run, name):
    return next(m for m in run["measurements"] if m["name"] == name)


def workers_of(job):
    """Returns the pids of the job's worker processes."""
    found = []
    for pid in cli.descendants(job.process.pid):
        try:
            with open(f"/proc/{pid}/comm") as file:
                if file.read().startswith("ranklab-io-work"):
                    found.append(pid)
        except OSError:
            continue
    return found
