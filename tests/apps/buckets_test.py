"""The table of gradient buckets that `ranklab train --dry-run --buckets FILE` writes: the tables that ship are what it
writes now, and a real run reduces what it says."""

import csv
import json
import pathlib
import re

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, train

SHIPPED = cli.SOURCE / "lib" / "experiments" / "collectives" / "buckets"
MODELS = ("mnist-cnn", "resnet18", "resnet50", "resnet152", "unet3d")
HEADER = ["bucket", "parameters", "elements", "dtype", "bytes"]
SIZES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp64": 8}


def comments_of(path):
    return dict(re.findall(r"^# ([\w-]+): (.*)$", pathlib.Path(path).read_text(), re.MULTILINE))


def rows_of(path):
    """Its rows, with whole numbers as such; what every table must hold is checked."""
    lines = [line for line in pathlib.Path(path).read_text().splitlines() if not line.startswith("#")]
    header, *rows = csv.reader(lines)
    assert header == HEADER, header
    rows = [{name: cell if name == "dtype" else int(cell) for name, cell in zip(HEADER, row, strict=True)} for row in rows]
    assert [row["bucket"] for row in rows] == list(range(len(rows))), rows
    for row in rows:
        assert row["bytes"] == row["elements"] * SIZES[row["dtype"]], row
    return rows


class Tables(Case):
    def write(self, *words, ranks=1, name="t.csv"):
        result = train("--dry-run", "--buckets", name, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertEqual(result.said, [])
        return self.folder / name

    def refused(self, code, *parts, words=(), name="t.csv", ranks=1):
        result = train("--dry-run", "--buckets", name, *words, ranks=ranks, cwd=self.folder)
        self.assertSays(result, code, *parts)


@needs_train
class ShippedTables(Tables):
    def test_they_are_what_the_program_writes(self):
        self.assertEqual(sorted(path.stem for path in SHIPPED.iterdir()), sorted(MODELS))
        for model in MODELS:
            with self.subTest(model=model):
                written = self.write("--model", model)
                self.assertEqual((SHIPPED / f"{model}.csv").read_text(), written.read_text(),
                                 f"write it anew: ranklab train --model {model} --dry-run --buckets {SHIPPED}/{model}.csv")
                self.assertEqual(sum(row["elements"] for row in rows_of(written)), int(comments_of(written)["parameters"]))


@needs_train
class RealRuns(Tables):
    def reduced(self, *words):
        """(bytes, parameters) of each reduction of a run of two ranks."""
        result = train(*words, "--steps", 2, "--warmup", 1, "--batch-size", 2, "--train-samples", 16, "--evaluate", "off", "--overlap-steps", 0,
                       "--output", "none", "--json", "--quiet", ranks=2, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = json.loads(result.stdout)["runs"]
        table = run["tables"]["communication"]
        return list(zip(table["bytes"], table["parameters"]))

    def test_a_run_reduces_what_the_table_says(self):
        small = ("--model", "resnet18", "--width", 8, "--image-size", 32, "--bucket-cap-mb", 0.1)
        for words in (("--model", "mnist-cnn"), (*small, "--compress", "bf16"), (*small, "--sync", "c10d"), ("--sync", "flat", "--precision", "fp64"),
                      ("--model", "unet3d", "--width", 16, "--bucket-cap-mb", 0.5)):
            with self.subTest(words=words):
                written = rows_of(self.write(*words))
                self.assertEqual([(row["bytes"], row["parameters"]) for row in written], self.reduced(*words))

    def test_large_samples_cost_nothing(self):
        words = ("--model", "resnet18", "--width", 8, "--bucket-cap-mb", 0.1)
        small, large = (rows_of(self.write(*words, "--image-size", size)) for size in (32, 16384))
        self.assertEqual(small, large)

    def test_several_ranks_write_it_once(self):
        words = ("--bucket-cap-mb", 0.01)
        alone = self.write(*words).read_text()
        self.assertEqual(self.write(*words, ranks=2, name="two.csv").read_text(), alone)
        self.assertEqual(self.write(*words, "--ranks", 1, ranks=2, name="one-of-two.csv").read_text(), alone)
        self.assertEqual(self.names(), ["one-of-two.csv", "t.csv", "two.csv"], "nothing is left behind")

    def test_types_as_they_travel(self):
        for words, dtype in ((("--precision", "fp64"), "fp64"), (("--precision", "fp16"), "fp32"), (("--compress", "fp16"), "fp16"), (("--sync", "per-parameter"), "fp32"),
                             (("--compress", "bf16", "--precision", "fp64"), "bf16")):
            with self.subTest(words=words):
                path = self.write(*words)
                self.assertEqual({row["dtype"] for row in rows_of(path)}, {dtype})
                self.assertEqual(sum(row["bytes"] for row in rows_of(path)), 7850 * SIZES[dtype])


@needs_train
class Refusals(Tables):
    def test_what_reduces_no_gradients(self):
        self.refused(2, "--mode single", "no gradients", words=("--mode", "single"))
        self.refused(2, "--sync none", "no gradients", words=("--sync", "none"))
        self.refused(2, "--input io-only", "no gradients", words=("--input", "io-only"))
        self.refused(2, "--buckets", "a single run", words=("--sync", "flat,bucketed"))
        self.assertEqual(self.names(), [])

    def test_a_run_that_is_none_dry(self):
        self.assertSays(train("--buckets", "t.csv", "--steps", 2, "--output", "none", cwd=self.folder), 2, "--buckets", "--dry-run")
        self.assertEqual(self.names(), [])

    def test_places_that_will_not_take_it(self):
        (self.folder / "folder").mkdir()
        (self.folder / "link.csv").symlink_to("nothing")
        (self.folder / "file").write_text("mine")
        (self.folder / "notes.csv").write_text("time,speed\n1,2\n")
        for name, part in (("no/such/t.csv", "there is no folder"), ("folder", "folder"), ("", "no file"), ("/dev/full", "device"),
                           ("link.csv", "link"), ("file/t.csv", "file"), ("x" * 300, "x")):
            with self.subTest(name=name):
                self.refused(2, part, "--buckets", name=name)
        self.refused(2, "notes.csv", "not replaced", name="notes.csv", ranks=2)
        self.assertEqual((self.folder / "notes.csv").read_text(), "time,speed\n1,2\n")
        self.assertEqual(self.names(), ["file", "notes.csv"])

    def test_an_earlier_table_is_replaced_where_it_lies(self):
        (self.folder / "real.csv").touch(mode=0o640)
        (self.folder / "t.csv").symlink_to("real.csv")
        self.write()
        first = (self.folder / "real.csv").read_text()
        self.write("--precision", "fp64")
        self.assertNotEqual((self.folder / "real.csv").read_text(), first)
        self.assertTrue((self.folder / "t.csv").is_symlink())
        self.assertEqual((self.folder / "real.csv").stat().st_mode & 0o777, 0o640)

    def test_a_read_only_folder(self):
        place = self.folder / "protected"
        place.mkdir()
        self.write(name="protected/old.csv")
        self.make_read_only(place)
        self.refused(5, "protected", "--buckets", name="protected/new.csv")
        self.refused(5, "protected", "--buckets", name="protected/old.csv")

    def test_a_full_disk(self):
        place = self.mount_small_tmpfs(4096)
        (place / "filler").write_bytes(bytes(4096))
        self.refused(5, "no room", "--buckets", name=place / "t.csv")
        self.assertEqual([path.name for path in place.iterdir()], ["filler"])


if __name__ == "__main__":
    cli.main()
