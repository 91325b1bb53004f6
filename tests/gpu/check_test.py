"""tests/gpu/check without a GPU: no measurement, a message for each refusal, and the rules of the table. The rehearsal of all parts and of the table,
and a stand-in that computes a GPU's work on the CPU: tests/slow/apps/gpu_check_test.py."""

import argparse
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import commands  # noqa: E402
import table  # noqa: E402

loader = importlib.machinery.SourceFileLoader("check", str(HERE / "check"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
loader.exec_module(check)

SOURCE, BIN = pathlib.Path(os.environ["RANKLAB_SOURCE"]), pathlib.Path(os.environ["RANKLAB_BIN"])
TORCH_ROOT = pathlib.Path(importlib.util.find_spec("torch").origin).parent

# A stand-in for ranklab: answers device options as one GPU would, and runs the rest on the CPU.
STAND_IN = """#!{python}
import os, sys
words = sys.argv[1:]
if "dp" in words and "64" in words:
    print("64 replicas need a GPU each, and this process sees 1; use --replicas 1, or --device cpu", file=sys.stderr)
    sys.exit(5)
if not ("dp" in words and ("--cuda-graph" in words or "--backend" in words)):
    words = [{{"cuda": "cpu", "tf32": "fp32", "nccl": "self", "50": "5", "10": "2"}}.get(word, word) for word in words if word != "--cuda-graph"]
os.execv("{program}", ["{program}", *words])
"""


class CheckCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="gpu-check-")))
        self.environment = {"RANKLAB_BIN": str(BIN), "RANKLAB_TESTS": str(BIN.parent / "tests"), "CUDA_VISIBLE_DEVICES": ""}

    def check(self, *words, root=TORCH_ROOT, **environment):
        done = subprocess.run([sys.executable, HERE / "check", root, "--out", self.folder / "out", *map(str, words)], capture_output=True, text=True,
                              env=self.environment | environment, cwd=self.folder, timeout=540)
        self.out = done.stdout
        return done

    def outcomes(self):
        found = json.loads((self.folder / "out/results.json").read_text())["parts"]
        return {part["part"]: (part["outcome"], part["detail"]) for part in found}


class WithoutAGpu(CheckCase):
    def test_without_rehearsing_nothing_is_measured_or_written(self):
        copy = self.folder / "gpu.md"
        copy.write_text(f"a\n{table.BEGIN}\n{table.END}\n")
        done = self.check("--only", "device,table", "--docs", copy)
        self.assertEqual(done.returncode, 77, done.stdout + done.stderr)
        self.assertIn("no GPU: 2 parts said so, 0 skipped, 0 failed", done.stdout)
        self.assertFalse((self.folder / "out/gpu.md").exists())
        self.assertEqual(copy.read_text(), f"a\n{table.BEGIN}\n{table.END}\n")

    def test_usage(self):
        self.assertEqual(self.check("--only", "devise").returncode, 2)
        done = self.check(root=self.folder)
        self.assertEqual((done.returncode, "holds no LibTorch" in done.stderr), (2, True))
        wheel = self.folder / "torch-2.11.0.whl"
        wheel.touch()
        done = self.check(root=wheel)
        self.assertEqual((done.returncode, "is a wheel: install it" in done.stderr), (2, True))
        self.assertEqual(subprocess.run([sys.executable, HERE / "check"], capture_output=True).returncode, 2)
        self.assertEqual(subprocess.run([sys.executable, HERE / "check", "--list"], capture_output=True).returncode, 0)

    def test_a_folder_that_cannot_be_and_a_time_that_is_none(self):
        taken = self.folder / "taken"
        taken.touch()
        done = self.check("--out", taken, "--only", "doctor")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (5, 1), done.stderr)
        for seconds in ("-5", "0", "nan", "inf"):
            self.assertEqual(self.check(f"--total={seconds}").returncode, 2)

    def test_the_codes_are_those_of_the_document(self):
        text = (SOURCE / "docs/gpu.md").read_text()
        for code, meaning in check.CODES.items():
            self.assertIn(f"| {code} | {meaning} |", text)


class WhichPrograms(unittest.TestCase):
    """The programs of the check's own checkout or archive; folders above it are not searched."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="gpu-check-")))
        self.top = self.folder / "top"
        shutil.copytree(HERE, self.top / "tests/gpu", ignore=shutil.ignore_patterns("__pycache__"))
        self.program(self.folder / "bin/ranklab")  # another build's
        self.program(self.folder / "bin/ranklab-doctor")

    def program(self, path, version="ranklab 0.1.0 (unknown, Release)"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{version}'\n")
        path.chmod(0o755)

    def asked(self, *words):
        return subprocess.run([sys.executable, self.top / "tests/gpu/check", TORCH_ROOT, "--out", self.folder / "out", *words], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"]}, cwd=self.folder, timeout=100)

    def assertRefuses(self, done, *words):
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "out").exists(), "nothing was begun")

    def test_without_a_marker_none(self):
        self.assertRefuses(self.asked("--only", "doctor"), "part of no checkout and no archive", "RANKLAB_BIN")

    def test_a_checkout_has_its_build(self):
        for name in ("CMakeLists.txt", "bootstrap"):
            (self.top / name).touch()
        built = self.top / "build/release/bin"
        self.assertRefuses(self.asked("--only", "doctor,device"), str(built), f"say {self.top}/bootstrap build && cmake --build", "--target gpu_test")
        self.program(built / "ranklab")
        self.program(built / "ranklab-doctor")
        self.assertRefuses(self.asked("--only", "doctor,device"), f"gpu_test is not in {self.top}/build/release/tests: say cmake --build")
        done = self.asked("--only", "doctor")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith(f"programs: {built}: ranklab 0.1.0 (unknown, Release)\n"), done.stdout)
        self.assertRegex(done.stdout, r"(?m)^1 part passed, 0 skipped, 0 without a GPU, 0 failed; \d+ s; logs and results.json are in \S+/out$")

    @unittest.skipUnless(shutil.which("git"), "there is no git")
    def test_a_checkout_takes_no_other_revision(self):
        for name in ("CMakeLists.txt", "bootstrap"):
            (self.top / name).touch()
        git = ["git", "-C", self.top, "-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "init.defaultBranch=main"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
            subprocess.run([*git, *words], check=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        built = self.top / "build/release/bin"
        self.program(built / "ranklab-doctor")
        for revision, code in ((f"{head[:12]}-dirty", 0), (head[:12], 0), ("0123456789ab", 5)):
            self.program(built / "ranklab", f"ranklab 0.1.0 ({revision}, Release)")
            shutil.rmtree(self.folder / "out", ignore_errors=True)
            done = self.asked("--only", "doctor")
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertRefuses(done, "revision 0123456789ab", head[:12], "bootstrap build")

    def test_an_archive_has_its_own(self):
        self.program(self.top / "libexec/launch")
        self.program(self.top / "bin/ranklab")
        self.program(self.top / "bin/ranklab-doctor")
        self.assertEqual(self.asked("--only", "doctor").returncode, 0)
        shutil.rmtree(self.folder / "out")
        self.assertRefuses(self.asked("--only", "device"), f"gpu_test is not in {self.top}/tests/gpu/bin: take an archive")

    def test_a_torch_root_may_lie_anywhere(self):
        for root, first in (("/opt/torch", sys.executable), ("/torch", sys.executable), ("/v/lib/python3.11/site-packages/torch", "/v/bin/python3")):
            self.assertEqual(check.pythons(argparse.Namespace(python=None, torch_root=pathlib.Path(root)))[0], first)


class StandInCase(CheckCase):
    def setUp(self):
        super().setUp()
        self.programs = self.folder / "bin"
        self.programs.mkdir()
        for name in ("ranklab", "ranklab-train", "ranklab-comm", "ranklab-doctor"):
            self.program(name, STAND_IN.format(python=sys.executable, program=BIN / name))
        for name in ("gpu_test", "mpi_test"):
            self.program(name, "#!/bin/sh\nexit 0\n")
        self.environment |= {"RANKLAB_BIN": str(self.programs), "RANKLAB_TESTS": str(self.programs)}

    def program(self, name, text):
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)


class WithAStandIn(StandInCase):
    def test_what_was_skipped_has_not_passed(self):
        done = self.check("--only", "doctor", "--total", 4)
        self.assertEqual((done.returncode, self.outcomes()["doctor"]), (3, ("skipped", "the time of 4 s is over")))

    def test_a_wrong_loss_is_seen(self):
        self.program("ranklab-train", STAND_IN.format(python=sys.executable, program=BIN / "ranklab-train").replace("words = sys.argv[1:]",
                     "words = sys.argv[1:] + (['--seed', '2'] if 'cuda' in sys.argv else [])"))
        self.check("--only", "graph")
        outcome, detail = self.outcomes()["graph"]
        self.assertEqual(outcome, "FAILED")
        self.assertIn("apart from those of cpu", detail)

    def test_a_missing_program_is_said_at_once(self):
        (self.programs / "gpu_test").unlink()
        done = self.check("--only", "doctor,device")
        self.assertEqual(done.returncode, 5)
        self.assertIn(f"gpu_test is not in {self.programs}: set RANKLAB_BIN and RANKLAB_TESTS", done.stderr)
        self.assertEqual(done.stdout, "")


class WhatCompileLacks(unittest.TestCase):
    """By the exception's type, not by its text."""

    class Server:
        def __init__(self, answers):
            self.answers = answers

        def alive(self):
            return True

        def ask(self, job, limit):
            return self.answers.pop(0)

    def table(self, *answers):
        made = check.Table(argparse.Namespace(rehearse=False, out=None), None, argparse.Namespace(clock=commands.Clock(100)))
        made.server = self.Server(list(answers))
        return made

    def test_what_is_lacking_is_lacking_for_all(self):
        for kind in check.LACKING:
            made = self.table({"error": f"{kind}: no", "types": ["BackendCompilerFailed", kind]})
            self.assertEqual([made.pytorch(row, "compile") for row in table.planned(False)[:2]], [{"error": f"{kind}: no"}] * 2)

    def test_what_one_network_lacks_the_next_may_have(self):
        first = {"error": "BackendCompilerFailed: backend compiler: OutOfMemoryError in triton_", "types": ["BackendCompilerFailed", "OutOfMemoryError"]}
        second = {"step_s": [0.1, 0.3, 0.2], "first_loss": 1.0, "last_loss": 0.5, "peak_bytes": 7}
        made = self.table(first, second)
        rows = table.planned(False)
        self.assertEqual(made.pytorch(rows[0], "compile"), {"error": first["error"]})
        self.assertEqual(made.pytorch(rows[1], "compile"), table.side_of(0.2, 3, 1.0, 0.5, 7))

    def test_pytorch_tells_the_types(self):
        import pytorch_side

        class Wrapping(Exception):
            def __init__(self, inner):
                self.inner_exception = inner

        try:
            try:
                raise ModuleNotFoundError("no filelock")
            except ModuleNotFoundError as why:
                raise RuntimeError("no compiler") from why
        except RuntimeError as why:
            self.assertEqual(pytorch_side.types_of(Wrapping(why)), ["Wrapping", "RuntimeError", "ModuleNotFoundError"])
        self.assertEqual(pytorch_side.answer({"model": "none", "device": "cpu", "way": "eager", "precision": "fp32", "batch": 1})["types"], ["KeyError"])

    def test_what_is_lacking_is_named_before(self):
        import pytorch_side
        empty = self.enterContext(tempfile.TemporaryDirectory())
        with unittest.mock.patch.dict(os.environ, {"PATH": empty}, clear=True):
            self.assertIn("a C compiler (gcc or clang)", pytorch_side.lacking("cuda"))
            self.assertIn("a C++ compiler (g++)", pytorch_side.lacking("cpu"))
        with unittest.mock.patch.dict(os.environ, {"CC": sys.executable, "CXX": sys.executable}):
            self.assertNotIn("compiler", " ".join(pytorch_side.lacking("cuda") + pytorch_side.lacking("cpu")))


class TheTable(unittest.TestCase):
    def row(self, **sides):
        return table.Row("resnet50", "fp32", 64, 13, 20, sides=sides)

    def test_another_loss_is_other_work(self):
        row = self.row(ranklab=table.side_of(0.1, 20, 4.6, 4.5, None), eager=table.side_of(0.2, 20, 4.6001, 4.5, None))
        self.assertEqual(row.disagreement("eager"), "")
        row.sides["eager"]["first_loss"] = 4.7
        self.assertIn("the first loss of eager is 4.7", row.disagreement("eager"))
        row.sides["eager"]["first_loss"] = float("nan")
        self.assertNotEqual(row.disagreement("eager"), "")

    def test_only_what_was_measured_is_a_figure(self):
        row = self.row(ranklab=table.side_of(0.1, 20, 4.6, 4.5, 2**31), eager=table.side_of(0.2, 20, 4.6, 4.5, None), compile={"error": "no compiler"})
        text = table.markdown([row, table.Row("unet3d", "bf16", 32, 13, 20)], {"GPU": "none"}, False)
        self.assertIn("| resnet50 | 64 | fp32 | 640 | 320 | n/a | n/a | 2.00 | n/a | n/a | 2.00 | n/a |", text)
        self.assertNotIn("| unet3d", text)
        self.assertIn("- not measured: resnet50 fp32 compile: no compiler", text)
        self.assertIn("- not measured: 3 more cells, for which no time was left", text)

    def test_a_run_that_is_not_verified_is_no_side(self):
        run = {"valid": True, "tables": {"verification": {"check": ["loss is a number"], "result": ["passed"]}}}
        self.assertIn("gradients summed correctly: not there", table.ranklab_side(run)["error"])

    def test_the_document_keeps_what_stands_around_the_markers(self):
        document = f"before\n{table.BEGIN}\nold\n{table.END}\nbehind\n"
        self.assertEqual(table.put_between_markers(document, "new\n"), f"before\n{table.BEGIN}\nnew\n{table.END}\nbehind\n")
        for broken in ("", table.BEGIN, f"{table.END}\n{table.BEGIN}", document * 2):
            with self.assertRaises(ValueError):
                table.put_between_markers(broken, "new\n")

    def test_each_side_is_measured_once(self):
        rows = table.planned(False)
        agenda = [(row.model, row.variant, side) for row, side in table.agenda(rows)]
        self.assertEqual(len(agenda), len(set(agenda)))
        self.assertEqual(len(agenda), sum(len(row.names()) for row in rows))

    def test_the_words_of_no_gpu(self):
        sentence = "no GPU can be used: CUDA driver version is insufficient"
        self.assertEqual(commands.Done([], 77, f"x\n{sentence}\n", "", 0).no_gpu, sentence)
        self.assertEqual(commands.Done([], 5, "", "there is no such file", 0).no_gpu, "")
        self.assertEqual(commands.Done([], 1, sentence, "", 0).no_gpu, "")


class TheNetworks(unittest.TestCase):
    def test_the_resnets_are_torchvisions(self):
        lock = hashlib.sha256((SOURCE / "lib/cmake/oracle.lock").read_bytes()).hexdigest()[:12]
        sys.path.append(str(pathlib.Path(sys.prefix) / f"oracle-{lock}"))
        try:
            import torchvision
        except ImportError:
            self.skipTest("there is no torchvision (./bootstrap test brings one)")
        import networks
        import torch
        ours = networks.made("resnet50", seed=3)[0]
        torch.manual_seed(3)
        theirs = torchvision.models.resnet50(num_classes=100)
        images = torch.randn(2, 3, 64, 64)
        self.assertEqual(list(ours.state_dict()), list(theirs.state_dict()))
        self.assertTrue(torch.equal(ours(images), theirs(images)), "one seed, one network, one output")


if __name__ == "__main__":
    unittest.main()
