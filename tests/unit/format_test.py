"""The C++ sources are formatted as .clang-format says (mend: clang-format -i FILE), and prose in Markdown has lines of
at most 100 columns outside code blocks and tables."""

import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
COLUMNS = 100


def documents():
    """Decisions (docs/adr) stay as they were written."""
    pages = [page for page in (SOURCE / "docs").rglob("*.md") if page.parent.name != "adr"]
    return sorted([*SOURCE.glob("*.md"), *pages])


def prose_of(page):
    """The lines of a page with their numbers, but for code (fenced, or indented after an empty line) and tables."""
    fenced = indented = False
    before = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        indented = line.startswith("    ") and (indented or not before.strip())
        before = line
        if not (fenced or indented or line.lstrip().startswith("|")):
            yield number, line


def check_prose():
    pages = documents()
    if len(pages) < 10:
        print(f"only {len(pages)} documents found below {SOURCE}: this test looks at the wrong place")
        return 1
    long = [f"{page.relative_to(SOURCE)}:{number}: {len(line)} columns"
            for page in pages for number, line in prose_of(page) if len(line) > COLUMNS]
    print("\n".join([f"longer than {COLUMNS} columns; break them:", *long]) if long else f"{len(pages)} documents are narrow")
    return 1 if long else 0


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
    return check_prose() or check_sources()


if __name__ == "__main__":
    sys.exit(main())
