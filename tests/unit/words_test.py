"""Lines of the sources and documents have at most 100 columns. Whether a sentence is plain takes a reader."""

import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
# Rows of a Markdown table and long addresses cannot be broken.
TOO_LONG = re.compile(r"^(?!\s*\||.*https?://\S{60}).{101,}", re.MULTILINE)


def is_table(file):
    """Tables of names and sentences have a row a line."""
    return file.suffix == ".txt" and file.parent.name in ("templates", "names")


def main():
    code = [file for top in ("lib", "apps") for file in (SOURCE / top).rglob("*")
            if file.is_file() and file.suffix != ".lock" and not is_table(file)]
    pages = [page for page in [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md")] if page.parent.name != "adr"]
    assert len(code) > 300 and len(pages) > 20, f"not the sources: {SOURCE}"
    wrong = [f"{file.relative_to(SOURCE)}:{number}: {line}" for file in sorted(code + pages)
             for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1) if TOO_LONG.match(line)]
    print("\n".join(wrong) or f"{len(code) + len(pages)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
