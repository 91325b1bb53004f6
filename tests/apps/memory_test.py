"""Work that needs more memory than the hosts have left is refused before it starts, with both figures. The hosts' files are made up."""

import os
import re

import ranklab_cli as cli
from ranklab_cli import ranklab

MIB = 1 << 20
REFUSED = {"train": ("train", "--model", "template-softmax", "--data", "synthetic", "--batch-size", 9000, "--steps", 2, "--threads", 1, "--evaluate", "off"),
           "io": ("io", "--strategy", "process-pool", "--workers", 2, "-n", 2, "-s", 2000), "data": ("data", "make", "cosmology", "--edge", 1500),
           "comm": ("comm", "--op", "allreduce", "--sizes", "32M", "-n", 1)}
if not cli.HAS_TRAIN: del REFUSED["train"]


class Memory(cli.Case):
    def run_in(self, mebibytes, *words, ranks=1, cgroup=None):
        """Runs ranklab on a host that has so much free memory, perhaps in a cgroup of version 1 or 2."""
        root = self.folder / "root"
        proc = root / "proc" / "self"
        proc.mkdir(parents=True, exist_ok=True)
        (root / "proc" / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {mebibytes * 1024 if cgroup is None else 99999999} kB\n")
        place, limit, used = {2: ("sys/fs/cgroup", "memory.max", "memory.current"),
                              1: ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")}[cgroup or 2]
        if cgroup is not None:
            (proc / "cgroup").write_text("0::/job\n" if cgroup == 2 else "3:memory:/job\n")
            (root / place / "job").mkdir(parents=True)
            (root / place / "job" / limit).write_text(f"{(mebibytes + 100) * MIB}\n")
            (root / place / "job" / used).write_text(f"{100 * MIB}\n")
        env = cli.environment(RANKLAB_SYSTEM_ROOT=root)
        return ranklab(*words, *(() if words[0] == "data" else ("--output", "none")), ranks=ranks, cwd=self.folder, env=env)

    def assertRefused(self, result, free):
        self.assertSays(result, 5, f"{free:.1f} MiB is free", "--edge" if "data" in result.command else "--force")
        need = re.search(r"need ([\d.]+) MiB of memory", result.stderr)
        self.assertIsNotNone(need, str(result))
        self.assertGreater(float(need.group(1)), free)
        return float(need.group(1))

    def test_too_little_is_refused_and_named(self):
        for name, words in REFUSED.items():
            with self.subTest(name):
                need = self.assertRefused(self.run_in(40, *words), 40)
                self.assertCode(self.run_in(40, *words, "--dry-run"), 0)
                if name != "data": self.assertCode(self.run_in(40, *words, "--force"), 0)
                if name != "data": self.assertCode(self.run_in(need + 1, *words), 0)

    def test_the_ranks_of_a_host_are_summed(self):
        words = REFUSED["comm"]
        self.assertCode(self.run_in(200, *words), 0)
        self.assertAlmostEqual(self.assertRefused(self.run_in(200, *words, ranks=2), 200), 256, delta=1)

    def test_cgroups_limit_it(self):
        for version in (1, 2):
            with self.subTest(version=version):
                self.assertRefused(self.run_in(40, *REFUSED["io"], cgroup=version), 40)

    @cli.needs_train
    def test_a_batch_larger_than_the_data_is_refused(self):
        words = ("--train-samples", 50, "--steps", 2, "--evaluate", "off", "--output", "none")
        self.assertCode(cli.train(*words, "--batch-size", 50, cwd=self.folder), 0)
        self.assertSays(cli.train(*words, "--batch-size", 51, cwd=self.folder), 2, "samples, 50", "--batch-size")
        self.assertSays(cli.train(*words, "--global-batch-size", 52, ranks=2, cwd=self.folder), 2, "52", "--global-batch-size")
        result = cli.train(*words, "--batch-size", 26, "--json", ranks=2, cwd=self.folder)
        self.assertCode(result, 0)
        self.assertIn("52, exceeds the 50 samples", result.stdout)
        self.assertFalse(os.path.exists(self.folder / "results"))


if __name__ == "__main__":
    cli.main()
