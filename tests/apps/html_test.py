"""`ranklab report --format html`: the answer comes first, every number is in the results file, the page requests no other address, and
headless Chromium opens it at the width of a phone. More: tests/slow/apps/html_test.py."""

import re
import shutil

import ranklab_cli as cli
import results_files
from pages import Page, PageCase

(h5py,) = cli.modules("h5py")


class Html(PageCase):
    """Pages of io and comm runs, and of synthetic training runs whose label is markup."""

    def make_campaign(self):
        file = self.folder / "c.h5"
        runs = []
        for ranks in (1, 2, 4):
            config = {"model": "mnist-cnn", "mode": "single" if ranks == 1 else "ddp", "batch-size": 8, "global-batch-size": 8 * ranks, "threads": 1}
            runs += results_files.step_times((0.01, 0.0102), ranks, 10, config=config, label="</h2><script>alert(1)</script>\u202e",
                                             hosts=[(rank, rank, "node01", str(rank), "cpu") for rank in range(ranks)])
        results_files.write(file, runs)
        for words, ranks in ((("io", "--strategy", "text-loop,binary", "-n", 4, "-s", 20, "-i", 6, "--ceilings", "off"), 1),
                             (("comm", "--op", "allreduce,barrier", "-b", 8, "-e", "64", "-n", 5, "-w", 1), 2)):
            self.assertCode(cli.ranklab(*words, "--output", file, ranks=ranks, cwd=self.folder), 0)
        return file

    def test_a_campaign_as_a_page(self):
        file = self.make_campaign()
        result = cli.ranklab("report", file, "--format", "html", cwd=self.folder)
        self.assertCode(result, 0)
        text, page = result.stdout, Page(result.stdout)
        with self.subTest("the numbers are the file's"):
            self.assertShowsMedians(file, page, ("step_time_s", "job_time_s"))
        with self.subTest("the answer stands on top"):
            order = [text.index(word) for word in ('id="answers"', '<section id="weak-scaling"', '<section id="summary"')]
            self.assertEqual(order, sorted(order))
        with self.subTest("links lead somewhere"):
            self.assertEqual(len(page.ids), len(set(page.ids)))
            self.assertEqual([link for link in page.links if link[:1] != "#" or link[1:] not in page.ids], [])
        with self.subTest("nothing from elsewhere, nothing that runs"):
            self.assertFalse({"script", "link", "iframe", "object", "embed", "base"} & page.tags)
            self.assertEqual([name for name, _ in page.attributes if name.startswith("on") or name == "xlink:href"], [])
            self.assertEqual([value[:40] for name, value in page.attributes if name == "src" and not value.startswith("data:image/svg+xml,")], [])
            self.assertNotRegex(text, r"https?:|@import|url\(|\u202e")
        if shutil.which("gnuplot"):
            for figure in ("weak_efficiency", "ladder", "collectives_time"):
                self.assertRegex(text, rf'<figure id="fig-{figure}"[^>]*>\s*<div class="plot scroll"><img ')
        with self.subTest("without gnuplot the numbers are there"):
            bare = cli.run(cli.BIN / "ranklab-report", file, "--format", "html", cwd=self.folder, env=cli.environment(PATH="/nonexistent"))
            self.assertEqual((bare.code, len([line for line in bare.said if "gnuplot" in line])), (0, 1), str(bare))
            self.assertGreater(len(Page(bare.stdout).numbers), 100)
        self.look_in_chromium(text, widths=(400,), darkness=(True,))


if __name__ == "__main__":
    cli.main()
