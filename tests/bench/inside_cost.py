"""The cost of monitoring, tracing and profiling: the median step of mnist-cnn on two ranks with --monitor, --trace (all steps),
--profile layers and --profile lines, each over the plain step, in alternating rounds."""

import pathlib
import tempfile

import paired

WORDS = ("--model", "mnist-cnn", "--data", "synthetic", "--steps", 60, "--warmup", 6, "--batch-size", 32, "--optimizer", "sgd", "--lr", 0.01, "--overlap-steps", 0,
         "--threads", 1)
SIDES = {"off": (), "off again": (), "monitor": ("--monitor", 1), "trace": ("--trace-window", "7:60"), "layers": ("--profile", "layers"), "lines": ("--profile", "lines")}


def main():
    import h5py
    import numpy as np

    args = paired.parser(__doc__, rounds=10).parse_args()
    with tempfile.TemporaryDirectory() as folder:

        def measure(side):
            more = ("--trace", pathlib.Path(folder) / "t.json") if side == "trace" else ()
            output = paired.ranklab_train(["mpirun", "-n", "2"], args.ranklab, [*WORDS, *SIDES[side], *more], paired.environment(1), folder)
            with h5py.File(output) as file:
                return float(np.median(paired.last_run(file)["samples/step_time_s"][()].max(axis=-1)))

        found = paired.in_turn(SIDES, args.rounds, measure)
    ratios = {side: [one / off for one, off in zip(found[side], found["off"])] for side in SIDES if side != "off"}
    for side, values in ratios.items():
        print(f"{side} / off: {paired.shown(values)}")
    paired.write_json(args.json, {side: paired.summary(values) for side, values in ratios.items()})


if __name__ == "__main__":
    main()
