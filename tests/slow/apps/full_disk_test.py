"""Full disks: refused before the work starts if visible then, else the run goes into a separate file; stored runs stay unchanged."""

import re
import sys
import time

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab, train

try:
    import h5py
except ImportError:
    print("SKIPPED: h5py is not installed for this Python")
    sys.exit(77)


@needs_train
class OutputCase(Case):
    def refused(self, code, *parts, output, ranks=1, words=()):
        """Checks the exit code and the message, and that no work was done."""
        result = train("--steps", 5, "--output", output, *words, ranks=ranks, cwd=self.folder)
        self.assertSays(result, code, *parts)
        self.assertNotIn("Img/sec", result.stdout)
        self.assertNotIn("  step ", result.stdout)
        return result

    def store_a_run(self, output, *words):
        result = train("--steps", 5, "--output", output, *words, cwd=self.folder)
        self.assertCode(result, 0)
        return re.search(r"(?m)^  stored +(\S+) in", result.stdout).group(1)


class FullDiskTest(OutputCase):
    def test_a_full_disk_is_seen_before_the_work_starts(self):
        place = self.mount_small_tmpfs(128 << 10)
        for ranks in (1, 2):
            self.refused(5, place, "no room", "--output", output=place / "r.h5", ranks=ranks)
        self.assertEqual([p.name for p in place.iterdir()], [], "nothing is left on the full disk")

    def test_a_disk_that_fills_during_the_work(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                place = self.mount_small_tmpfs(2 << 20, f"small{ranks}")
                rescue = self.folder / f"rescue{ranks}"
                output = place / "r.h5"
                first = self.store_a_run(output)
                before = output.read_bytes()
                rescue.mkdir()
                words = ["train", "--model", "mnist-cnn", "--data", "synthetic", "--threads", "1", "--steps", "40", "--evaluate", "off",
                         "--output", output]
                command = [cli.RANKLAB, *words] if ranks == 1 else [*cli.mpirun_words(ranks), cli.RANKLAB, *words]
                job = self.start(*command, env=cli.environment(TMPDIR=rescue))
                job.wait_for_stdout("# model:")
                time.sleep(0.5)  # The free space is checked within milliseconds after that line; the work takes seconds.
                with open(place / "filler", "wb", buffering=0) as filler:
                    try:
                        while True:
                            filler.write(bytes(4096))
                    except OSError:
                        pass
                self.assertIsNone(job.process.poll(), "the run ended before the disk was full")
                result = job.finish()
                self.assertSays(result, 5, f"{output}: ", "no room", rescue)
                path = re.search(rf"({re.escape(str(rescue))}/\S+\.h5)", result.stderr).group(1)
                report = ranklab("report", path)
                self.assertCode(report, 0)
                self.assertIn("samples/s", report.stdout)
                with h5py.File(path) as file:
                    (run,) = file["runs"].values()
                    self.assertEqual(run["samples/step_time_s"].size, 40 * ranks)
                self.assertEqual(output.read_bytes(), before, "the earlier run's file was changed")
                self.assertIn(first, ranklab("report", output).stdout)


class ParameterFileTest(OutputCase):
    """--save-parameters to a file that cannot be written: one message, and the run is stored."""

    def check(self, place, code):
        result = train("--model", "mnist-cnn", "--batch-size", 4, "--steps", 2, "--evaluate", "off", "--output", "r.h5",
                       "--save-parameters", place, cwd=self.folder)
        self.assertSays(result, code, place)
        if "Img/sec" in result.stdout:  # the run trained
            self.assertTrue((self.folder / "r.h5").exists(), "the run was lost")

    def test_files_of_others_are_spared(self):
        first = train("--model", "template-softmax", "--steps", 2, "--output", "r.h5", "--save-parameters", "p.h5", cwd=self.folder)
        self.assertCode(first, 0)
        (self.folder / "notes.txt").write_text("mine")
        parameters = (self.folder / "p.h5").read_bytes()
        before = {name: (self.folder / name).read_bytes() for name in ("r.h5", "notes.txt")}
        words = ("--model", "mnist-cnn", "--batch-size", 4, "--steps", 2, "--output", "none")
        for place in before:
            self.assertSays(train(*words, "--save-parameters", place, cwd=self.folder), 2, place, "--save-parameters")
        self.assertEqual({name: (self.folder / name).read_bytes() for name in before}, before)
        self.assertCode(train(*words, "--save-parameters", "p.h5", cwd=self.folder), 0)
        self.assertNotEqual((self.folder / "p.h5").read_bytes(), parameters, "parameters take the place of parameters")

    def test_a_full_disk(self):
        place = self.mount_small_tmpfs(64 << 10)
        self.check(place / "p.h5", 5)
        self.assertEqual(list(place.iterdir()), [], "half a file is left behind")


if __name__ == "__main__":
    cli.main()
