"""`ranklab report --format html` of a small real campaign: the answer stands on top, every number is in the file, and
headless Chromium opens the page, light, dark and printed, without an error, a request, or anything wider than its window."""

import html.parser
import json
import lzma
import re
import shutil

import ranklab_cli as cli
from browser import CHROMIUM, Browser

(h5py,) = cli.modules("h5py")
FIXTURE = cli.SOURCE / "tests" / "fixtures" / "campaign-0.1.0" / "campaign.h5.xz"
# What in the page is wider than it, but for what scrolls by itself or is cut off inside such a thing.
TOO_WIDE = """(() => [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') && !e.closest('svg') &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.tagName + '.' + e.className).slice(0, 5).join(' '))()"""


class Page(html.parser.HTMLParser):
    """Every element's attributes, every link's aim and every id; texts by element are not needed."""

    def __init__(self, text):
        super().__init__()
        self.numbers, self.links, self.ids, self.tags, self.attributes = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        self.attributes.extend(attrs.items())
        if "data-value" in attrs:
            self.numbers.append(attrs)
        if tag == "a":
            self.links.append(attrs["href"])
        if "id" in attrs:
            self.ids.append(attrs["id"])


class Html(cli.Case):
    def make_campaign(self):
        """Weak scaling at 1, 2 and 4 ranks, a ladder, a label that is markup."""
        file = self.folder / "c.h5"
        for ranks in (1, 2, 4):
            result = cli.train("--model", "mnist-cnn", "--width", 8, "--batch-size", 8, "--steps", 12, "--warmup", 2, "--validation-samples", 16,
                               "--label", "<script>alert(1)</script>", "--output", file, ranks=ranks, cwd=self.folder, timeout=180)
            self.assertCode(result, 0)
        result = cli.ranklab("io", "--strategy", "text-loop,binary", "-n", 4, "-s", 20, "-i", 6, "--ceilings", "off", "--output", file, cwd=self.folder)
        self.assertCode(result, 0)
        return file

    def page(self, file, *words, env=None):
        result = cli.run(cli.BIN / "ranklab-report", file, "--format", "html", *words, cwd=self.folder, env=env)
        self.assertCode(result, 0)
        return result

    def look_up(self, runs, number):
        """The number's value in the JSON."""
        run = runs[number["data-run"]]
        if "data-table" in number:
            return run["tables"][number["data-table"]][number["data-column"]][int(number["data-row"])]
        return next(m for m in run["measurements"] if m["name"] == number["data-name"])[number["data-field"]]

    def every_number_is_in_the_file(self, file, page, least_looked_up):
        stored = json.loads(cli.ranklab("report", file, "--format", "json").stdout)
        runs = {run["id"]: run for run in stored["runs"]}
        looked_up = [n for n in page.numbers if "data-run" in n]
        self.assertGreater(len(looked_up), least_looked_up)
        for number in looked_up:
            self.assertEqual(float(number["data-value"]), float(self.look_up(runs, number)), number)
        return runs

    def test_collectives_as_a_page(self):
        file = self.folder / "c.h5"
        for words in (("--op", "allreduce,broadcast,barrier", "-b", 8, "-e", "64K", "-f", 8, "-n", 20), ("--from-model", "mnist-cnn", "-n", 10)):
            self.assertCode(cli.ranklab("comm", *words, "--output", file, ranks=2, cwd=self.folder), 0)
        text = self.page(file).stdout
        page = Page(text)
        self.every_number_is_in_the_file(file, page, 100)
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for anchor in ("collectives", "fig-collectives_time", "fig-collectives_busbw", "def-time_us"):
            self.assertIn(anchor, page.ids)
        self.assertNotIn("time_us:", text.split('id="environment"')[0])

    @cli.needs_train
    def test_a_campaign_as_a_page(self):
        file = self.make_campaign()
        result = self.page(file)
        text, page = result.stdout, Page(result.stdout)
        with self.subTest("every number is in the file"):
            runs = self.every_number_is_in_the_file(file, page, 200)
            for number in page.numbers:
                self.assertTrue({"data-run", "data-derived", "data-reference"} & set(number), number)
                for run in re.findall(r"\b2\d{7}T\d{6}Z-[0-9a-f]{6}\b", number.get("data-derived", "")):
                    self.assertIn(run, runs)
        with self.subTest("derived numbers are what their formula says"):
            times = [n for n in page.numbers if n.get("data-derived", "").startswith("mean over steps of samples/")]
            self.assertGreater(len(times), 10)
            with h5py.File(file) as stored:
                for number in times:
                    name, rank, run = re.fullmatch(r"mean over steps of samples/(\w+)\[:, (\d+)\], run (\S+)", number["data-derived"]).groups()
                    samples = stored["runs"][run]["samples"][name][:, int(rank)]
                    self.assertAlmostEqual(float(number["data-value"]), samples.mean(), delta=1e-12 + 1e-9 * samples.mean())
        with self.subTest("links lead somewhere and definitions are there"):
            self.assertEqual(len(page.ids), len(set(page.ids)))
            self.assertEqual([link for link in page.links if link[:1] != "#" or link[1:] not in page.ids], [])
            self.assertNotIn("Not described in this version", text)
        with self.subTest("nothing from elsewhere, nothing that runs"):
            self.assertFalse({"script", "link", "img", "iframe", "object", "embed", "base"} & set(page.tags))
            self.assertEqual([name for name, _ in page.attributes if name.startswith("on") or name in ("src", "xlink:href")], [])
            self.assertNotRegex(text, r"https?:|@import|url\(")
        with self.subTest("the single-device run is the base of the runs on several ranks"):
            self.assertIn("base: single-device code</li>", text)
            per_core = (re.match(r"(\d x T\(1\) / T\(\d\)) / \(\d cores? / \d\), ", n.get("data-derived", "")) for n in page.numbers)
            self.assertEqual(sorted({found[1] for found in per_core if found}), ["2 x T(1) / T(2)", "4 x T(1) / T(4)"])
        with self.subTest("figures"):
            if shutil.which("gnuplot"):
                for figure in ("weak_speedup", "weak_throughput", "weak_step_time", "weak_efficiency", "phases", "ladder", "steps_1", "losses"):
                    self.assertRegex(text, rf'<figure id="fig-{figure}"[^>]*>\s*<h4>[^<]+</h4>\s*<div class="plot"><svg ')
            self.assertIn("&lt;script&gt;alert(1)", text)
        self.look_in_chromium(text)

    def look_in_chromium(self, text):
        """At the widths of a desk and of a phone, light and dark, and on paper."""
        if CHROMIUM is None:
            self.skipTest("there is no chromium (Debian: chromium); the page was not opened in a browser")
        page = self.folder / "page.html"
        page.write_text(text)
        with Browser(self.folder / "profile") as browser:
            for width in (1280, 400):
                for dark in (False, True):
                    browser.open(page, width, dark=dark)
                    needed, there = (browser.value(f"document.documentElement.{what}") for what in ("scrollWidth", "clientWidth"))
                    self.assertLessEqual(needed, there, f"at {width} pixels the page is wider than its window")
                    self.assertEqual(browser.value(TOO_WIDE), "", f"at {width} pixels")
                    browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
                    self.assertEqual(browser.value(TOO_WIDE), "", f"at {width} pixels with all opened")
                    back, front = (browser.value(f"getComputedStyle(document.body).{what}") for what in ("backgroundColor", "color"))
                    light = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (back, front)]
                    self.assertEqual(light[0] < light[1], dark, (back, front))
            self.assertEqual(browser.complaints, [])
            self.assertEqual([url for url in browser.requests if not url.startswith(("file:", "about:", "data:"))], [])
            browser.open(page, 1280)  # with its details folded again
            self.assertGreater(len(browser.printed()), 20_000)

    def fixture(self):
        file = self.folder / "campaign.h5"
        file.write_bytes(lzma.decompress(FIXTURE.read_bytes()))
        return file

    def test_the_answer_stands_on_top(self):
        text = self.page(self.fixture()).stdout
        page = Page(text)
        order = [text.index(word) for word in ('id="headlines"', 'id="warnings"', '<section id="scaling"', 'id="fig-weak_speedup"',
                                               'id="fig-weak_efficiency"', "<th>series</th><th>ranks</th><th>speedup</th><th>efficiency", '<section id="summary"')]
        self.assertEqual(order, sorted(order))
        headline = re.search(r'<article class="headline"><h2>mnist-cnn on fashion-mnist.*?</article>', text, re.DOTALL).group()
        self.assertRegex(headline, r'data-value="[\d.]+"')
        self.assertRegex(headline, r"samples/s")
        self.assertRegex(headline, r"\d ranks? on vm: AMD EPYC")
        with self.subTest("every link leads somewhere, and every run to its raw rows"):
            self.assertEqual([link for link in page.links if link[1:] not in page.ids], [])
            details = text[text.index('<section id="runs">'):text.index('<section id="environment">')]
            self.assertGreater(len(set(link for link in page.links if link.startswith("#run-"))), 40)
            for link in set(link for link in page.links if link.startswith("#run-")):
                self.assertIn(f'id="{link[1:]}"', details)
        with self.subTest("tables scroll by themselves"):
            for table in re.finditer(r"<table", text):
                before = text[:table.start()]
                self.assertGreater(before.rfind('<div class="scroll">'), before.rfind("</div>"), text[table.start() - 200:table.start() + 200])
        if shutil.which("gnuplot"):
            with self.subTest("the pointer shows the numbers"):
                plot = text[text.index('id="fig-weak_speedup"'):]
                self.assertRegex(plot[:plot.index("</svg>")], r"<title>[^<]*ranks: 2; speedup: [\d.]+")
        with self.subTest("memory in MiB"):
            self.assertRegex(text, r'peak_rss_bytes</a><br><span class="unit">\[MiB\]')
        self.look_in_chromium(text)

    def test_names_are_labels_where_these_differ(self):
        text = self.page(self.fixture(), "--where", "label=ddp3,dp,resnet").stdout
        summary = text[text.index('<section id="summary"'):text.index('<section id="phases"')]
        self.assertEqual(re.findall(r'<th scope="row"><a href="[^"]*">([^<]*)</a>', summary), ["ddp3", "dp", "resnet"])

    def test_empty_and_extreme_files(self):
        """No run, one, only an invalid one, only io, labels that are long or markup."""
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

    def test_without_gnuplot_the_numbers_are_there(self):
        self.assertCode(cli.ranklab("io", "--strategy", "binary", "-n", 4, "-s", 20, "-i", 6, "--ceilings", "off", "--output", "r.h5", cwd=self.folder), 0)
        empty = self.folder / "empty"
        empty.mkdir()
        result = self.page(self.folder / "r.h5", env=cli.environment(PATH=empty))
        self.assertIn("Not drawn: gnuplot is not here", result.stdout)
        self.assertEqual(len([line for line in result.said if "gnuplot is not here" in line]), 1, str(result))
        self.assertGreater(len(Page(result.stdout).numbers), 20)

    def test_a_malformed_reference_file_is_one_sentence_and_the_page_goes_on(self):
        self.assertCode(cli.ranklab("io", "--strategy", "binary", "-n", 4, "-s", 20, "--ceilings", "off", "--output", "r.h5", cwd=self.folder), 0)
        (self.folder / "ref").mkdir()
        (self.folder / "ref" / "bad.csv").write_text("# ranklab reference, schema 1\nwhat is this\n")
        result = self.page(self.folder / "r.h5", env=cli.environment(RANKLAB_REFERENCE=self.folder / "ref"))
        self.assertEqual(len([line for line in result.said if "are left out, since its header is not that of schema 1" in line]), 1, str(result))
        self.assertIn("</html>", result.stdout)


if __name__ == "__main__":
    cli.main()
