"""Results files that somebody made to harm: no command dies, waits, follows them out or fills the memory; and no text that
a user may pass harms the file."""

import csv
import io
import json
import os
import random
import sys

import ranklab_cli as cli
import results_files
from ranklab_cli import Case

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed for this Python")
    sys.exit(77)

FORMATS = ("text", "markdown", "html", "json", "csv", "gbench", "extrap", "chrome-trace")
SECRET = 1234567.890625  # a number of another file
DEEP = 200_000


class HostileCase(Case):
    def make(self, change=None, name="bad.h5", runs=2):
        """A file of some runs, of which `change(group, file)` spoils the last."""
        path = results_files.write(self.folder / name, results_files.step_times([0.01 + i / 1000 for i in range(runs)]))
        with h5py.File(path, "r+") as file:
            for group in file["runs"].values():
                samples = group["samples"].create_dataset("step_time_s", data=np.linspace(0.01, 0.02, 50))
                samples.attrs.update(unit="s", kind="cost", axis="step")
            if change:
                change(list(file["runs"].values())[-1], file)
        return path

    def readers(self, path):
        good = self.make(name="good.h5")
        yield from (["report", path, "--run", self.last_id(path), "--format", f] for f in ("text", "json", "csv", "html"))
        yield ["report", path]
        yield ["results", "check", path]
        yield ["results", "merge", self.folder / "all.h5", path]
        yield ["results", "merge", path, good]
        yield ["results", "export", path, "--output", self.folder / "some.h5", "--where", "command=train"]
        if (cli.BIN / "ranklab-compare").exists(): yield ["compare", good, path, "--measure", "step_time_s"]

    def last_id(self, path):
        with h5py.File(path) as file:
            return list(file["runs"])[-1]

    def refused_by_all(self, path, but=()):
        before = path.read_bytes()
        for words in self.readers(path):
            result = cli.run(cli.RANKLAB, *words, cwd=self.folder, timeout=60)
            with self.subTest(str(words)):
                self.assertIn(result.code, (2, 3), str(result))
                self.assertLess(result.max_rss, 1 << 30, str(result))
                self.assertNotIn(str(SECRET), result.stdout)
            self.assertEqual(path.read_bytes(), before, f"{words} changed the file")
            self.assertFalse((self.folder / "all.h5").exists(), f"{words} took it in")
            self.assertFalse((self.folder / "some.h5").exists(), f"{words} took it in")


class LeadOutTest(HostileCase):
    """Nothing in a file leads out of it."""

    def setUp(self):
        super().setUp()
        with h5py.File(self.folder / "secret.h5", "w") as file:
            file["x"] = np.full(3, SECRET)
        np.full(3, SECRET).tofile(self.folder / "secret.raw")
        os.mkfifo(self.folder / "fifo")

    def test_a_run_that_is_a_link(self):
        for target in ("fifo", "secret.h5", "/etc/passwd"):

            def change(group, file):
                name = group.name
                del file[name]
                file[name] = h5py.ExternalLink(target, "/")

            self.refused_by_all(self.make(change))

    def test_samples_that_lie_elsewhere(self):
        layout = h5py.VirtualLayout((3,), "f8")
        layout[:] = h5py.VirtualSource(str(self.folder / "secret.h5"), "x", (3,))
        fifo_layout = h5py.VirtualLayout((3,), "f8")
        fifo_layout[:] = h5py.VirtualSource(str(self.folder / "fifo"), "x", (3,))

        def replace(make):
            def change(group, _):
                samples = group["samples"]
                for name in list(samples):
                    axis = samples[name].attrs["axis"]
                    del samples[name]
                    make(samples, name)
                    if isinstance(samples.get(name, getlink=True), h5py.HardLink):
                        samples[name].attrs["axis"] = axis

            return change

        ways = {
            "a link": lambda samples, name: samples.__setitem__(name, h5py.ExternalLink(str(self.folder / "secret.h5"), "/x")),
            "a link to a FIFO": lambda samples, name: samples.__setitem__(name, h5py.ExternalLink(str(self.folder / "fifo"), "/x")),
            "external storage": lambda samples, name: samples.create_dataset(
                name, (3,), "f8", external=[(str(self.folder / "secret.raw"), 0, 24)]),
            "a view": lambda samples, name: samples.create_virtual_dataset(name, layout),
            "a view of a FIFO": lambda samples, name: samples.create_virtual_dataset(name, fifo_layout),
        }
        for what, make in ways.items():
            with self.subTest(what):
                path = self.make(replace(make))
                for words in (["results", "check", path], ["results", "merge", "all.h5", path], ["report", path, "--format", "html"]):
                    result = cli.run(cli.RANKLAB, *words, cwd=self.folder, timeout=60)
                    self.assertNotIn(str(SECRET), result.stdout)
                    if words[0] == "results":
                        self.assertCode(result, 3)
                self.assertFalse((self.folder / "all.h5").exists())

    def test_export_saves_the_others(self):
        def change(group, file):
            name = group.name
            del file[name]
            file[name] = h5py.ExternalLink("fifo", "/")

        path = self.make(change)
        result = cli.run(cli.RANKLAB, "results", "export", path, "--output", "saved.h5", "--skip-damaged", cwd=self.folder)
        self.assertCode(result, 0)
        with h5py.File(self.folder / "saved.h5") as file:
            self.assertEqual(len(file["runs"]), 1)


class BombTest(HostileCase):
    """No small file takes the stack, gigabytes or minutes."""

    def test_json(self):
        texts = {
            "deep lists": '{"a":' + "[" * DEEP + "]" * DEEP + "}",
            "deep objects": '{"a":' * DEEP + "1" + "}" * DEEP,
            "many keys": "{" + ",".join(f'"k{i}":1' for i in range(DEEP)) + "}",
        }
        for what, text in texts.items():
            for name in ("config_json", "context_json"):
                with self.subTest(f"{what} in {name}"):
                    self.refused_by_all(self.make(lambda group, _: group.attrs.__setitem__(name, text)))

    def test_claims(self):
        def claim(shape, **how):
            def change(group, _):
                samples = group["samples"]
                for name in list(samples):
                    axis = samples[name].attrs["axis"]
                    del samples[name]
                    samples.create_dataset(name, shape, "f8", chunks=how.pop("chunks", (1024,)), **how).attrs["axis"] = axis

            return change

        for shape, how in (((1 << 40,), {}), ((1 << 28,), {"compression": "gzip"}), ((10,), {"chunks": (1 << 28,), "maxshape": (None,)})):
            with self.subTest(str(shape)):
                path = self.make(claim(shape, **how))
                result = cli.run(cli.RANKLAB, "results", "check", path, cwd=self.folder, timeout=60)
                self.assertCode(result, 3)
                self.assertLess(result.max_rss, 1 << 30)

    def test_circles(self):
        def circle(group, _):
            group["tables/self"] = group

        def many_names(group, file):
            for i in range(3000):
                file["runs"][f"again-{i}"] = group

        for change in (circle, many_names):
            path = self.make(change)
            result = cli.run(cli.RANKLAB, "results", "check", path, cwd=self.folder, timeout=60)
            self.assertCode(result, 3)


class TextTest(HostileCase):
    """What a user may pass."""

    PIECES = [b"\x89HDF\r\n\x1a\n", b"GCOL\x01", b"GCOL\x01\0\0\0"[:5], b"OHDR\x02", b"TREE", b"HEAP", b"SNOD", b"FRHP", b"BTHD", b"BTLF",
              b"\x1b[2J", b"\x9b31m", "\u202e".encode(), b"\xff\xfe", b'"}', b"{[", b"=1+1", b"-2", b"@x", b"\r\n", b"%s%n", b"$(x)", b"<b>&amp;"]

    def labels(self):
        rand = random.Random(5)
        yield b"GCOL\x01"
        yield b""
        yield b"x" * 100_000
        for start in range(1, 256, 64):
            yield bytes(range(start, min(start + 64, 256)))
        for _ in range(4):
            yield b"".join(rand.choice(self.PIECES) + bytes(rand.randrange(1, 256) for _ in range(rand.randrange(9))) for _ in range(3))

    def test_labels_and_environment(self):
        labels = list(self.labels())
        for i, label in enumerate(labels):
            folder = os.fsencode(self.folder) + b"/" + (label[:40].replace(b"/", b"_") or b"plain") + b".d"
            os.makedirs(folder, exist_ok=True)
            env = cli.environment()
            env = {os.fsencode(k): os.fsencode(v) for k, v in env.items()} | {b"OMP_PLACES": label[:200], b"SLURM_JOB_NAME": label[:200]}
            result = cli.run(cli.RANKLAB, "io", "--strategy", "binary", "--files", 1, "--size", 2, "--directory", os.fsdecode(folder),
                             "--label", os.fsdecode(label), "--output", "r.h5", cwd=self.folder, env={os.fsdecode(k): os.fsdecode(v) for k, v in env.items()})
            self.assertCode(result, 0)
            listed = cli.run(cli.RANKLAB, "results", "list", "r.h5", cwd=self.folder)
            self.assertCode(listed, 0)
            with h5py.File(self.folder / "r.h5") as file:
                self.assertEqual(len(file["runs"]), i + 1)
        check = cli.run(cli.RANKLAB, "results", "check", "r.h5", cwd=self.folder)
        self.assertCode(check, 0)
        with h5py.File(self.folder / "r.h5") as file:
            stored = [os.fsencode(run.attrs["label"]) for run in file["runs"].values()]
            for run in file["runs"].values():
                json.loads(run.attrs["config_json"]), json.loads(run.attrs["context_json"]), json.loads(run.attrs["warnings_json"])
        self.assertEqual(stored, labels)
        self.look_at_reports(len(labels))

    def look_at_reports(self, runs):
        for form in FORMATS:
            with self.subTest(form):
                result = cli.run(cli.RANKLAB, "report", "r.h5", "--format", form, "--output", f"out.{form}", cwd=self.folder)
                self.assertCode(result, 0)
                content = (self.folder / f"out.{form}").read_bytes()
                text = content.decode()  # strictly UTF-8
                if form in ("text", "markdown", "html"):
                    steering = [c for c in text if (ord(c) < 32 and c not in ("\n", "\t" if form == "html" else "\n")) or 127 <= ord(c) < 160 or c in "\u202e\u2066"]
                    self.assertEqual(steering, [])
                if form in ("json", "gbench", "chrome-trace"):
                    json.loads(text)
                if form == "csv":
                    rows = list(csv.reader(io.StringIO("".join(text.splitlines(keepends=True)[2:]), newline="")))
                    self.assertEqual({len(row) for row in rows}, {23})
                    self.assertEqual(len({row[0] for row in rows}), runs + 1)
                    self.assertEqual([row for row in rows if row[2][:1] in ("=", "+", "-", "@", "\t", "\r")], [])


if __name__ == "__main__":
    cli.main()
