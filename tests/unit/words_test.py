"""Prose that needs a second reading. In lib, apps and tests: a comment that opens with Who, What, Of, That or "The same". In lib, apps
and documents: "X is no Y"; lines of more than 100 columns, but for tables of Markdown."""

import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
IN_CODE = [re.compile(r'^(?:(?!\s*(?://|#)).*\n|)\s*(?:///?<?|#|""")\s*(?:Who|What|Of|That)\b', re.MULTILINE),
           re.compile(r"/{3} The same\b")]
IN_ALL = [re.compile(r'(?<!\b[Tt]here )\bis(?:\s|"\s*\n\s*")+no\b(?! longer| more)'),
          re.compile(r"^(?!\s*\||.*https?://\S{60}).{101,}", re.MULTILINE)]


def findings(file, patterns):
    text = file.read_text(encoding="utf-8")
    for pattern in patterns:
        for found in pattern.finditer(text):
            line = text.count("\n", 0, found.end()) + 1
            yield f"{file.relative_to(SOURCE)}:{line}: {found.group().strip().splitlines()[-1]}"


def main():
    code = [file for top in ("lib", "apps") for file in (SOURCE / top).rglob("*")
            if file.is_file() and file.suffix not in (".lock", ".zsh")]
    pages = [page for page in [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md")] if page.parent.name != "adr"]
    assert len(code) > 300 and len(pages) > 20, f"this test looks at the wrong place: {SOURCE}"
    tests = [file for file in (SOURCE / "tests").rglob("*") if file.suffix in (".cpp", ".hpp", ".c", ".py")]
    groups = (code, IN_ALL + IN_CODE), (pages, IN_ALL), (tests, IN_CODE)
    wrong = [line for files, patterns in groups for file in sorted(files) for line in findings(file, patterns)]
    print("\n".join(wrong) or f"{len(code) + len(pages) + len(tests)} files are plain")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
