"""mnist-cnn from a TorchScript file and the built-in one, with LibTorch's and with ranklab's operations: the median step of two ranks
on one batch, in alternating rounds."""

import pathlib
import tempfile

import paired
import torch

import own_networks

WORDS = ("--steps", 60, "--batch-size", 32, "--optimizer", "sgd", "--lr", 0.01, "--overlap-steps", 0, "--input", "synthetic", "--threads", 1)


class Cnn(torch.nn.Sequential):
    def __init__(self):
        nn = torch.nn
        super().__init__(nn.Conv2d(1, 32, 3), nn.ReLU(True), nn.Conv2d(32, 64, 3), nn.ReLU(True), nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
                         nn.Linear(9216, 128), nn.ReLU(True), nn.Dropout(0.5), nn.Linear(128, 10), nn.LogSoftmax(1))


def main():
    args = paired.parser(__doc__, rounds=12).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cnn.pt"
        own_networks.save(Cnn(), path, torch.zeros(2, 1, 28, 28))
        sides = {"file": ("--model", path, "--input-shape", "1x28x28", "--classes", 10, "--loss", "nll"),
                 "libtorch": ("--model", "mnist-cnn", "--data", "synthetic", "--ops", "libtorch"),
                 "ranklab": ("--model", "mnist-cnn", "--data", "synthetic")}

        def measure(side):
            import h5py
            import numpy as np

            output = paired.ranklab_train(["mpirun", "-n", "2"], args.ranklab, [*sides[side], *WORDS], paired.environment(1), folder)
            with h5py.File(output) as file:
                return float(np.median(paired.last_run(file)["samples/step_time_s"][()]))

        found = paired.in_turn(sides, args.rounds, measure)
    ratios = {side: [file / other for file, other in zip(found["file"], found[side])] for side in ("libtorch", "ranklab")}
    for side, values in ratios.items():
        print(f"step of the file / built-in with --ops {side}: {paired.shown(values)}")
    paired.write_json(args.json, {side: paired.summary(values) for side, values in ratios.items()})


if __name__ == "__main__":
    main()
