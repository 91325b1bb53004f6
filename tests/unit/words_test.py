"""Prose that needs a second reading, in lib, apps and documents: a comment that opens with Who, What, Of or That;
"X is no Y"; "/// The same"; lines of more than 100 columns, but for tables of Markdown."""

import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
IN_CODE = [re.compile(r'^(?:(?!\s*(?://|#)).*\n|)\s*(?:///?<?|#|""")\s*(?:Who|What|Of|That)\b', re.MULTILINE),
           re.compile(r"/// The same\b")]
IN_ALL = [re.compile(r'(?<!\b[Tt]here )\bis(?:\s|"\s*\n\s*")+no\b(?! longer| more)'),
          re.compile(r"^(?!\s*\||.*https?://\S{60}).{101,}", re.MULTILINE)]


def findings(file):
    text = file.read_text(encoding="utf-8")
    for pattern in IN_ALL + (IN_CODE if file.suffix != ".md" else []):
        for found in pattern.finditer(text):
            line = text.count("\n", 0, found.end()) + 1
            yield f"{file.relative_to(SOURCE)}:{line}: {found.group().strip().splitlines()[-1]}"


def main():
    code = [file for top in ("lib", "apps") for file in (SOURCE / top).rglob("*")
            if file.is_file() and file.suffix not in (".lock", ".zsh")]
    pages = [page for page in [*SOURCE.glob("*.md"), *(SOURCE / "docs").rglob("*.md")] if page.parent.name != "adr"]
    assert len(code) > 300 and len(pages) > 20, f"this test looks at the wrong place: {SOURCE}"
    wrong = [line for file in sorted(code + pages) for line in findings(file)]
    print("\n".join(wrong) or f"{len(code) + len(pages)} files are plain")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
