"""tests/gpu/check without a GPU: a rehearsal reaches the message of every part and makes the table on the CPU; with a stand-in that computes a GPU's
work on the CPU every part passes."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

if not importlib.util.find_spec("torch") or not (pathlib.Path(os.environ["RANKLAB_BIN"]).parent / "tests" / "gpu_test").exists():
    print("SKIPPED: this build has no gpu_test, or this Python no torch")
    sys.exit(77)
sys.path.insert(0, str(pathlib.Path(os.environ["RANKLAB_SOURCE"]) / "tests" / "gpu"))

import check_test as gpu  # noqa: E402
import parts  # noqa: E402
import table  # noqa: E402

# The check with tiny networks in its table, and PyTorch on the CPU.
TINY_TABLE = """
import importlib.machinery, importlib.util, sys
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("check", sys.argv[1] + "/check")
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
sys.argv = sys.argv[1:]
loader.exec_module(check)
table, job = check.table, check.table.Row.pytorch_job
table.planned = lambda rehearsal: [table.Row("mnist-cnn", variant, *table.TINY["mnist-cnn"]) for variant in ("fp32", "bf16 graph")]
table.Row.pytorch_job = lambda row, way, device: job(row, "eager" if way == "graph" else way, "cpu")
sys.exit(check.main())
"""


class WithoutAGpu(gpu.CheckCase):
    def test_the_rehearsal_comes_to_every_sentence_and_to_a_table(self):
        document = gpu.SOURCE / "docs/gpu.md"
        before = document.read_bytes()
        done = self.check("--rehearse")
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        outcomes = self.outcomes()
        self.assertEqual(list(outcomes), [part.name for part in parts.all_parts()] + ["table"])
        self.assertEqual(outcomes.pop("doctor")[0], "passed")
        for name, (outcome, detail) in outcomes.items():
            self.assertEqual(outcome, "no GPU", f"{name}: {detail}")
            self.assertIn("GPU", detail, name)
        self.assertRegex(done.stdout, r"(?m)^no GPU: 12 .*\b0 skipped, 0 failed\b")
        text = (self.folder / "out/gpu-rehearsal.md").read_text()
        self.assertTrue(text.startswith("**A rehearsal on a CPU with tiny networks: no figure here is of a GPU.**"))
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ") and "variant" not in line]
        self.assertEqual([(row[0], row[2]) for row in rows], [(row.model, row.variant) for row in table.planned(True)])
        for row in rows:
            self.assertGreater(float(row[7]), 0, "ranklab over eager")
        for row in json.loads((self.folder / "out/table.json").read_text()):
            for side in row["sides"].values():
                self.assertIn(set(side), ({"error"}, set(table.side_of(*range(5)))), "one form, whosever it is")
            self.assertEqual({"ranklab", "eager"} - set(row["sides"]), set())
        self.assertIn(f"programs: {gpu.BIN}: ranklab ", done.stdout)
        for file in ("results.json", "gpu-rehearsal.md"): self.assertIn(file, done.stdout)
        if "table: compile will be n/a" in done.stdout:
            self.assertEqual(rows[0][6], "n/a")
        self.assertFalse((self.folder / "out/gpu.md").exists())
        self.assertEqual(document.read_bytes(), before, "a rehearsal leaves the document alone")


class WithAStandIn(gpu.StandInCase):
    def test_every_part_passes_where_a_gpu_computes_what_the_cpu_does(self):
        done = self.check("--only", ",".join(part.name for part in parts.all_parts()))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name, (outcome, detail) in self.outcomes().items():
            self.assertEqual(outcome, "passed", f"{name}: {detail}")

    def test_the_table_is_written_where_there_is_a_gpu(self):
        document = self.folder / "gpu.md"
        document.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nbehind\n")
        done = subprocess.run([sys.executable, "-c", TINY_TABLE, gpu.HERE, gpu.TORCH_ROOT, "--out", self.folder / "out", "--only", "table", "--docs", document],
                              capture_output=True, text=True, env=self.environment, cwd=self.folder, timeout=540)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        text = document.read_text()
        self.assertRegex(text, r"\| mnist-cnn \| 8 \| fp32 \| [\d.]+ \| [\d.]+ \| n/a \|")
        self.assertRegex(text, r"\| mnist-cnn \| 8 \| bf16 graph \| [\d.]+ \| [\d.]+ \| [\d.]+ \|")
        self.assertNotIn("old", text)
        self.assertTrue(text.startswith("before\n") and text.endswith("behind\n"))
        self.assertIn(table.BEGIN, (self.folder / "out/gpu.md").read_text())
        self.assertGreater((self.folder / "out/ranklab.h5").stat().st_size, 0, "ranklab's runs are stored")
        again = self.folder / "again.md"
        again.write_text(f"{table.BEGIN}\n{table.END}\n")
        subprocess.run([sys.executable, gpu.HERE / "table.py", self.folder / "out/gpu.md", again], check=True)
        self.assertEqual(table.put_between_markers("x\n" + again.read_text(), ""), f"x\n{table.BEGIN}\n{table.END}\n")
        self.assertIn("| mnist-cnn | 8 | fp32 |", again.read_text())

    def test_a_part_that_fails_or_hangs_stops_no_other(self):
        self.program("gpu_test", '#!/bin/sh\ncase "$*" in *OnGpus*) sleep 600 & sleep 600 ;; *) echo wrong >&2; exit 1 ;; esac\n')
        done = self.check("--only", "device,replicas,nccl-contract", "--total", 12)
        self.assertEqual(done.returncode, 3)
        outcomes = self.outcomes()
        self.assertEqual(outcomes["device"], ("FAILED", "exit code 1, not 0: wrong"))
        self.assertRegex(outcomes["replicas"][1], "was killed after 1[12] s")
        self.assertEqual(outcomes["nccl-contract"], ("skipped", "the time of 12 s is over"))
        self.assertRegex(done.stdout, r"\b0 parts passed, 1 skipped, .*\b2 failed\b.*\n$")


if __name__ == "__main__":
    unittest.main()
