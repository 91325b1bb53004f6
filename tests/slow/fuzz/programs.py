"""Starts the programs with random command lines and configuration files.

    RANKLAB_BIN=build/asan/bin python3 tests/slow/fuzz/programs.py --count 2000 --seed 1 --jobs 2 --keep /tmp/found

Each program must end with a documented exit code, and if it failed with one message. Failures are kept with their
command, folder and output; the exit code is then 1.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ranklab_cli as cli  # noqa: E402

CODES = {0, 2, 3, 4, 5, 6, 7}
WALL_S = 120  # on a busy machine; CPU time has its own limit
MEMORY = 2 << 30

NUMBERS = ["0", "-0", "-1", "1", "2", "3", "1e300", "-1e300", "1e-300", "1e999", "nan", "inf", "-inf", "0x10", "1e10", "1e18",
           "1e19", "1.5", ".", "-", "1e", "1,5", "007", "0.5", "1e-5", "2147483647", "2147483648", "4294967296",
           "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "9" * 400, "5%",
           "101%", "-5%", "1K", "8E", "99999999T", "16", "5000", "100000"]
TEXTS = ["", " ", "a,b", ",", ",,", "=", "all", "none", "auto", "true", "false", "#", "\x1b[2J", "\n", "\t", "GCOL\x01", "süß", "%s%n",
         "../x", ".", "/", "/dev/null", "/dev/full", "/nonexistent/x", "in.h5", "in.ini", "a" * 5000, "\udcff\udcfe", "--", "-x", "'\"`$(x)", "=1+1"]
# Appended to each case to keep its work small: the last value of an option wins.
CAPS = {
    "io": ["--files", "2", "--size", "6", "--repetitions", "1", "--reads", "1", "--workers", "1", "--directory", "out"],
    "train": ["--steps", "2", "--batch-size", "2", "--model", "template-softmax", "--data", "synthetic", "--warmup", "0", "--width", "1"],
    "data make cosmology": ["--size", "8"], "data make cifar100": ["--train", "4", "--test", "2"],
    "data make mnist": ["--train", "4", "--test", "2"]}
PROGRAMS = ["io", "data make cosmology", "data make cifar100", "data make mnist", "data verify", "data convert", "doctor",
            "report", "compare", "results list", "results check", "results merge", "results export"]


def options_of(program):
    """Returns [(name, choices or None)] from --help."""
    text = cli.ranklab(*program.split(), "--help", "all").stdout
    found = []
    for line in text.splitlines():
        match = re.match(r"\s+(?:-\w \[ )?--([\w-]+)(?: \])?(?: (\S+))?", line)
        if match and match[1] not in ("help", "version", "list"):
            found.append((match[1], match[2]))
    return found or [("help", None)]


def value(chance, placeholder):
    kind = chance.random()
    if placeholder and "|" in placeholder and kind < 0.5:
        return chance.choice(placeholder.split("|"))
    if kind < 0.7:
        return chance.choice(NUMBERS)
    if kind < 0.8:
        return ",".join(chance.choice(NUMBERS) for _ in range(chance.randrange(1, 5)))
    return chance.choice(TEXTS)


def words(chance, options):
    line = []
    for _ in range(chance.choice([0, 1, 1, 1, 2, 2, 3, 5])):
        name, placeholder = chance.choice(options)
        if placeholder is None or chance.random() < 0.05:
            line.append(f"--{name}")
        elif chance.random() < 0.5:
            line.append(f"--{name}={value(chance, placeholder)}")
        else:
            line += [f"--{name}", value(chance, placeholder)]
    return line


def config(chance, options):
    lines = []
    for _ in range(chance.randrange(6)):
        name, placeholder = chance.choice(options)
        text = "true" if placeholder is None else value(chance, placeholder)
        lines.append(f"{name} = {text}" if chance.random() < 0.95 else chance.choice(TEXTS))
    return "\n".join(lines)


def case(number, seed, options, folder):
    """Returns (command line, whether it is a dry run)."""
    chance = random.Random(f"{seed} {number}")
    program = chance.choice(sorted(options))
    line = program.split()
    if program.split()[0] in ("report", "compare", "results", "data"):
        line += [chance.choice(["in.h5", "in.h5", "x.npy", ".", "nothing", *TEXTS]) for _ in range(chance.randrange(3))]
    line += words(chance, options[program])
    named = any(name == "config" for name, _ in options[program])
    if named and chance.random() < 0.3:
        (folder / "in.ini").write_text(config(chance, options[program]), errors="surrogateescape")
        line += ["--config", "in.ini"]
    if any(name == "dry-run" for name, _ in options[program]) and chance.random() < 0.6:
        line.append("--dry-run")
    else:
        line += CAPS.get(program, [])
    if program in ("io", "train"):
        line += ["--output", chance.choice(["run.h5", "in.h5", "none"])]
    return [word.replace("\0", "") for word in line]


def limited():
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fault_of(result):
    if result.code not in CODES:
        return f"exit code {result.code}"
    if result.max_rss > MEMORY:
        return f"{result.max_rss >> 20} MiB"
    said = [line for line in result.said if not re.match(r"warning: |\d+/\d+ (steps|files) |seed ", line)]
    if any(not line.isprintable() for line in said):
        return "control characters on stderr"
    if result.code != 0 and len(said) != 1:
        return f"{len(said)} sentences"
    return ""


def attempt(number, seed, options, sample, keep):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-fuzz-"))
    try:
        shutil.copy(sample, folder / "in.h5")
        line = case(number, seed, options, folder)
        job = cli.Job(["env", "-C", str(folder), cli.RANKLAB, *line], env=cli.environment(TMPDIR=str(folder)))
        try:
            result = job.finish(WALL_S)
        except AssertionError as error:
            return number, line, None, f"hang: {error}"
        fault = fault_of(result)
        if fault and keep:
            place = keep / f"programs-{seed}-{number}"
            shutil.copytree(folder, place, dirs_exist_ok=True, ignore_dangling_symlinks=True)
            (place / "found.txt").write_text(f"{fault}\n{result}\n", errors="replace")
        return number, line, result, fault
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_all(arguments):
    options = {program: options_of(program) for program in arguments.programs}
    sample = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-fuzz-")) / "sample.h5"
    made = cli.ranklab("io", "--strategy", "binary", *CAPS["io"], "--output", sample, cwd=sample.parent)
    assert made.code == 0, str(made)
    codes, faults = collections.Counter(), []
    try:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            numbers = range(arguments.first, arguments.first + arguments.count)
            for number, line, result, fault in pool.map(
                    lambda n: attempt(n, arguments.seed, options, sample, arguments.keep), numbers):
                codes[result.code if result else "none"] += 1
                if fault:
                    faults.append(number)
                    said = result.stderr[-600:] if result else ""
                    print(f"--seed {arguments.seed} --first {number} --count 1: {fault}\n  ranklab {line!r}\n  {said!r}", flush=True)
    finally:
        shutil.rmtree(sample.parent, ignore_errors=True)
    print(f"programs: {arguments.count} command lines of seed {arguments.seed}, {len(faults)} failures; ended with {dict(codes)}")
    return faults


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--programs", type=lambda text: text.split(","), default=PROGRAMS + (["train"] if cli.HAS_TRAIN else []))
    return 1 if run_all(parser.parse_args(words)) else 0


if __name__ == "__main__":
    sys.exit(main())
