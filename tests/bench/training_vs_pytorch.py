"""Compares `ranklab train` with eager PyTorch on one repeated batch of random numbers: both memory formats on both sides, and both --ops of
ranklab, in alternating rounds. A benchmark, not a test: read README.md before comparing machines.

  training_vs_pytorch.py [--model mnist-cnn,resnet50,unet3d] [--rounds 7] [--threads 2] [--json FILE]

Run it with the Python of ./bootstrap (torch, numpy, h5py). The time is the median step after the warm-up: forward, backward and
optimizer, without input. Exit code 4 if a target is missed.
"""

import json
import os
import sys

import paired

# (options of both sides; steps; target of ranklab's best over PyTorch's best)
MODELS = {
    "mnist-cnn": (["--batch-size", 64], 30, 1.6),
    "resnet50": (["--batch-size", 8, "--image-size", 96], 5, 1.0),
    "unet3d": (["--batch-size", 2, "--width", 4], 4, 1.15),
}
OURS = {f"ranklab {ops} {layout}": (ops, layout) for ops in ("ranklab", "libtorch") for layout in ("contiguous", "channels-last")}
# PyTorch by default, and with ranklab's allocator settings.
PYTORCH = {"pytorch as-is": (False, False), "pytorch contiguous": (False, True), "pytorch channels-last": (True, True)}
AS_IS = "pytorch as-is"


def measure(args, model, side):
    words, steps, _ = MODELS[model]
    words = ["--model", model, *words, "--steps", steps, "--warmup", 2]
    if side in PYTORCH:
        channels_last, allocator = PYTORCH[side]
        command = [sys.executable, paired.HERE / "pytorch_eager.py", *words, "--threads", args.threads, *(["--channels-last"] if channels_last else [])]
        return json.loads(paired.run(command, paired.environment(args.threads, allocator)))["step_s"]
    ops, layout = OURS[side]
    words += ["--data", "synthetic", "--input", "synthetic", "--mode", "single", "--ops", ops, "--memory-format", layout]
    return paired.median_step_s(args, words)


def best(found, sides):
    return min(sides, key=lambda side: paired.median(found[side]))


def ratio(found, of, to):
    """Returns the speedup of `to` over `of` in each round."""
    return [a / b for a, b in zip(found[of], found[to])]


def show_round(number, found):
    print(f"# round {number + 1}: " + ", ".join(f"{side} {times[-1] * 1e3:.0f} ms" for side, times in found.items()), flush=True)


def judge(model, found, answer):
    """True if the target is reached."""
    ours, theirs, goal = best(found, OURS), best(found, PYTORCH), MODELS[model][2]
    for side, times in found.items():
        print(f"{model:10} {side:24} {paired.shown(times, 2, 1e3)} ms   {paired.median(ratio(found, AS_IS, side)):.2f} x as fast as {AS_IS}")
    against = {"best over best": ratio(found, theirs, ours), "best over as-is": ratio(found, AS_IS, ours)}
    for name, values in against.items():
        print(f"{model:10} {name:24} {paired.shown(values, 2)}")
    reached = paired.median(against["best over best"]) >= goal
    print(f"{model:10} ours: {ours}; PyTorch's: {theirs}; the goal {goal} is {'reached' if reached else 'MISSED'}\n", flush=True)
    answer[model] = {side: paired.summary(times) for side, times in found.items()} | {name: paired.summary(values) for name, values in against.items()}
    return reached


def parse():
    parser = paired.parser(__doc__, threads=2)
    parser.add_argument("--model", default=",".join(MODELS), help="names, separated by commas")
    return parser.parse_args()


def main():
    args = parse()
    answer = {}
    print(f"# {args.threads} threads, fp32, {args.rounds} rounds; load {os.getloadavg()[0]:.2f} at the start")
    sides = [*OURS, *PYTORCH]
    reached = [judge(model, paired.in_turn(sides, args.rounds, lambda side, model=model: measure(args, model, side), show_round), answer) for model in args.model.split(",")]
    paired.write_json(args.json, answer)
    return 0 if all(reached) else 4


if __name__ == "__main__":
    sys.exit(main())
