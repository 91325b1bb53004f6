"""`ranklab report --format html` of a campaign of version 0.1.0 and of unusual files: the answer comes first, and headless Chromium opens
the page, light, dark and printed, without an error, a request, or content wider than its window. Numbers: apps/html_test.py."""

import lzma
import re

import ranklab_cli as cli
from pages import Page, PageCase

FIXTURE = cli.SOURCE / "tests" / "fixtures" / "campaign-0.1.0" / "campaign.h5.xz"


class Html(PageCase):
    def page(self, file, *words, env=None):
        result = cli.run(cli.BIN / "ranklab-report", file, "--format", "html", *words, cwd=self.folder, env=env)
        self.assertCode(result, 0)
        return result

    def fixture(self):
        file = self.folder / "campaign.h5"
        file.write_bytes(lzma.decompress(FIXTURE.read_bytes()))
        return file

    def test_the_answer_stands_on_top(self):
        text = self.page(self.fixture()).stdout
        page = Page(text)
        order = [text.index(word) for word in ('id="answers"', 'id="warnings"', '<section id="weak-scaling"', 'id="fig-weak_efficiency"',
                                               '<section id="summary"')]
        self.assertEqual(order, sorted(order))
        self.assertRegex(text, r'(?s)<article class="card"><h2><a href="#weak-scaling">.*?times as fast as.*?</article>')
        lines = re.search(r'(?s)id="warnings".*?</ul>', text).group().count("<li")
        self.assertLessEqual(lines, 3)
        with self.subTest("every link leads somewhere, and every run to its raw rows"):
            self.assertEqual([link for link in page.links if link[1:] not in page.ids], [])
        with self.subTest("tables scroll by themselves"):
            for table in re.finditer(r"<table", text):
                before = text[:table.start()]
                self.assertGreater(before.rfind('<div class="scroll">'), before.rfind("</div>"), text[table.start() - 200:table.start() + 200])
        self.look_in_chromium(text)

    def test_empty_and_extreme_files(self):
        """No run, one run, an invalid run, io runs; long labels and labels that are markup."""
        file = self.fixture()
        for words in (("--where", "label=nothing"), ("--label", "cut"), ("--label", "cold"), ("--where", "command=io")):
            with self.subTest(words):
                result = cli.run(cli.BIN / "ranklab-report", file, "--format", "html", *words, cwd=self.folder)
                self.assertIn("</html>", result.stdout, str(result))
                self.look_in_chromium(result.stdout)
        long = "a-very-long-label-without-any-blank-" * 12
        for i, label in enumerate((long, "</h2><script>alert(1)</script>\u202e", "söme ☃ label")):
            self.assertCode(cli.ranklab("io", "--strategy", "binary", "-n", 4, "-s", 10 + i, "-i", 2, "--ceilings", "off", "--label", label,
                                        "--output", "labels.h5", cwd=self.folder), 0)
        text = self.page(self.folder / "labels.h5").stdout
        self.assertNotIn("<script", text)
        self.assertNotIn("\u202e", text)
        self.assertIn("söme ☃ label", text)
        self.look_in_chromium(text)

    def test_a_malformed_reference_file_is_one_sentence_and_the_page_goes_on(self):
        self.assertCode(cli.ranklab("io", "--strategy", "binary", "-n", 4, "-s", 20, "--ceilings", "off", "--output", "r.h5", cwd=self.folder), 0)
        (self.folder / "ref").mkdir()
        (self.folder / "ref" / "bad.csv").write_text("# ranklab reference, schema 1\nwhat is this\n")
        result = self.page(self.folder / "r.h5", env=cli.environment(RANKLAB_REFERENCE=self.folder / "ref"))
        self.assertEqual(len([line for line in result.said if "bad.csv" in line]), 1, str(result))
        self.assertIn("</html>", result.stdout)


if __name__ == "__main__":
    cli.main()
