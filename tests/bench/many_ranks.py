"""What a run of many ranks costs to store and to read: two tables on stdout.

    python tests/bench/many_ranks.py [--ranks 4096] [--steps 1000] [--bin build/release/bin] [--folder DIR] [--json FILE]

One real run of `ranklab train` on two ranks lends its settings and times; build/release/tests/wide_run makes of it a run of so many ranks,
through the code that gathers and appends real ones. The first table: the file, the time to gather (by a communicator that plays the
ranks) and to append, and the writer's memory. The second: `ranklab report` in each format, `results check`, and what they wrote.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

TRAIN = ("train", "--model", "template-softmax", "--data", "synthetic", "--threads", "1", "--memory-format", "contiguous", "--steps", "40")
READERS = (("text", ("report", "FILE")), ("markdown", ("report", "FILE", "--format", "markdown")), ("html", ("report", "FILE", "--format", "html")),
           ("plots", ("report", "FILE", "--plots", "OUT")), ("json", ("report", "FILE", "--format", "json")),
           ("csv", ("report", "FILE", "--format", "csv")), ("trace", ("report", "FILE", "--format", "chrome-trace")),
           ("check", ("results", "check", "FILE")))


def pattern(ranklab, folder):
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    subprocess.run(["mpirun", "-n", "2", ranklab, *TRAIN, "--output", "pattern.h5"], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def measure(words, folder):
    """Seconds, CPU seconds, MiB of memory, lines and bytes written; nothing where the command says that it cannot."""
    plots = folder / "plots"
    words = [str(plots) if word == "OUT" else word for word in words]
    begin = time.monotonic()
    with open(folder / "out", "wb") as out:
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        return None
    seconds = time.monotonic() - begin
    with open(folder / "out", "rb") as text:  # in pieces: what this process holds, the next one's memory would seem to have
        lines = sum(piece.count(b"\n") for piece in iter(lambda: text.read(1 << 20), b""))
    size = (folder / "out").stat().st_size + (sum(file.stat().st_size for file in plots.rglob("*") if file.is_file()) if plots.exists() else 0)
    subprocess.run(["rm", "-rf", plots], check=True)
    return {"time_s": seconds, "cpu_s": usage.ru_utime + usage.ru_stime, "rss_MiB": usage.ru_maxrss / 1024, "lines": lines, "bytes": size}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin")
    parser.add_argument("--folder", help="where the files are made and removed (default: the temporary folder)")
    parser.add_argument("--json", type=pathlib.Path, help="write all numbers there, too")
    arguments = parser.parse_args()
    ranklab, wide_run = arguments.bin.resolve() / "ranklab", arguments.bin.resolve().parent / "tests" / "wide_run"
    if not wide_run.exists():
        sys.exit(f"{wide_run} is not there: build the target wide_run")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = pathlib.Path(name)
        pattern(ranklab, folder)
        print(f"# {arguments.ranks} ranks, {arguments.steps} steps")
        print(f"{'file_MB':>9} {'gather_s':>9} {'append_s':>9} {'rss_MiB':>8}")
        made = subprocess.run([wide_run, "pattern.h5", "wide.h5", str(arguments.ranks), str(arguments.steps)], cwd=folder, check=True,
                              stdout=subprocess.PIPE)
        numbers = json.loads(made.stdout)
        print(f"{numbers['file_bytes'] / 1e6:9.2f} {numbers['made_s']:9.2f} {numbers['append_s']:9.2f} {numbers['peak_MiB']:8.0f}", flush=True)
        print(f"\n{'reader':<9} {'time_s':>8} {'cpu_s':>8} {'rss_MiB':>8} {'lines':>8} {'written_kB':>11}")
        for reader, words in READERS:
            one = numbers[reader] = measure([ranklab, *("wide.h5" if word == "FILE" else word for word in words)], folder)
            print(f"{reader:<9} " + (f"{one['time_s']:8.2f} {one['cpu_s']:8.2f} {one['rss_MiB']:8.0f} {one['lines']:8} {one['bytes'] / 1e3:11.1f}"
                                     if one else "does not apply: it needs each rank's samples"), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"ranks": arguments.ranks, "steps": arguments.steps, **numbers}, indent=1))


if __name__ == "__main__":
    main()
