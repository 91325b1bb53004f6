#!/usr/bin/env python3
"""Makes the job scripts, and the table of README.md, of template.sh and experiments.py.

    jobscripts/make/generate.py            writes them
    jobscripts/make/generate.py --check    exit code 1, and which, where one is not as it would be written
"""

import pathlib
import re
import sys

from experiments import EXPERIMENTS

MAKE = pathlib.Path(__file__).resolve().parent
FOLDER = MAKE.parent
# What the jobs of a campaign do when somebody stops them, these do, too.
STOP = FOLDER / "make" / "stop.sh"
BEGIN, END = "<!-- begin: made by make/generate.py -->", "<!-- end -->"


def file_name(experiment, launcher):
    if launcher == "lsf":
        return experiment.name.replace("_summit", "") + ".lsf"
    return experiment.name + {"slurm": ".slurm", "mpirun": "_mpirun.sh"}[launcher]


def comment(text):
    return "".join(f"# {line}\n" for line in text.splitlines())


def usage_of(experiment, launcher):
    if launcher == "mpirun":
        name = file_name(experiment, launcher)
        ranks = f" {2 * experiment.ranks}" if experiment.ranked else ""
        lines = [f"  jobscripts/{name}{ranks}", f"  THREADS=1 jobscripts/{name}{ranks}    one thread a rank; without it the cores are shared out"]
        first = "The first word is the number of ranks; words after it go to ranklab.\n" if experiment.ranked else "Words at the end go to ranklab.\n"
        return "On this host, by mpirun (RANKLAB_MPIRUN names another one, of the MPI that ranklab was built with):\n" + "\n".join(lines) + "\n" + first
    lines = []
    for line in experiment.usage.splitlines():
        is_command = "jobscripts/" in line
        starts = line.startswith(("sbatch", "bsub")) or "=" in line.split(" ")[0] and "sbatch" in line or "bsub" in line
        lines.append(f"  {line}" if is_command and starts else f"  sbatch {line}" if is_command else line)
    return "From the top folder of the checkout, or anywhere with RANKLAB_ROOT (the checkout or the archive):\n" + "\n".join(lines) + "\n"


def edit_of(experiment, launcher):
    if launcher == "mpirun":
        return "Edit: the modules.\n"
    gpus = {"gpu-if-any": " For GPUs: --gpus-per-task=1 and, behind the script's name, --device cuda.", "gpu": ""}.get(experiment.gpus, "")
    return f"Edit: partition and account of your site, the modules, and the numbers of the job.{gpus}\n"


def marks_of(experiment, launcher):
    """What lines of the template are for this script."""
    return {launcher, experiment.gpus, "ranked" if experiment.ranked else "single"} | ({"gpus"} if experiment.gpus else set()) | \
        ({"keeps"} if experiment.keeps else set()) | ({"queued"} if launcher != "mpirun" else set()) | \
        ({"configs"} if "config_of" in experiment.body else set()) | ({"mem"} if experiment.mem else set())


def script(experiment, launcher):
    marks = marks_of(experiment, launcher)
    lines = []
    for line in (MAKE / "template.sh").read_text().splitlines():
        if line.startswith("%"):
            wanted, _, line = line[1:].partition(" ")
            if not set(wanted.split("+")) <= marks:
                continue
        lines.append(line)
    values = {"title": experiment.title + ".", "usage": comment(usage_of(experiment, launcher)).rstrip("\n"),
              "edit": comment(experiment.variables + "\n" * bool(experiment.variables) + edit_of(experiment, launcher)).rstrip("\n"),
              "job": experiment.name.replace("_", "-"), "nodes": experiment.nodes, "ranks": experiment.ranks, "threads": experiment.threads,
              "system": {"lsf": "LSF"}.get(launcher, "Slurm"), "submit": {"lsf": "bsub"}.get(launcher, "sbatch"), "time": experiment.time, "mem": experiment.mem, "stop": STOP.read_text(), "body": experiment.body.rstrip("\n")}
    return re.sub(r"@(\w+)@", lambda word: str(values[word[1]]), "\n".join(lines)) + "\n"


def table():
    rows = ["| document | under Slurm (or LSF) | on one host | does |", "|---|---|---|---|"]
    for experiment in EXPERIMENTS:
        queued = [f"`{file_name(experiment, launcher)}`" for launcher in experiment.launchers if launcher != "mpirun"]
        local = f"`{file_name(experiment, 'mpirun')}`" if "mpirun" in experiment.launchers else ""
        rows.append(f"| {experiment.document} | {', '.join(queued)} | {local} | {experiment.does} |")
    return "\n".join(rows)


def readme():
    text = (FOLDER / "README.md").read_text()
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.split(END)[1]}"


def files():
    made = {FOLDER / file_name(experiment, launcher): script(experiment, launcher) for experiment in EXPERIMENTS for launcher in experiment.launchers}
    made[FOLDER / "README.md"] = readme()
    return made


def main():
    made = files()
    others = [path for path in FOLDER.iterdir() if path.suffix in (".slurm", ".sh", ".lsf") and path not in made]
    wrong = others + [path for path, text in made.items() if not path.exists() or path.read_text() != text]
    if sys.argv[1:] == ["--check"]:
        for path in wrong:
            print(f"{path.name} is not what make/generate.py makes; change make/template.sh or make/experiments.py, and call it")
        return 1 if wrong else 0
    for path, text in made.items():
        path.write_text(text)
        if path.suffix != ".md":
            path.chmod(0o755)
    for path in others:
        print(f"{path.name} is of no experiment")
    return 0


if __name__ == "__main__":
    sys.exit(main())
