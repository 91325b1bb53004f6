"""The job scripts are what jobscripts/make/generate.py makes, name configurations that exist, and pass shellcheck."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
FOLDER = SOURCE / "jobscripts"


def check_generated():
    done = subprocess.run([sys.executable, "-B", FOLDER / "make" / "generate.py", "--check"], capture_output=True, text=True, check=False)
    print(done.stdout + done.stderr, end="")
    return done.returncode


def check_configurations(scripts):
    """Of a name with variables all that it may become."""
    wrong = 0
    for script in scripts:
        for name in re.findall(r"configs/[\w/]+(?:\$\{?\w+[^}]*\}?[\w]*)*\.ini", script.read_text()):
            pattern = re.sub(r"\$\{[^}]*\}|\$\w+", "*", name)
            if not list(SOURCE.glob(pattern)):
                print(f"{script.name} names {name}, which is not there")
                wrong = 1
    return wrong


def check_shell(scripts):
    if shutil.which("shellcheck") is None:
        print("shellcheck is not here: the scripts were not read by it")
        return 0
    done = subprocess.run(["shellcheck", "--severity=style", *scripts], capture_output=True, text=True, check=False)
    print(done.stdout, end="")
    return done.returncode


def main():
    scripts = sorted(path for path in FOLDER.iterdir() if path.suffix in (".slurm", ".sh", ".lsf"))
    if len(scripts) < 20:
        print(f"only {len(scripts)} job scripts found in {FOLDER}")
        return 1
    failed = check_generated() | check_configurations(scripts) | check_shell(scripts)
    if not failed:
        print(f"{len(scripts)} job scripts are well")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
