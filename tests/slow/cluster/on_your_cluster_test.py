"""docs/tutorials/on_your_cluster.md on two hosts: a user who owns only a home folder types its commands on the login node.

Modules are a shell function, GPUs are entries in slurm.conf. ./bootstrap searches and configures; in place of compiling it copies this
build, unless RANKLAB_TEST_COMPILE=1 (10 minutes).
"""

import ctypes
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import hosts
from hosts import cli
from stored_runs import stored_runs

sys.path.append(str(cli.SOURCE / "tests" / "apps"))
from tutorials_test import FENCE, missing_lines  # noqa: E402

PAGE = cli.SOURCE / "docs" / "tutorials" / "on_your_cluster.md"
USER = 65533
COMPILES = os.environ.get("RANKLAB_TEST_COMPILE") == "1"
TORCH, BUILT = pathlib.Path("/mnt"), pathlib.Path("/srv")  # the site's PyTorch and this build, mounted here for this process only
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
NINJA = f"""#!/bin/sh
case "$*" in *programs*) mkdir -p lib && cp -r {BUILT}/bin . && exec cp {BUILT}/lib/*.so lib ;; esac
exec {shutil.which("ninja")} "$@"
"""
FITTED = (
    (r"\bsbatch ", "sbatch --wait "),
    (r"=DIR\b", "=/nonexistent"),
    # Two small nodes without a GPU: the launch is right, and NCCL ends with exit code 5.
    (r"(jobscripts/gpu\.slurm.*)", r"--cpus-per-task=1 \1 || test $? = 5"),
)


def mount(source, target, flags):
    cli._mount(source, target, None, flags, None)


class OnYourCluster(hosts.Case):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-user-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.own_mounts()
        super().setUpClass()
        for folder in (cls.place, cls.shared): folder.chmod(0o755)
        cls.make_home()

    @classmethod
    def own_mounts(cls):
        """Slurm looks each user up, so that /etc/passwd has one more for this process and its children; they see TORCH and BUILT, too."""
        if cli._libc.unshare(ctypes.c_int(CLONE_NEWNS)) != 0: cli.skip("this machine allows no mount namespace")
        mount("none", "/", MS_REC | MS_PRIVATE)
        for name, line in (("passwd", f"ada:x:{USER}:{USER}::{cls.place}/home:/bin/bash\n"), ("group", f"ada:x:{USER}:\n")):
            (cls.place / name).write_text(pathlib.Path("/etc", name).read_text() + line)
            mount(cls.place / name, f"/etc/{name}", cli.MS_BIND)
        linked = cli.run("ldd", cli.BIN / "ranklab-train").stdout
        torch = pathlib.Path(re.search(r"libtorch_cpu\.so => (/\S+)", linked).group(1)).parents[2]
        for source, target in ((torch, TORCH), (cli.BIN.parent, BUILT)):
            mount(source, target, cli.MS_BIND)
            mount(source, target, cli.MS_BIND | cli.MS_REMOUNT | cli.MS_RDONLY)

    @classmethod
    def make_home(cls):
        cls.home, tools = cls.place / "home", cls.place / "tools"
        cls.repo = cls.home / "ranklab"
        shutil.copytree(cli.SOURCE, cls.repo, ignore=shutil.ignore_patterns("build", ".git"))
        tools.mkdir()
        cls.env = {name: value for name, value in cls.env.items() if name.startswith("OMPI_MCA_") or name == "SLURM_CONF"}
        cls.env |= {"HOME": cls.home, "USER": "ada", "RANKLAB_TORCH_ROOT": TORCH / "torch", "PATH": f"{tools}:/usr/bin:/bin"}
        if not COMPILES:
            (tools / "ninja").write_text(NINJA)
            (tools / "ninja").chmod(0o755)
            cls.env["LD_LIBRARY_PATH"] = ":".join(map(str, (TORCH / "torch" / "lib", *TORCH.glob("nvidia/*/lib"))))
        for path in (cls.home, *cls.home.rglob("*")): os.chown(path, USER, USER, follow_symlinks=False)

    def as_user(self, script):
        become = ("setpriv", "--reuid", USER, "--regid", USER, "--init-groups", "env", "-i", *(f"{name}={value}" for name, value in self.env.items()))
        return cli.run(*become, "bash", "-ec", script, cwd=self.repo, timeout=7200 if COMPILES else 400)

    def test_all_commands(self):
        blocks = FENCE.findall(PAGE.read_text())
        script = "module() { :; }\n"
        for number, (kind, block) in enumerate(blocks):
            block = re.sub(r"\\\n\s*", "", block)
            for pattern, words in FITTED: block = re.sub(pattern, words, block)
            script += f"echo '=== {number} ==='\n" + (block if kind.startswith("sh") else "")
        result = self.as_user(script + "salloc -n 2 mpirun -n 2 ranklab doctor\n")
        self.assertCode(result, 0)
        shown = re.split(r"^=== \d+ ===\n", result.stdout, flags=re.MULTILINE)[1:]
        self.assertEqual(len(shown), len(blocks))
        for number, (kind, block) in enumerate(blocks):
            if kind == "text": self.assertEqual(missing_lines(block, shown[number - 1]), [], shown[number - 1])
        runs = [run for run in stored_runs(self.repo / "results" / "ranklab.h5") if run.rows]
        self.assertEqual([(run.attrs["command"], [host["host"] for host in run.hosts], run.attrs["valid"]) for run in runs],
                         [("comm", ["n1", "n2"], 1), ("train", ["n1", "n2"], 1)])
        jobs = [path.read_text() for path in sorted(self.repo.glob("slurm-*.out"))]
        self.assertEqual(["finds no GPU" in text for text in jobs], [False, False, True, True], "\n".join(jobs))
        self.assertEqual(len(json.loads((self.repo / "doctor.json").read_text())["ranks"]), 2)
        self.assertEqual({path.lstat().st_uid for path in self.home.rglob("*")}, {USER})


if __name__ == "__main__":
    hosts.main()
