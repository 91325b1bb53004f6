"""What --jit gains: `ranklab train` eager and traced in alternating rounds of one run. A benchmark, not a test: read README.md before comparing
machines.

  jit_vs_eager.py [--rounds 7] [--steps 40] [--model mnist-cnn,bn-cnn] [--batch-size 64] [--threads 1] [--json FILE]

Run it with the Python of ./bootstrap (numpy, h5py). The time is the median step after the warm-up, in which the graph is traced, profiled and
optimised; the ratio is eager / traced of the same round: above 1 tracing gains.
"""

import paired

SIDES = {"eager": [], "jit": ["--jit"]}


def measure(args, model, side):
    words = ["--model", model, "--data", "synthetic", "--batch-size", args.batch_size, "--steps", args.steps, "--warmup", 10, *SIDES[side]]
    return paired.median_step_s(args, words)


def parse():
    parser = paired.parser(__doc__)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--model", default="mnist-cnn,bn-cnn", help="names, separated by commas")
    parser.add_argument("--batch-size", type=int, default=64)
    return parser.parse_args()


def main():
    args = parse()
    answer = {}
    for model in args.model.split(","):
        found = paired.in_turn(SIDES, args.rounds, lambda side, model=model: measure(args, model, side))
        ratios = [eager / jit for eager, jit in zip(found["eager"], found["jit"])]
        answer[model] = {**{side: paired.summary(times) for side, times in found.items()}, "eager/jit": paired.summary(ratios)}
        for side, times in found.items():
            print(f"{model:12} {side:6} step {paired.shown(times, 2, 1e3)} ms")
        print(f"{model:12} eager / jit  {paired.shown(ratios)}")
    paired.write_json(args.json, answer)


if __name__ == "__main__":
    main()
