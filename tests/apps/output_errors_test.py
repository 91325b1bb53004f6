"""Outputs that cannot be written are refused before the work, and existing files stay unchanged. One rank: tests/refusals/train.json; disks
that fill during the work: tests/slow/apps/full_disk_test.py."""

import ranklab_cli as cli
from ranklab_cli import Case, ranklab, train

cli.need_train()
(h5py,) = cli.modules("h5py")


class RefusedOutputTest(Case):
    def refused(self, code, *parts, output, ranks=1):
        """Checks the exit code and the message, and that no work was done."""
        result = train("--steps", 5, "--output", output, ranks=ranks, cwd=self.folder)
        self.assertSays(result, code, *parts)
        self.assertNotIn("Img/sec", result.stdout)

    def store_a_run(self, output):
        self.assertCode(train("--steps", 3, "--evaluate", "off", "--output", output, cwd=self.folder), 0)
        return (self.folder / output).read_bytes()

    def test_a_read_only_folder(self):
        (self.folder / "protected").mkdir()
        before = self.store_a_run("protected/r.h5")
        self.make_read_only(self.folder / "protected")
        self.refused(5, "protected", "--output", output="protected/new.h5", ranks=3)
        self.refused(5, "protected", "--output", output="protected/r.h5")
        self.assertEqual((self.folder / "protected/r.h5").read_bytes(), before)
        self.assertCode(ranklab("report", "protected/r.h5", cwd=self.folder), 0)  # report does not write
        self.assertSays(train("--steps", 2, "--output", "none", "--save-parameters", "protected/p.h5", cwd=self.folder), 5, "protected/p.h5")

    def test_what_is_no_results_file_is_left_as_it_is(self):
        good = self.store_a_run("good.h5")
        with h5py.File(self.folder / "schema.h5", "w") as file:
            file.attrs["ranklab_schema"] = 999
            file.create_group("runs")
        (self.folder / "cut.h5").write_bytes(good[: len(good) // 2])
        for name, part, ranks in (("schema.h5", "999", 3), ("cut.h5", "damaged", 1)):
            content = (self.folder / name).read_bytes()
            self.refused(3, name, part, output=name, ranks=ranks)
            self.assertEqual((self.folder / name).read_bytes(), content, "the file was changed")
            self.assertSays(ranklab("report", name, cwd=self.folder), 3, name, part)

    def test_a_full_disk(self):
        place = self.mount_small_tmpfs(128 << 10)
        self.refused(5, place, "no room", "--output", output=place / "r.h5", ranks=3)
        self.assertEqual([p.name for p in place.iterdir()], [], "nothing is left on the full disk")

    def test_a_run_is_stored_though_nobody_reads_the_screen(self):
        cli.run("sh", "-c", 'exec "$0" train --model template-softmax --steps 3 --output r.h5 >/dev/full', cli.RANKLAB, cwd=self.folder)
        with h5py.File(self.folder / "r.h5") as file:
            self.assertEqual(len(file["runs"]), 1)
        self.assertSays(cli.run("sh", "-c", 'exec "$0" report r.h5 >/dev/full', cli.RANKLAB, cwd=self.folder), 5, "stdout")


if __name__ == "__main__":
    cli.main()
