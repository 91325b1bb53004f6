"""Reads a page of `ranklab report --format html`, compares its numbers with the file's, and opens it in Chromium."""

import html.parser
import json
import re

import ranklab_cli as cli
from browser import CHROMIUM, Browser

# Elements wider than the page, except scrolling elements and their contents.
TOO_WIDE = """(() => [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') && !e.closest('svg') &&
    e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.tagName + '.' + e.className).slice(0, 5).join(' '))()"""

# Captions of tables that are wider than their place, except those of many columns.
SCROLLING = """[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1 &&
    e.querySelectorAll('thead th').length < 14).map(e => e.textContent.slice(0, 60)).join(' | ')"""


class Page(html.parser.HTMLParser):
    """The values of all numbers, targets of links, ids, tags and attributes."""

    def __init__(self, text):
        super().__init__()
        self.numbers, self.links, self.ids, self.tags, self.attributes = [], [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        attrs = dict(attrs)
        if tag == "data": self.numbers.append(float(attrs["value"]))
        if tag == "a": self.links.append(attrs["href"])
        if "id" in attrs: self.ids.append(attrs["id"])


class PageCase(cli.Case):
    def assertShowsMedians(self, file, page, names):
        """Checks that the page shows the median of every group in `report --format json`."""
        shown = {f"{number:.9g}" for number in page.numbers}
        for name in names:
            answer = cli.ranklab("report", file, "--group-by", "command,ranks,strategy", "--measure", name, "--format", "json")
            medians = [one["median"] for group in json.loads(answer.stdout)["groups"] for one in group["measurements"] if one["median"] is not None]
            self.assertTrue(medians, name)
            self.assertEqual([median for median in medians if f"{median:.9g}" not in shown], [], name)

    def look_in_chromium(self, text, widths=(1280, 400), darkness=(False, True)):
        """Opens the page at desktop and phone width, light and dark, and printed."""
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
                if width >= 1280: self.assertEqual(browser.value(SCROLLING), "", f"tables that do not fit {width} pixels")
                back, front = (browser.value(f"getComputedStyle(document.body).{what}") for what in ("backgroundColor", "color"))
                light = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (back, front)]
                self.assertEqual(light[0] < light[1], dark, (back, front))
            self.assertEqual(browser.complaints, [])
            self.assertEqual([url for url in browser.requests if not url.startswith(("file:", "about:", "data:"))], [])
            if len(widths) > 1:
                browser.open(page, 1280)  # with its details closed again
                self.assertGreater(len(browser.printed()), 20_000)
