"""A page of `ranklab report --format html`, taken apart; whether its numbers are those of the file; and what Chromium says of it."""

import html.parser
import json
import re

import ranklab_cli as cli
from browser import CHROMIUM, Browser

# What is wider than the page, but for what scrolls by itself or is cut off inside such a thing.
TOO_WIDE = """(() => [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') && !e.closest('svg') &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.tagName + '.' + e.className).slice(0, 5).join(' '))()"""


class Page(html.parser.HTMLParser):
    """The attributes of every element that has a number, the aims of links, ids, tags and all attributes."""

    def __init__(self, text):
        super().__init__()
        self.numbers, self.links, self.ids, self.tags, self.attributes = [], [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        attrs = dict(attrs)
        if "data-value" in attrs: self.numbers.append(attrs)
        if tag == "a": self.links.append(attrs["href"])
        if "id" in attrs: self.ids.append(attrs["id"])


class PageCase(cli.Case):
    def assertNumbersAreOf(self, file, page, least):
        runs = {run["id"]: run for run in json.loads(cli.ranklab("report", file, "--format", "json").stdout)["runs"]}
        looked_up = [number for number in page.numbers if "data-run" in number]
        self.assertGreater(len(looked_up), least)
        for number in looked_up:
            run = runs[number["data-run"]]
            if "data-table" in number: value = run["tables"][number["data-table"]][number["data-column"]][int(number["data-row"])]
            else: value = next(one for one in run["measurements"] if one["name"] == number["data-name"])[number["data-field"]]
            self.assertEqual(float(number["data-value"]), float(value), number)

    def look_in_chromium(self, text, widths=(1280, 400), darkness=(False, True)):
        """At the widths of a desk and of a phone, light and dark, and on paper."""
        if CHROMIUM is None: self.skipTest("there is no chromium (Debian: chromium); the page was not opened in a browser")
        page = self.folder / "page.html"
        page.write_text(text)
        with Browser(self.folder / "profile") as browser:
            for width, dark in ((width, dark) for width in widths for dark in darkness):
                browser.open(page, width, dark=dark)
                needed, there = (browser.value(f"document.documentElement.{what}") for what in ("scrollWidth", "clientWidth"))
                self.assertLessEqual(needed, there, f"at {width} pixels the page is wider than its window")
                browser.value("document.querySelectorAll('details').forEach(one => one.open = true)")
                self.assertEqual(browser.value(TOO_WIDE), "", f"at {width} pixels with all opened")
                back, front = (browser.value(f"getComputedStyle(document.body).{what}") for what in ("backgroundColor", "color"))
                light = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (back, front)]
                self.assertEqual(light[0] < light[1], dark, (back, front))
            self.assertEqual(browser.complaints, [])
            self.assertEqual([url for url in browser.requests if not url.startswith(("file:", "about:", "data:"))], [])
            if len(widths) > 1:
                browser.open(page, 1280)  # with its details folded again
                self.assertGreater(len(browser.printed()), 20_000)
