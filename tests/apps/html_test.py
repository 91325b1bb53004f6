"""`ranklab report --format html` of a small real campaign: every number is in the file, and headless Chromium opens the
page without an error, a request, or anything wider than its window."""

import html.parser
import json
import re
import shutil
import subprocess

import ranklab_cli as cli

cli.need_train()
(h5py,) = cli.modules("h5py")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


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

    def chromium(self, page, *words):
        return subprocess.run([CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                               "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.folder / 'profile'}", "--enable-logging=stderr",
                               *words, f"file://{page}"], capture_output=True, text=True, timeout=120)

    def test_a_campaign_as_a_page(self):
        file = self.make_campaign()
        result = self.page(file)
        text, page = result.stdout, Page(result.stdout)
        with self.subTest("every number is in the file"):
            stored = json.loads(cli.ranklab("report", file, "--format", "json").stdout)
            runs = {run["id"]: run for run in stored["runs"]}
            looked_up = [n for n in page.numbers if "data-run" in n]
            self.assertGreater(len(looked_up), 200)
            for number in looked_up:
                self.assertEqual(float(number["data-value"]), float(self.look_up(runs, number)), number)
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
            efficiency = [n["data-derived"] for n in page.numbers if n.get("data-derived", "").startswith("T(1) / T(")]
            self.assertEqual([e[:11] for e in efficiency], ["T(1) / T(2)", "T(1) / T(4)"])
        with self.subTest("figures"):
            if shutil.which("gnuplot"):
                for figure in ("weak_throughput", "weak_step_time", "weak_efficiency", "phases", "ladder", "steps_1", "losses"):
                    self.assertRegex(text, rf'<figure id="fig-{figure}"[^>]*>\s*<h4>[^<]+</h4>\s*<div class="plot"><svg ')
            self.assertIn("&lt;script&gt;alert(1)", text)
        self.look_in_chromium(file, text)

    def look_in_chromium(self, file, text):
        if CHROMIUM is None:
            self.skipTest("there is no chromium (Debian: chromium); the page was not opened in a browser")
        measured = self.folder / "measured.html"
        measured.write_text(text.replace("</body>", "<script>document.title = document.documentElement.scrollWidth + ' of ' + window.innerWidth</script></body>"))
        for width in (400, 1280):
            net = self.folder / f"net{width}.json"
            seen = self.chromium(measured, f"--window-size={width},900", "--dump-dom", f"--log-net-log={net}")
            self.assertEqual(seen.returncode, 0, seen.stderr[-2000:])
            needed, there = map(int, re.search(r"<title>(\d+) of (\d+)</title>", seen.stdout).groups())
            self.assertLessEqual(needed, there, f"at {width} pixels the page is wider than its window")
            self.assertNotRegex(seen.stderr, r"CONSOLE")
            urls = set(re.findall(r'"url":"(https?:[^"]+)"', net.read_text()))
            # The browser's own errands to its maker, which no page asks for and which find no host here.
            own = r"https?://([a-z0-9-]+\.)*(google|googleapis|gvt1|gstatic)\.com/"
            self.assertEqual([url for url in urls if not re.match(own, url)], [])
        for scheme in (0, 1):  # dark, light
            picture = self.folder / f"page{scheme}.png"
            self.chromium(measured, "--window-size=1280,1600", f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={picture}")
            self.assertGreater(picture.stat().st_size, 20_000)

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
