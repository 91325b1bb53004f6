"""C++ sources are formatted by .clang-format (fix: clang-format -i FILE)."""

import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))


def check_sources():
    program = shutil.which("clang-format")
    if program is None:
        print("skipped: there is no clang-format")
        return 77
    files = sorted(file for top in ("lib", "apps", "tests") for file in (SOURCE / top).rglob("*.[ch]pp"))
    if len(files) < 100:
        print(f"only {len(files)} files found below {SOURCE}: this test looks at the wrong place")
        return 1
    done = subprocess.run([program, "--dry-run", "-Werror", *map(str, files)], capture_output=True, text=True, check=False)
    wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if ": error:" in line})
    if done.returncode == 0 and not wrong:
        print(f"{len(files)} files are formatted")
        return 0
    print(done.stderr[-2000:] if not wrong else "not formatted; mend with: clang-format -i " + " ".join(wrong))
    return 1


def main():
    return check_sources()


if __name__ == "__main__":
    sys.exit(main())
