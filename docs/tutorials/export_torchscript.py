"""Writes a network of PyTorch as TorchScript, for `ranklab train --model`: python3 export_torchscript.py FOLDER"""

import pathlib
import sys

import torch
from torch import nn


class Tokens(nn.Module):
    """A small transformer that classifies sequences of 16 tokens out of 100."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(100, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 100)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens)).mean(1))


class Sequence(nn.Module):
    """An LSTM over 12 steps of 8 numbers."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, steps):
        return self.head(self.lstm(steps)[0][:, -1])


class Volumes(nn.Module):
    """A 3D U-Net of one level."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Sequential(nn.Conv3d(2, 8, 3, padding=1), nn.BatchNorm3d(8), nn.ReLU())
        self.down = nn.Conv3d(8, 8, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose3d(8, 8, 2, stride=2)
        self.leave = nn.Conv3d(16, 2, 1)

    def forward(self, volume):
        wide = self.enter(volume)
        return self.leave(torch.cat([wide, self.up(torch.relu(self.down(wide)))], 1))


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.manual_seed(1)
    example = torch.zeros(4, 16, dtype=torch.long)
    torch.jit.save(torch.jit.trace(Tokens(), example), folder / "tokens.pt")
    torch.jit.save(torch.jit.script(Sequence()), folder / "sequence.pt")
    torch.jit.save(torch.jit.script(Volumes()), folder / "volumes.pt")


if __name__ == "__main__":
    main()
