"""A network in a Python file and the same one as TorchScript: the median step of two ranks on one batch, in alternating rounds."""

import pathlib
import tempfile

import paired
import torch
from torch import nn

import own_networks

WORDS = ("--optimizer", "sgd", "--lr", 0.01, "--overlap-steps", 0, "--input", "synthetic", "--threads", 1, "--memory-format", "contiguous")


class Block(nn.Module):
    def __init__(self, enter, leave, stride):
        super().__init__()
        self.way = nn.Sequential(nn.Conv2d(enter, leave, 3, stride, 1, bias=False), nn.BatchNorm2d(leave), nn.ReLU(),
                                 nn.Conv2d(leave, leave, 3, 1, 1, bias=False), nn.BatchNorm2d(leave))
        straight = stride == 1 and enter == leave
        self.shortcut = nn.Identity() if straight else nn.Sequential(nn.Conv2d(enter, leave, 1, stride, bias=False), nn.BatchNorm2d(leave))

    def forward(self, x):
        return torch.relu(self.way(x) + self.shortcut(x))


def resnet18():
    layers, enter = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for leave, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(enter, leave, stride), Block(leave, leave, 1)]
        enter = leave
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 100))


class Layer(nn.Module):
    """One of GPT-2's: attention to earlier tokens, then an MLP, each after its norm."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.enter, self.leave = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))

    def forward(self, x):
        n, places, width = x.shape
        parts = self.enter(self.norm1(x)).view(n, places, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        x = x + self.leave(attended.transpose(1, 2).reshape(n, places, width))
        return x + self.mlp(self.norm2(x))


class Gpt2(nn.Module):
    def __init__(self, vocabulary=1000, places=64, width=192, heads=6, layers=4):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Parameter(0.02 * torch.randn(places, width))
        self.layers, self.norm = nn.Sequential(*(Layer(width, heads) for _ in range(layers))), nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        return self.head(self.norm(self.layers(self.tokens(tokens) + self.places))).transpose(1, 2)


# name: network, options, example
NETWORKS = {
    "resnet18": (resnet18, ("--input-shape", "3x64x64", "--classes", 100, "--batch-size", 8, "--steps", 40), torch.zeros(2, 3, 64, 64)),
    "gpt2": (Gpt2, ("--input-shape", "64:int64", "--target-shape", 64, "--classes", 1000, "--batch-size", 8, "--steps", 60), torch.zeros(2, 64, dtype=torch.long)),
}


def main():
    parser = paired.parser(__doc__, rounds=12)
    parser.add_argument("--network", choices=NETWORKS, action="append")
    args = parser.parse_args()
    results = {}
    for name in args.network or NETWORKS:
        network, shape, example = NETWORKS[name]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            torch.manual_seed(1)
            own_networks.save(network(), folder / "net.pt", example)
            here = str(pathlib.Path(__file__).resolve().parent)
            (folder / "net.py").write_text(f"import sys\n\nsys.path += [{here!r}, {str(pathlib.Path(own_networks.__file__).parent)!r}]\n"
                                           f"from python_network import NETWORKS\n\n\ndef model():\n    return NETWORKS[{name!r}][0]()\n")

            def measure(kind):
                import h5py
                import numpy as np

                output = paired.ranklab_train(["mpirun", "-n", "2"], args.ranklab, ["--model", folder / f"net.{kind}", *shape, *WORDS], paired.environment(1), folder)
                with h5py.File(output) as file:
                    return float(np.median(paired.last_run(file)["samples/step_time_s"][()]))

            found = paired.in_turn(("py", "pt"), args.rounds, measure)
        ratios = [python / script for python, script in zip(found["py"], found["pt"])]
        print(f"{name}: step in Python / TorchScript: {paired.shown(ratios)}")
        results[name] = paired.summary(ratios)
    paired.write_json(args.json, results)


if __name__ == "__main__":
    main()
