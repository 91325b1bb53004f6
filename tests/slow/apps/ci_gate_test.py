"""docs/integration/ci_gate.sh, which measures two revisions."""

import os
import shutil
import subprocess

import ranklab_cli as cli
import results_files as made
from ranklab_cli import RANKLAB, SOURCE, Case

GATE = SOURCE / "docs" / "integration" / "ci_gate.sh"


class Gate(Case):
    """The script on a repository with two revisions; the second writes slowly."""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        self.git("init", "--quiet")
        self.commit(f'exec "{RANKLAB}" "$@"\n', "fast")

    def git(self, *words):
        env = dict(os.environ, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)
        who = ("-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "safe.directory=*")
        subprocess.run(["git", *who, *words], cwd=self.repository, env=env, check=True, capture_output=True)

    def commit(self, program, message):
        """Commits a revision whose program is that shell script; its build is a copy."""
        (self.repository / "program.sh").write_text("#!/bin/bash\n" + program)
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", message)

    def gate(self, *words, measured=("io", "--strategy", "binary", "--files", 2, "--size", 8, "-i", 2, "--ceilings", "off")):
        build = ("--build", "install -D program.sh bin/ranklab", "--programs", "bin", "--work", self.folder / "work")
        return cli.run(GATE, *build, *words, "--", *measured, cwd=self.repository, timeout=120)

    def slow_writes(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        source, library = self.folder / "slow.c", self.folder / "slow.so"
        source.write_text("#include <sys/syscall.h>\n#include <sys/uio.h>\n#include <unistd.h>\n"
                          "ssize_t writev(int to, const struct iovec* parts, int count) {\n"
                          "  usleep(20000);\n  return syscall(SYS_writev, to, parts, count);\n}\n")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
        return library

    def test_a_slower_revision_fails_the_gate(self):
        self.commit(f'LD_PRELOAD="{self.slow_writes()}" exec "{RANKLAB}" "$@"\n', "slow")
        result = self.gate("--base", "HEAD~1", "--runs", 5, "--report", "report.md")
        self.assertCode(result, 4)
        self.assertRegex(result.stdout, r"(?m)^  job_time_s .* worse\b")
        self.assertIn("Gate failed", (self.repository / "report.md").read_text())
        with made.h5py.File(self.repository / "gate.h5") as file:
            labels = [run.attrs["label"] for run in file["runs"].values()]
        base, head = "gate-base", "gate-head"
        self.assertEqual(labels, [base, head, head, base, base, head, head, base, base, head])

    def test_what_cannot_be_measured_fails(self):
        self.commit("exit 9\n", "broken")
        self.assertIn("head", self.gate("--base", "HEAD~1").stderr)
        (self.repository / "gate.h5").unlink(missing_ok=True)
        for words, code, said in ((("--base", "nothing"), 2, "nothing is not a revision"), ((), 2, "--base"), (("--base", "HEAD", "--runs", "0"), 2, "--runs 0"),
                                  (("--base", "HEAD", "--build", "false"), 1, "could not be built"), (("--bose", "HEAD"), 2, "--bose")):
            result = self.gate(*words)
            self.assertCode(result, code)
            self.assertIn(said, result.stderr)
        (self.repository / "gate.h5").write_text("")
        self.assertIn("gate.h5", self.gate("--base", "HEAD").stderr)


if __name__ == "__main__":
    cli.main()
