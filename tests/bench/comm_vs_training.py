"""Compares `ranklab comm --from-model` with the communication time of `ranklab train --sync flat` for equal gradients, in alternating
rounds. A benchmark, not a test: read README.md before comparing machines.

  comm_vs_training.py [--model resnet50] [--rounds 7] [--ranks 2] [--bind-to core] [--steps 12] [--json FILE]

train: the median over steps of `transfer_s` in the table `communication`, from the arrival of the last rank to the finished sum. comm:
the median over passes of the sum over buckets. Images are small, since only gradients matter.
"""

import json
import os
import pathlib
import tempfile

import paired

WARMUP = 3


def run_json(args, words):
    with tempfile.TemporaryDirectory() as folder:
        launcher = ["mpirun", "-n", args.ranks, "--bind-to", args.bind_to]
        output = paired.run([*launcher, args.ranklab, *words, "--threads", args.threads, "--warmup", WARMUP, "--quiet", "--json", "--output",
                             pathlib.Path(folder) / "r.h5"], paired.environment(args.threads))
    return json.loads(output)["runs"][0]


def train(args):
    run = run_json(args, ["train", "--model", args.model, "--data", "synthetic", "--image-size", args.image_size, "--batch-size", 2, "--optimizer", "sgd",
                          "--lr", 1e-4, "--sync", "flat", "--steps", args.steps, "--evaluate", "off"])
    table = run["tables"]["communication"]
    return sum(table["bytes"]), sum(table["transfer_s"])


def comm(args):
    run = run_json(args, ["comm", "--from-model", args.model, "-n", args.steps])
    seconds = next(row["median"] for row in run["measurements"] if row["name"] == "buckets_time_s")
    return sum(run["tables"]["buckets"]["bytes"]), seconds


SIDES = {"comm": comm, "train": train}


def measure(args, side):
    moved, seconds = SIDES[side](args)
    if args.bytes not in (None, moved):
        raise SystemExit(f"{side} reduces {moved} bytes, the other side {args.bytes}: these are not the same gradients")
    args.bytes = moved
    return seconds


def main():
    parser = paired.parser(__doc__)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bind-to", default="core", help="what mpirun binds a rank to, on both sides")
    parser.add_argument("--steps", type=int, default=12, help="and passes over the buckets")
    parser.add_argument("--image-size", type=int, default=32)
    parser.set_defaults(bytes=None)
    args = parser.parse_args()
    print(f"# load {os.getloadavg()[0]:.2f} at the start\n\nround     comm ms    train ms    ratio")

    def show_round(number, found):
        mine, theirs = found["comm"][-1], found["train"][-1]
        print(f"{number + 1:>5}{mine * 1e3:>12.2f}{theirs * 1e3:>12.2f}{mine / theirs:>9.3f}", flush=True)

    found = paired.in_turn(SIDES, args.rounds, lambda side: measure(args, side), show_round)
    ratios = [a / b for a, b in zip(found["comm"], found["train"])]
    print(f"\n{args.bytes} bytes a step\ncomm / train {paired.shown(ratios)}   (wanted: 0.85 .. 1.15)\n# load {os.getloadavg()[0]:.2f} at the end")
    paired.write_json(args.json, {"benchmark": "comm_vs_training", "model": args.model, "ranks": args.ranks, "bytes": args.bytes,
                                  **{side: paired.summary(values) for side, values in found.items()}, "ratio": paired.summary(ratios)})
    return 0 if abs(paired.median(ratios) - 1) <= 0.15 else 4


if __name__ == "__main__":
    raise SystemExit(main())
