"""Compares `ranklab train --model llama-debug` with the same network in PyTorch, eager and compiled, with fused AdamW, rms_norm and SDPA, in
alternating rounds on one repeated batch. A benchmark, not a test: read README.md before comparing machines.

  language_vs_pytorch.py [--rounds 7] [--threads 2] [--batch-size 8] [--length 256] [--allocator] [--json FILE]

Run it with the Python of ./bootstrap (torch, h5py); torch.compile needs a C++ compiler and the packages jinja2, networkx and filelock. The time is
the median step after the warm-up. --allocator gives PyTorch ranklab's allocator settings, too.
Exit code 4 if a target is missed.
"""

import json
import statistics
import sys
import time

import paired

GOALS = {"eager": 1.05, "compile": 0.95}  # of ranklab's rate over PyTorch's


def pytorch(args):
    """One side, in a process of its own: prints the median step in seconds."""
    sys.path.append(str(paired.HERE.parent / "gpu"))
    import language_twins
    import torch
    from torch.nn import functional as F

    language_twins.fast(args.length, 16)
    torch.set_num_threads(args.threads)
    _, make = language_twins.TWINS["llama-debug"]
    net = make(args.length)
    optimizer = language_twins.adamw(net.parameters(), lr=8e-4, fused=True)
    step_of = torch.compile(net) if args.side == "compile" else net
    tokens = torch.randint(0, 2048, (args.batch_size, args.length + 1))
    times = []
    for _ in range(args.steps + 3):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = F.cross_entropy(step_of(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
    print(json.dumps({"step_s": statistics.median(times[3:])}))


def measure(args, side):
    if side == "ranklab":
        return paired.median_step_s(args, ["--model", "llama-debug", "--sequence-length", args.length, "--batch-size", args.batch_size, "--data", "synthetic",
                                           "--input", "synthetic", "--mode", "single", "--steps", args.steps, "--warmup", 3, "--peak-tflops", 1])
    command = [sys.executable, __file__, "--side", side, "--threads", args.threads, "--batch-size", args.batch_size, "--length", args.length, "--steps", args.steps]
    return json.loads(paired.run(command, paired.environment(args.threads, args.allocator)))["step_s"]


def main():
    parser = paired.parser(__doc__, threads=2)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--allocator", action="store_true", help="PyTorch with ranklab's allocator settings")
    parser.add_argument("--side", choices=GOALS, help="internal: one side")
    args = parser.parse_args()
    if args.side:
        return pytorch(args)
    found = paired.in_turn(["ranklab", *GOALS], args.rounds, lambda side: measure(args, side), lambda number, so_far: print(
        f"# round {number + 1}: " + ", ".join(f"{side} {times[-1] * 1e3:.0f} ms" for side, times in so_far.items()), flush=True))
    missed, answer = 0, {}
    for side, goal in GOALS.items():
        ratios = [theirs / ours for theirs, ours in zip(found[side], found["ranklab"])]
        missed += paired.median(ratios) < goal
        print(f"ranklab over PyTorch {side:8} {paired.shown(ratios, 2)}; the goal is {goal}")
        answer[side] = paired.summary(ratios)
    paired.write_json(args.json, answer)
    return 4 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
