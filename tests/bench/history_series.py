"""Does `ranklab report --history` find and name a real change? Three series of --runs short runs, in each of which something changes midway:

  variable   DNNL_MAX_CPU_ISA, by which oneDNN computes with SSE 4.1: a step, and the variable is named first
  load       the threads of another process, 0 to all cores: no step, and the runs beside it are named
  revision   ranklab's git revision (in a copy of the programs) with writes that take --write-us longer: a step, and the revision is named first

Exit code 4 unless all three are found. Runs of half a second each, on an idle machine."""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
sys.path.insert(0, str(SUPPORT))
import ranklab_cli as cli  # noqa: E402

TRAIN = ("train", "--model", "mnist-cnn", "--data", "synthetic", "--ops", "libtorch", "--batch-size", 64, "--steps", 30, "--threads", 1, "--evaluate", "off")
IO = ("io", "--strategy", "mpi-scatter", "--files", 8, "--size", 256, "--repetitions", 20, "--ceilings", "off", "--directory", "output")
NEW_REVISION = "0123456789ab"


def programs_of_another_revision(folder):
    revision = json.loads(cli.run(cli.RANKLAB, "io", "--files", 1, "--size", 4, "--json", "--quiet", "--output", "none", cwd=folder).stdout)["runs"][0]["context"]["build"]["git_revision"]
    (folder / "bin").mkdir()
    for path in cli.BIN.iterdir():
        if path.is_file() and path.name in ("ranklab", "ranklab-io"):
            made = folder / "bin" / path.name
            made.write_bytes(path.read_bytes().replace(revision[:12].encode(), NEW_REVISION.encode()))
            made.chmod(0o755)
    (folder / "lib").symlink_to(cli.BIN.parent / "lib") if (cli.BIN.parent / "lib").exists() else None
    return folder / "bin" / "ranklab"


@contextlib.contextmanager
def busy(threads):
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(threads)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--write-us", type=int, default=500)
    given = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        folder = pathlib.Path(scratch)
        library = folder / "culprit.so"
        subprocess.run(["mpicc", "-shared", "-fPIC", "-O1", "-o", library, SUPPORT / "culprit.c"], check=True)
        slow = {"LD_PRELOAD": library, "RANKLAB_SLOW_WRITES": f"0 {given.write_us}", "OMPI_COMM_WORLD_RANK": None}
        new = programs_of_another_revision(folder)
        series = {  # words, then the program, the variables and the other threads of the second half, and what is to be named
            "variable": (TRAIN, cli.RANKLAB, {"DNNL_MAX_CPU_ISA": "SSE41"}, 0, "DNNL_MAX_CPU_ISA"),
            "load": (TRAIN, cli.RANKLAB, {}, os.cpu_count(), f"{given.runs // 2} runs beside other load left out"),
            "revision": (IO, new, slow, 0, "git_revision"),
        }
        for name, (words, program, changes, threads, wanted) in series.items():
            file = folder / f"{name}.h5"
            for run in range(given.runs):
                late = 2 * run >= given.runs
                env = cli.environment(RANKLAB_SYSTEM_ROOT="/", **(changes if late else {}))
                with busy(threads if late else 0):
                    done = cli.run(program if late else cli.RANKLAB, *words, "--quiet", "--output", file, cwd=folder, env=env)
                if done.code != 0:
                    sys.exit(str(done))
            shown = cli.run(cli.RANKLAB, "report", file, "--history", "--format", "json", cwd=folder)
            rows = json.loads(shown.stdout)["segments"]
            print(name, json.dumps([{key: row[key] for key in ("measurement", "since", "runs", "median", "ratio", "verdict", "changed", "notes")} for row in rows]), flush=True)
            if name == "load":
                found = all(row["verdict"] is None for row in rows) and any(wanted in note for row in rows for note in row["notes"])
            else:
                found = any((row["changed"] or "").split(":")[0].endswith(wanted) and abs(row["runs"] - given.runs / 2) <= 1 for row in rows)
            if not found:
                missed.append(name)
            shutil.copy(file, pathlib.Path.cwd()) if os.environ.get("KEEP") else None
    if missed:
        print("missed: " + ", ".join(missed))
        sys.exit(4)


if __name__ == "__main__":
    main()
