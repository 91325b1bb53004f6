"""Compares `ranklab io` with Python programs of equal strategies (io_python.py), as whole processes. A benchmark, not a test.

  io_vs_python.py [--rounds 7] [--files 200] [--size 300] [--strategies all] [--mpi-path DIR] [--json FILE]

Run it with the Python of ./bootstrap (numpy, h5py); README.md says where mpi4py and a parallel h5py come from. Without them their
strategies are skipped with a message. First both sides write small records, whose bytes must be equal. Then three sides alternate,
each writing into a new folder that is emptied outside the timing:
  python      writes
  ranklab     writes (--write-only)
  verified    ranklab by default: it also reads all records and verifies them
The ratio is python / ranklab within a round. Exit code 4 if a median ratio is below its target.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import paired

# Target (python / ranklab; none: not published), ranks, workers.
RUNGS = {
    "text-loop": (6.0, 1, 1),
    "text-vectorized": (5.0, 1, 1),
    "binary": (5.0, 1, 1),
    "process-pool": (None, 1, 2),
    "process-queue": (3.0, 1, 2),
    "mpi-send": (None, 2, 1),
    "mpi-scatter": (2.0, 2, 1),
    "hdf5-serial": (4.0, 1, 1),
    "hdf5-parallel-independent": (None, 2, 1),
    "hdf5-parallel-collective": (None, 2, 1),
}
SIDES = ("python", "ranklab", "verified")


def launcher(rung, options):
    return [*options.launcher, "-n", RUNGS[rung][1]] if rung.startswith(("mpi-", "hdf5-parallel-")) else []


def python_of(rung, options):
    return options.parallel_h5py if rung.startswith("hdf5-parallel-") else sys.executable


def python_environment(rung, options):
    """Returns the path of mpi4py; a parallel h5py has its own mpi4py."""
    env = paired.environment(1)
    if options.mpi_path and rung.startswith("mpi-"):
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(options.mpi_path), env.get("PYTHONPATH")]))
    return env


def command_of(side, rung, files, size, folder, options):
    work = ["--strategy", rung, "--files", files, "--size", size, "--workers", RUNGS[rung][2], "--directory", folder]
    if side == "python":
        command = [python_of(rung, options), paired.HERE / "io_python.py", *work]
    else:
        command = [options.ranklab, "io", *work, "--output", "none", "--quiet", "-k", *(["--write-only"] if side == "ranklab" else [])]
    return [str(word) for word in [*launcher(rung, options), *command]]


def write(side, rung, files, size, folder, options):
    """Returns the seconds of the whole process, which writes into `folder`."""
    command = command_of(side, rung, files, size, folder, options)
    env = python_environment(rung, options) if side == "python" else paired.environment(1)
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"$ {' '.join(command)}\n{done.stderr[-3000:]}\nfailed with exit code {done.returncode}: the benchmark ends here.")
    return seconds


def contents(folder):
    """Returns each file's bytes; for an HDF5 file each dataset's."""
    import h5py
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".h5":
            with h5py.File(path) as file:
                file.visititems(lambda name, item: found.update({name: (item.shape, item[()].tobytes())}) if isinstance(item, h5py.Dataset) else None)
        else:
            found[path.name] = path.read_bytes()
    return found


def check_same_bytes(rung, options):
    """Checks sizes and counts that ranks and workers do not divide."""
    folders = [options.scratch / f"check-{side}" for side in ("python", "ranklab")]
    for side, folder in zip(("python", "ranklab"), folders):
        write(side, rung, 7, 37, folder, options)
    python, ranklab = map(contents, folders)
    for folder in folders:
        shutil.rmtree(folder)
    if len(python) != 7 or python != ranklab:
        differ = sorted(name for name in python.keys() | ranklab.keys() if python.get(name) != ranklab.get(name))
        print(f"{rung}: the two sides wrote different bytes, first in {(differ or ['nothing at all'])[0]}; its times would compare nothing.")
        sys.exit(3)


def works(rung, options):
    """Returns why a strategy cannot be compared here, or nothing."""
    listed = subprocess.run([str(options.ranklab), "io", "--list"], capture_output=True, text=True, env=paired.environment(1), check=False).stdout
    if rung not in listed:
        return "this ranklab has no such rung"
    needs = {"mpi-": "import mpi4py.MPI", "hdf5-parallel-": "import mpi4py.MPI, h5py, sys; sys.exit(not h5py.get_config().mpi)"}
    for start, test in needs.items():
        if rung.startswith(start):
            command = [*map(str, launcher(rung, options)), str(python_of(rung, options)), "-c", test]
            if subprocess.run(command, capture_output=True, env=python_environment(rung, options), check=False).returncode != 0:
                return f"{python_of(rung, options)} has no {'mpi4py (--mpi-path)' if start == 'mpi-' else 'parallel h5py (--parallel-h5py)'}"
    return None


def empty(folder):
    """Truncates files and keeps their names: for 5 s after a removal ext4 checks all freed inodes before it makes a file, which would
    slow the next writer."""
    for path in folder.iterdir():
        os.truncate(path, 0)


def compare(rung, options):
    folders = []

    def measure(side):
        folders.append(options.scratch / f"{side}-{len(folders)}")
        seconds = write(side, rung, options.files, options.size, folders[-1], options)
        empty(folders[-1])
        return seconds

    def after_round(number, found):
        print(f"{rung}, round {number + 1}: " + ", ".join(f"{side} {times[-1]:.3f} s" for side, times in found.items()), file=sys.stderr)

    found = paired.in_turn(SIDES, options.rounds, measure, after_round)
    for folder in folders:
        shutil.rmtree(folder)
    ratios = {side: [a / b for a, b in zip(found["python"], found[side])] for side in SIDES[1:]}
    target = RUNGS[rung][0]
    for side, times in found.items():
        print(f"{rung:26} {side:9} {paired.shown(times, 3)} s")
    for side, values in ratios.items():
        asked = f"   target {target:g}" if target and side == "ranklab" else ""
        print(f"{rung:26} python / {side:9} {paired.shown(values, 2)}{asked}", flush=True)
    return {"seconds": {side: paired.summary(times) for side, times in found.items()},
            "ratio": {side: paired.summary(values) for side, values in ratios.items()}, "target": target}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="below 6 there is no interval")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--strategies", default="all", metavar="NAME,NAME")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()), help="where both write, in a folder of its own")
    parser.add_argument("--ranklab", type=pathlib.Path, default=paired.RANKLAB)
    parser.add_argument("--launcher", default="mpirun --oversubscribe --bind-to none", type=str.split, help="of the MPI rungs, on both sides")
    parser.add_argument("--mpi-path", type=pathlib.Path, metavar="DIR", help="of mpi4py: pip install --no-deps --target DIR mpi4py")
    parser.add_argument("--parallel-h5py", default="/usr/bin/python3", metavar="PYTHON", help="a Python whose h5py is parallel")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the answer here too")
    options = parser.parse_args()
    options.chosen = list(RUNGS) if options.strategies == "all" else options.strategies.split(",")
    unknown = set(options.chosen) - set(RUNGS)
    if unknown:
        parser.error(f"no such rung: {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse()
    answers, skipped = {}, {}
    with tempfile.TemporaryDirectory(prefix="io-vs-python-", dir=options.folder) as scratch:
        options.scratch = pathlib.Path(scratch)
        for rung in options.chosen:
            why = works(rung, options)
            if why:
                skipped[rung] = why
                print(f"{rung:26} SKIPPED: {why}")
                continue
            check_same_bytes(rung, options)
            answers[rung] = compare(rung, options)
    paired.write_json(options.json, {"files": options.files, "size": options.size, "rungs": answers, "skipped": skipped})
    missed = [rung for rung, answer in answers.items() if answer["target"] and answer["ratio"]["ranklab"]["median"] < answer["target"]]
    if missed:
        print("below the target: " + ", ".join(missed))
        sys.exit(4)


if __name__ == "__main__":
    main()
