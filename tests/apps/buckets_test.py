"""The table of gradient buckets that `ranklab train --dry-run --buckets FILE` writes: it equals the shipped tables and the buckets of a real run.
Refusals: tests/refusals/train.json."""

import csv
import re

import ranklab_cli as cli
from ranklab_cli import Case, train
from stored_runs import stored_runs

cli.need_train()

SHIPPED = cli.SOURCE / "lib" / "experiments" / "collectives" / "buckets"
SIZES = {"fp32": 4, "fp16": 2, "bf16": 2, "fp64": 8}


class BucketsTest(Case):
    def write(self, *words, ranks=1, name="t.csv"):
        """Returns (text, rows) of the table, and checks what holds for every table."""
        result = train("--dry-run", "--buckets", name, *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertEqual(result.said, [])
        content = (self.folder / name).read_text()
        rows = list(csv.DictReader(line for line in content.splitlines() if not line.startswith("#")))
        self.assertEqual(list(rows[0]), ["bucket", "parameters", "elements", "dtype", "bytes"])
        self.assertEqual([row["bucket"] for row in rows], list(map(str, range(len(rows)))))
        for row in rows:
            self.assertEqual(int(row["bytes"]), int(row["elements"]) * SIZES[row["dtype"]])
        self.assertEqual(sum(int(row["elements"]) for row in rows), int(re.search(r"(?m)^# parameters: (\d+)", content).group(1)))
        return content, rows

    def test_those_that_ship_are_what_the_program_writes(self):
        """The large ones: tests/slow/apps/shipped_tables_test.py."""
        for model in ("mnist-cnn", "resnet18"):
            self.assertEqual((SHIPPED / f"{model}.csv").read_text(), self.write("--model", model)[0],
                             f"write it anew: ranklab train --model {model} --dry-run --buckets {SHIPPED}/{model}.csv")

    def test_a_run_reduces_what_the_table_says(self):
        small = ("--model", "resnet18", "--width", 8, "--image-size", 32, "--bucket-cap-mb", 0.1)
        for words, dtype in (((*small, "--compress", "bf16"), "bf16"), ((*small, "--sync", "c10d"), "fp32"), (("--sync", "flat", "--precision", "fp64"), "fp64")):
            with self.subTest(words=words):
                _, rows = self.write(*words, ranks=1)
                self.assertEqual({row["dtype"] for row in rows}, {dtype})
                (self.folder / "r.h5").unlink(missing_ok=True)
                result = train(*words, "--steps", 2, "--warmup", 1, "--batch-size", 2, "--train-samples", 16, "--evaluate", "off", "--overlap-steps", 0,
                               "--output", "r.h5", ranks=3, cwd=self.folder)
                self.assertCode(result, 0)
                (run,) = stored_runs(self.folder / "r.h5")
                reduced = run.tables["communication"]
                self.assertEqual([(int(row["bytes"]), int(row["parameters"])) for row in rows], list(zip(reduced["bytes"], reduced["parameters"])))

    def test_several_ranks_write_it_once_and_an_earlier_table_is_replaced(self):
        (self.folder / "two.csv").touch(mode=0o640)
        words = ("--bucket-cap-mb", 0.01, "--model", "resnet18", "--width", 8, "--image-size", 16384)  # a dry run makes no samples
        self.assertEqual(self.write(*words)[0], self.write(*words, ranks=2, name="two.csv")[0])
        self.assertEqual((self.folder / "two.csv").stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.names(), ["t.csv", "two.csv"], "nothing is left behind")


if __name__ == "__main__":
    cli.main()
