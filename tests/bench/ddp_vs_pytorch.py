"""Compares `ranklab train --mode ddp` with PyTorch's DistributedDataParallel on equal images, in alternating rounds. A benchmark, not a
test: read README.md before comparing machines.

  ddp_vs_pytorch.py [--rounds 7] [--steps 200] [--ranks 2] [--sync bucketed] [--peer FILE] [--json FILE]

Run it with the Python of ./bootstrap (torch, numpy, h5py). It has no target.
"""

import gzip
import os
import pathlib
import re
import shlex
import sys
import tempfile

import h5py

import paired

IDX_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
LR, WARMUP = 0.05, 10
SIDES = {
    "A": "ranklab; it sets glibc's mmap and trim thresholds to 1 GiB itself (mallopt)",
    "B": "the peer as it is, with glibc's defaults",
    "B'": "the peer with thresholds of 1 GiB by environment: as A",
}


def unpack(data_dir, folder):
    """Unpacks the idx files into a folder, as peers read them."""
    for name in IDX_FILES:
        packed = data_dir / f"{name}.gz"
        content = gzip.decompress(packed.read_bytes()) if packed.exists() else (data_dir / name).read_bytes()
        (folder / name).write_bytes(content)


def ranklab_words(args, folder):
    return ["--model", "mnist-cnn", "--data", "fashion-mnist", "--data-dir", folder, "--mode", "ddp", "--sync", args.sync, "--optimizer", "sgd", "--lr", LR,
            "--batch-size", args.batch_size, "--threads", args.threads, "--steps", args.steps, "--warmup", WARMUP, *shlex.split(args.ranklab_options)]


def peer_command(args, folder):
    # torchrun as a module, since the venv's scripts may be missing. Port 0: a free one.
    return [sys.executable, "-m", "torch.distributed.run", "--nnodes", 1, "--nproc_per_node", args.ranks, "--rdzv_backend", "c10d", "--rdzv_endpoint", "127.0.0.1:0",
            args.peer, "--steps", args.steps, "--batch", args.batch_size, "--threads", args.threads, "--data", folder]


def run_ranklab(args, folder):
    output = paired.ranklab_train(args.launcher, args.ranklab, ranklab_words(args, folder), paired.environment(args.threads), folder)
    with h5py.File(output) as file:
        seconds = paired.seconds_after_warmup(paired.last_run(file))
    output.unlink()
    return args.steps * args.batch_size * args.ranks / seconds


def run_peer(args, folder, allocator):
    # Names the loopback interface: gloo would look up this machine's name, which may take seconds.
    env = dict(paired.environment(args.threads, allocator), GLOO_SOCKET_IFNAME="lo")
    stdout = paired.run(peer_command(args, folder), env)
    found = re.search(rf"ranks {args.ranks} samples/s ([\d.]+)", stdout)
    if not found:
        sys.exit(f"{args.peer} did not print `... ranks {args.ranks} samples/s X`, but:\n{stdout}")
    return float(found.group(1))


def parse():
    parser = paired.parser(__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32, help="per rank")
    parser.add_argument("--sync", default="bucketed")
    parser.add_argument("--ranklab-options", default="", metavar="WORDS", help="more words for ranklab train, as one argument")
    parser.add_argument("--launcher", type=shlex.split, metavar="WORDS", help="how ranklab is started (default: mpirun -n RANKS)")
    parser.add_argument("--peer", type=pathlib.Path, default=paired.HERE / "pytorch_ddp_mnist.py",
                        help="another PyTorch script that takes --data --steps --batch --threads and prints `... ranks N samples/s X`")
    parser.add_argument("--data-dir", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist", help="folder of the four idx files, packed or not")
    args = parser.parse_args()
    args.launcher = args.launcher or ["mpirun", "-n", args.ranks]
    return args


def report(args, rates, commands):
    ratios = {f"A/{side}": [a / b for a, b in zip(rates["A"], rates[side])] for side in ("B", "B'")}
    print()
    for side, values in rates.items():
        print(f"{side:<4} {paired.shown(values, 1)} samples/s")
    for name, values in ratios.items():
        print(f"{name:<4} {paired.shown(values)}: median of the rounds' ratios")
    print(f"# load {os.getloadavg()[0]:.2f} at the end")
    paired.write_json(args.json, {"benchmark": "ddp_vs_pytorch", "ranks": args.ranks, "threads": args.threads, "batch_size": args.batch_size, "steps": args.steps,
                                  "commands": commands, "samples_per_s": {side: paired.summary(values) for side, values in rates.items()},
                                  "ratios": {name: paired.summary(values) for name, values in ratios.items()}})


def main():
    args = parse()
    with tempfile.TemporaryDirectory(prefix="ranklab-bench-") as scratch:
        folder = pathlib.Path(scratch)
        unpack(args.data_dir, folder)
        commands = {"A": shlex.join(map(str, [*args.launcher, args.ranklab, "train", *ranklab_words(args, folder)])),
                    "B": shlex.join(map(str, peer_command(args, folder)))}
        commands["B'"] = " ".join(f"{name}={value}" for name, value in paired.ALLOCATOR.items()) + " " + commands["B"]
        for side, what in SIDES.items():
            print(f"# {side}: {what}\n#    {commands[side]}")
        print(f"# load {os.getloadavg()[0]:.2f} at the start\n\nround  " + "".join(f"{side + ' samples/s':>15}" for side in SIDES) + "     A/B    A/B'")

        def measure(side):
            return run_ranklab(args, folder) if side == "A" else run_peer(args, folder, side == "B'")

        def show_round(number, found):
            last = [found[side][-1] for side in SIDES]
            print(f"{number + 1:>5}  " + "".join(f"{value:>15.1f}" for value in last) + "".join(f"{last[0] / value:>8.3f}" for value in last[1:]), flush=True)

        rates = paired.in_turn(SIDES, args.rounds, measure, show_round)
    report(args, rates, commands)


if __name__ == "__main__":
    main()
