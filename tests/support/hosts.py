"""The base of the tests on two hosts: setUpClass starts the hosts, and they are always removed."""

import atexit
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TWO_HOSTS = HERE / "two_hosts.sh"
sys.path.insert(0, str(HERE.parent / "support"))
import ranklab_cli as cli  # noqa: E402


def main():
    """Skips without ranklab-train, root or Slurm, and prints the reason."""
    if not cli.HAS_TRAIN:
        print(f"SKIPPED: there is no ranklab-train in {cli.BIN}")
        sys.exit(77)
    check = subprocess.run([TWO_HOSTS, "check"], stderr=subprocess.PIPE, text=True, check=False)
    if check.returncode != 0:
        print(f"SKIPPED: {check.stderr.strip()}")
        sys.exit(77)
    cli.main()


class Case(cli.Case):
    @classmethod
    def setUpClass(cls):
        # Not under /tmp, since each host has its own; for the same reason programs there are copied.
        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="ranklab-hosts-", dir="/var/tmp"))
        atexit.register(cls.take_down)  # at any end of this process but kill -9
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        done = subprocess.run([TWO_HOSTS, "up", cls.shared / "hosts"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"the two hosts did not come up:\n{done.stderr}")
        cls.env = cli.environment(SLURM_CONF=cls.shared / "hosts" / "slurm.conf")
        if not cli.LAUNCHER.is_open_mpi:
            # else UCX shares memory, since both hosts are one machine, or takes the loopback
            cls.env |= {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"}
        cls.ranklab = cli.RANKLAB
        if cls.ranklab.is_relative_to("/tmp"):
            shutil.copytree(cli.BIN, cls.shared / "bin", symlinks=True)
            cls.ranklab = cls.shared / "bin" / "ranklab"

    @classmethod
    def tearDownClass(cls):
        cls.take_down()

    @classmethod
    def take_down(cls):
        if cls.shared.exists():
            subprocess.run([TWO_HOSTS, "down", cls.shared / "hosts"], stderr=subprocess.DEVNULL, check=False)
            shutil.rmtree(cls.shared, ignore_errors=True)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="job-", dir=self.shared))
        self.file = self.folder / "r.h5"
