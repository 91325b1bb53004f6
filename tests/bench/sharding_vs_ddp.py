"""Compares `ranklab train --zero 1, 2, 3` with DDP (`--zero 0`), and with PyTorch's fully_shard over gloo, two ranks of one thread in alternating
rounds on one repeated batch. A benchmark, not a test: read README.md before comparing machines.

  sharding_vs_ddp.py [--workload llama-debug|resnet18] [--rounds 7] [--side 0 --side 3 ...] [--json FILE]

Run it with the Python of ./bootstrap (torch, numpy, h5py). The time is the median step after the warm-up. Exit code 4 if a target is missed.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time

import paired

RANKS, WARMUP = 2, 3
# Step over that of DDP, and rate over that of fully_shard, which keeps the gathered parameters until backward (fsdp-2) or not (fsdp-3).
MOST = {"1": 1.03, "2": 1.03, "3": 1.6}
LEAST = {("2", "fsdp-2"): 1.2, ("3", "fsdp-3"): 1.2}
WORKLOADS = {"llama-debug": ["--model", "llama-debug", "--sequence-length", 256, "--batch-size", 8, "--data", "synthetic"],
             "resnet18": ["--model", "resnet18", "--image-size", 32, "--batch-size", 32, "--data", "synthetic"]}


def network(workload):
    """Returns the network, its layers to shard, a batch, and the loss of its output."""
    import torch
    from torch.nn import functional as F

    if workload == "resnet18":
        from python_network import Block, resnet18

        net = resnet18()
        return net, [layer for layer in net if isinstance(layer, Block)], (torch.randn(32, 3, 32, 32), torch.randint(100, (32,))), F.cross_entropy
    sys.path.append(str(paired.HERE.parent / "gpu"))
    import language_twins

    language_twins.fast(256, 16)
    net = language_twins.TWINS["llama-debug"][1](256)
    tokens = torch.randint(0, 2048, (8, 257))
    return (net, [layer for layer in net.modules() if isinstance(layer, language_twins.LlamaBlock)], (tokens[:, :-1], tokens[:, 1:]),
            lambda output, targets: F.cross_entropy(output.flatten(0, 1), targets.flatten()))


def pytorch(args):
    """One rank of fully_shard under torchrun; rank 0 prints the median step in seconds."""
    import torch
    import torch.distributed as dist
    from torch.distributed.fsdp import fully_shard

    torch.set_num_threads(args.threads)
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    net, layers, (inputs, targets), loss_of = network(args.workload)
    mesh = dist.device_mesh.init_device_mesh("cpu", (RANKS,))
    for layer in [*layers, net]:
        fully_shard(layer, mesh=mesh, reshard_after_forward=args.peer == "fsdp-3")
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    times = []
    for _ in range(args.steps + WARMUP):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of(net(inputs), targets)
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
    if dist.get_rank() == 0:
        print("step " + json.dumps(statistics.median(times[WARMUP:])), flush=True)
    dist.barrier()
    os._exit(0)  # gloo's threads may abort a normal exit of Python


def measure(args, side):
    if side.startswith("fsdp"):
        # Names the loopback interface: gloo would look up this machine's name, which may take seconds.
        env = dict(paired.environment(args.threads, allocator=True), GLOO_SOCKET_IFNAME="lo")
        out = paired.run([sys.executable, "-m", "torch.distributed.run", "--nnodes", 1, "--nproc_per_node", RANKS, "--rdzv_backend", "c10d", "--rdzv_endpoint",
                          "127.0.0.1:0", __file__, "--peer", side, "--workload", args.workload, "--steps", args.steps, "--threads", args.threads], env)
        return float(next(line for line in out.splitlines() if line.startswith("step ")).split()[1])
    import h5py
    import numpy as np

    words = [*WORKLOADS[args.workload], "--input", "synthetic", "--optimizer", "adamw", "--overlap-steps", 0, "--mode", "ddp", "--threads", args.threads,
             "--steps", args.steps, "--warmup", WARMUP, "--zero", side, *args.ranklab_options.split()]
    output = paired.ranklab_train(["mpirun", "-n", RANKS], args.ranklab, words, paired.environment(args.threads), tempfile.gettempdir())
    with h5py.File(output) as file:
        # (steps, ranks): the slowest rank makes the step
        seconds = float(np.median(paired.last_run(file)["samples/step_time_s"][()].reshape(args.steps, -1).max(axis=1)))
    output.unlink()
    return seconds


def main():
    sides = ["0", *MOST, "fsdp-2", "fsdp-3"]
    parser = paired.parser(__doc__)
    parser.add_argument("--workload", choices=WORKLOADS, default="llama-debug")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--side", action="append", choices=sides, help="only these")
    parser.add_argument("--ranklab-options", default="", metavar="WORDS", help="more words for ranklab train, as one argument")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        return pytorch(args)
    found = paired.in_turn(args.side or sides, args.rounds, lambda side: measure(args, side), lambda number, so_far: print(
        f"# round {number + 1}: " + ", ".join(f"{side} {times[-1] * 1e3:.1f} ms" for side, times in so_far.items()), flush=True))
    missed, answer = 0, {"workload": args.workload, "step_s": {side: paired.summary(times) for side, times in found.items()}}

    def show(name, over, under, bound, is_most):
        nonlocal missed
        ratios = [a / b for a, b in zip(found[over], found[under])]
        missed += (paired.median(ratios) > bound) if is_most else (paired.median(ratios) < bound)
        print(f"{name} {paired.shown(ratios)}; {'at most' if is_most else 'at least'} {bound} is wanted")
        answer[name] = paired.summary(ratios)

    for stage, bound in MOST.items():
        if stage in found and "0" in found:
            show(f"step of stage {stage} over DDP's:", stage, "0", bound, True)
    for (stage, peer), bound in LEAST.items():
        if stage in found and peer in found:
            show(f"rate of stage {stage} over {peer}'s:", peer, stage, bound, False)
    paired.write_json(args.json, answer)
    return 4 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
