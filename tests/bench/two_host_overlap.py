"""Does the overlap pay on a network? Two hosts of tests/cluster under Slurm, their links slowed to 1 Gbit/s: `--sync flat` against
`bucketed` and `none` in alternating rounds. A benchmark, not a test; needs root and what tests/support/two_hosts.sh names.

  two_host_overlap.py [--rate 1gbit] [--rounds 7] [--steps 40] [--batch-size 64] [--progress none|poll|thread] [--json FILE]

Both hosts' ranks run on this machine's cores: with fewer than two that are free, what is measured is the scheduler.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import paired
import sync_strategies

TWO_HOSTS = paired.HERE.parent / "cluster" / "two_hosts.sh"


def main():
    parser = paired.parser(__doc__)
    sync_strategies.add_options(parser)
    parser.set_defaults(model="mnist-cnn", batch_size=64, sync="flat,bucketed,none", steps=40)
    parser.add_argument("--rate", default="1gbit", help="of each host's link, as tc writes it; none for no limit")
    args = parser.parse_args()
    if args.ranks % 2:
        parser.error("--ranks must be even: half of them run on each host")
    args.ranklab = args.ranklab.resolve()
    if args.ranklab.is_relative_to("/tmp"):
        parser.error(f"{args.ranklab} is under /tmp, which each host hides behind its own: copy the programs' folder, and name them with --ranklab")
    args.json = args.json and args.json.resolve()
    args.launcher = ["srun", "-N2", f"-n{args.ranks}", "--mpi=pmix", "--overcommit"]

    # Not /tmp, which each host hides behind its own.
    with tempfile.TemporaryDirectory(prefix="ranklab-bench-", dir="/var/tmp") as scratch:
        hosts = pathlib.Path(scratch) / "hosts"
        args.scratch = pathlib.Path(scratch)
        os.chdir(scratch)  # where srun starts the ranks
        if subprocess.run([TWO_HOSTS, "up", hosts], check=False).returncode != 0:
            return 77
        try:
            subprocess.run([TWO_HOSTS, "shape", hosts, args.rate], check=True)
            os.environ["SLURM_CONF"] = str(hosts / "slurm.conf")
            print(f"# two hosts on this machine, each link {args.rate}")
            sync_strategies.compare(args)
        finally:
            subprocess.run([TWO_HOSTS, "down", hosts], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
