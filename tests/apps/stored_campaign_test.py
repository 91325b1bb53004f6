"""Every output of a results file of version 0.1.0 (tests/fixtures) stays as it is in tests/golden/campaign-0.1.0: old files stay
readable."""

import csv
import html.parser
import json
import lzma
import pathlib
import re

import ranklab_cli as cli

FILE = "campaign.h5"
PACKED = cli.SOURCE / "tests" / "fixtures" / "campaign-0.1.0" / f"{FILE}.xz"

LABELS = "ladder ranks workers cold epochs resumed syncs dp ablation sweep delayed resnet cut".split()
REPORTS = {f"{label}.txt": ("--label", label) for label in LABELS} | {
    "newest.txt": (),
    "last.md": ("--last", 3, "--format", "markdown"),
    "groups.txt": ("--where", "command=train", "--group-by", "ranks,sync,model"),
    "groups.md": ("--where", "command=train", "--group-by", "ranks", "--format", "markdown"),
    "groups-io.txt": ("--where", "command=io", "--group-by", "strategy,ranks,workers"),
    "groups-phases.txt": ("--where", "label=ddp*", "--group-by", "ranks", "--measure",
                          "step_time_s,forward_time_s,sync_exposed_time_s"),
    "runs.json": ("--where", "label=epochs,cold", "--format", "json"),
    "runs.csv": ("--where", "label=epochs,cold", "--format", "csv"),
    "gbench.json": ("--label", "one", "--format", "gbench"),
    "train.extrap": ("--where", "label=ddp*", "--format", "extrap"),
    "io.extrap": ("--label", "ranks", "--where", "strategy=mpi-scatter", "--format", "extrap"),
    "trace.json": ("--label", "delayed", "--format", "chrome-trace", "--trace-steps", 10),
}
PAGES = {
    "page-train.txt": ("--where", "label=dp,ddp4"),
    "page-io.txt": ("--label", "ladder", "--where", "strategy=text-loop,binary,mpi-scatter"),
    "page-one.txt": ("--label", "delayed"),
}
SYNC = ("label:ddp2", "label:turns", "--file", FILE, "--where", "sync=bucketed", "--ignore", "steps,warmup,overlap-steps,repetitions,order")
COMPARISONS = {
    "self.txt": (FILE, FILE, "--where", "label=ddp2"),
    "turns.txt": ("label:turns", "label:turns", "--file", FILE, "--where", "sync=flat"),
    "sync.txt": SYNC,
    "sync.md": (*SYNC, "--format", "markdown"),
    "sync.json": (*SYNC, "--format", "json"),
    "io.txt": ("label:ladder", "label:ladder", "--file", FILE, "--where", "strategy=binary"),
    "refused.txt": ("label:one", "label:ddp2", "--file", FILE, "--fail-on-regression", "5%"),
    "one_difference.txt": ("label:one", "label:ddp2", "--file", FILE),
}


class VisibleText(html.parser.HTMLParser):
    """Returns the visible text of the page without figures: one line per block and table row."""

    HIDDEN = {"style", "script", "svg", "title"}
    BLOCKS = set("article body details dd div dl dt figcaption figure footer h1 h2 h3 h4 header li main nav ol p pre section summary table tbody "
                 "thead tr ul".split())
    text, hidden = "", 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in self.HIDDEN
        self.handle_edge(tag)

    def handle_endtag(self, tag):
        self.hidden -= tag in self.HIDDEN
        self.handle_edge(tag)

    def handle_edge(self, tag):
        self.text += " | " if tag in ("td", "th") else "\n" if tag in self.BLOCKS else ""

    def handle_data(self, data):
        if not self.hidden: self.text += re.sub(r"\s+", " ", data)


def visible_text(page):
    reader = VisibleText()
    reader.feed(page)
    lines = (re.sub(r"[ |]*\|[ |]*", " | ", line).strip(" |") for line in reader.text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def runs_of(result):
    """Sorted by id: a merged file orders runs by time."""
    return {run["id"]: run for run in json.loads(result.stdout)["runs"]}


class StoredCampaign(cli.Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        made = cli.tempfile.TemporaryDirectory(prefix="ranklab-test-")
        cls.addClassCleanup(made.cleanup)
        cls.where = pathlib.Path(made.name)
        (cls.where / FILE).write_bytes(lzma.decompress(PACKED.read_bytes()))

    def run_here(self, *words):
        return cli.ranklab(*words, cwd=self.where)

    def fits_a_terminal(self, text):
        """Checks the width of all lines but commands to copy and words longer than a line."""
        copied = re.compile(r"  typed |  next |  ranklab |BENCHY::")
        wide = [line for line in text.splitlines()
                if len(line) > 80 and not copied.match(line) and max(map(len, line.split())) < 70]
        self.assertEqual(wide, [])

    def test_reports(self):
        for name, words in REPORTS.items():
            with self.subTest(name):
                result = self.run_here("report", FILE, *words)
                self.assertEqual(result.code, 0, result)
                self.assertGolden(f"campaign-0.1.0/report/{name}", result.stdout)
                if name.endswith(".txt"):
                    self.fits_a_terminal(result.stdout)

    def test_json_fits_its_schema_and_csv_says_the_same(self):
        text = self.run_here("report", FILE, "--format", "json").stdout
        self.assertSchema("report", text)
        lines = self.run_here("report", FILE, "--format", "csv").stdout.splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        medians = {(row["run_id"], row["name"]): float(row["median"]) if row["median"] else None for row in rows}
        self.assertEqual(medians, {(run["id"], one["name"]): one["median"] for run in json.loads(text)["runs"] for one in run["measurements"]})

    def test_pages(self):
        for name, words in PAGES.items():
            with self.subTest(name):
                result = self.run_here("report", FILE, *words, "--format", "html")
                self.assertEqual(result.code, 0, result)
                self.assertGolden(f"campaign-0.1.0/report/{name}", visible_text(result.stdout))

    def test_figures(self):
        result = self.run_here("report", FILE, "--where", "label=one,ddp3,ladder", "--plots", "plots")
        self.assertEqual(result.code, 0, result)
        made = sorted((self.where / "plots").glob("*.csv"))
        self.assertTrue(made, result)
        self.fits_a_terminal(result.stdout)
        self.assertEqual({path.stem for path in made}, {path.stem for path in (self.where / "plots").glob("*.svg")})
        tables = sorted((self.where / "plots").glob("*.tex"))
        self.assertTrue(tables, result)
        self.assertGolden("campaign-0.1.0/report/tables.tex", "".join(file.read_text() for file in tables))
        self.assertGolden("campaign-0.1.0/report/figures.csv", "".join(f"# {file.name}\n{file.read_text()}" for file in made))

    def test_phases_stand_for_those_that_the_runs_have(self):
        def measured(names):
            return self.run_here("report", FILE, "--where", "label=ddp*", "--group-by", "ranks", "--measure", names, "--format", "json")
        phases = measured("phases")
        self.assertEqual(phases.code, 0, phases)
        named = measured("data_time_s,copy_time_s,forward_time_s,backward_time_s,sync_exposed_time_s,optimizer_time_s")
        self.assertEqual(json.loads(phases.stdout), json.loads(named.stdout))
        self.assertNotEqual(json.loads(phases.stdout), json.loads(measured("data_time_s").stdout))

    def test_comparisons(self):
        for name, words in COMPARISONS.items():
            with self.subTest(name):
                result = self.run_here("compare", *words)
                self.assertGolden(f"campaign-0.1.0/compare/{name}", f"exit code {result.code}\n{result.stdout}{result.stderr}")
                if name.endswith(".txt"):
                    self.fits_a_terminal(result.stdout)

    def test_keeping(self):
        """`results` checks the file, exports its runs, and merges them into an equal file."""
        for words in (("check", FILE), ("export", FILE, "--output", "part.h5", "--where", "label=ddp2"),
                      ("check", "part.h5"), ("merge", "again.h5", FILE), ("check", "again.h5")):
            result = self.run_here("results", *words)
            self.assertEqual(result.code, 0, result)
        before, after = (runs_of(self.run_here("report", file, "--format", "json")) for file in (FILE, "again.h5"))
        self.assertEqual(before, after)


if __name__ == "__main__":
    cli.main()
