"""Helpers of the oracles: ranklab's models made of PyTorch's modules, and images as PyTorch's examples read them.

Modules have the order in which ranklab registers them, so that one seed gives equal weights."""

import gzip
import pathlib
import struct

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")
MEAN, STD = 0.1307, 0.3081


class Net(nn.Module):
    """The network of PyTorch's basic MNIST example."""

    def __init__(self, dropout=False):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.dropout1 = nn.Dropout(0.25 if dropout else 0.0)
        self.dropout2 = nn.Dropout(0.5 if dropout else 0.0)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = self.dropout1(F.max_pool2d(x, 2)).flatten(1)
        return F.log_softmax(self.fc2(self.dropout2(F.relu(self.fc1(x)))), dim=1)


class BnCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, bias=False)
        self.bn2 = nn.BatchNorm2d(16)
        self.fc = nn.Linear(400, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)


class WideMlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(784, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
                                    nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 10), nn.LogSoftmax(1))

    def forward(self, x):
        return self.layers(x)


TWINS = {"mnist-cnn": Net, "bn-cnn": BnCnn, "wide-mlp": WideMlp}


def make_twin(model, seed, dtype):
    torch.manual_seed(seed)
    return TWINS[model]().to(dtype)


def read_idx(folder, stem):
    def content(name):
        packed = folder / f"{name}.gz"
        return gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()

    images, labels = content(f"{stem}-images-idx3-ubyte"), content(f"{stem}-labels-idx1-ubyte")
    n = struct.unpack(">I", labels[4:8])[0]
    return (torch.tensor(np.frombuffer(images, np.uint8, offset=16).reshape(n, 1, 28, 28)),
            torch.tensor(np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)))


def write_idx(folder, stem, images, labels):
    folder.mkdir(exist_ok=True)
    (folder / f"{stem}-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 0x803, len(labels), 28, 28) + images.numpy().tobytes())
    (folder / f"{stem}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, len(labels)) + bytes(labels.tolist()))


def normalised(images, dtype):
    return images.to(dtype).div(255).sub(MEAN).div(STD)
