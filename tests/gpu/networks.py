"""ranklab's networks made of PyTorch's modules, for comparisons. They need only torch.

Modules have ranklab's order and initialisation, so that one seed gives equal weights.
"""

import language_twins
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    """PyTorch's basic MNIST example."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, 1)
        self.conv2 = nn.Conv2d(32, 64, 3, 1)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = torch.flatten(self.dropout1(F.max_pool2d(x, 2)), 1)
        return F.log_softmax(self.fc2(self.dropout2(F.relu(self.fc1(x)))), dim=1)


class Bottleneck(nn.Module):
    def __init__(self, inside, channels, stride):
        super().__init__()
        out = 4 * channels
        self.conv1 = nn.Conv2d(inside, channels, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = nn.Conv2d(channels, out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inside != out:
            self.downsample = nn.Sequential(nn.Conv2d(inside, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet(nn.Module):
    """torchvision's v1.5: the 3 x 3 convolution has the stride."""

    def __init__(self, blocks, width=1, classes=100):
        super().__init__()
        inside = 64 // width
        self.conv1 = nn.Conv2d(3, inside, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(inside)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for stage, count in enumerate(blocks):
            channels = (64 << stage) // width
            layers = []
            for block in range(count):
                layers.append(Bottleneck(inside, channels, 2 if stage > 0 and block == 0 else 1))
                inside = 4 * channels
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        self.fc = nn.Linear(inside, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class UNet(nn.Module):
    """The 3D U-Net of the SC22 tutorial: each layer down halves the edges, each layer up doubles them."""

    def __init__(self, width=1):
        super().__init__()
        c = 64 // width
        down = [4, c, 2 * c, 4 * c, 8 * c, 8 * c, 8 * c]
        up = [(8 * c, 8 * c), (16 * c, 8 * c), (16 * c, 4 * c), (8 * c, 2 * c), (4 * c, c), (2 * c, 5)]
        self.down = nn.ModuleList(nn.Conv3d(a, b, 4, 2, 1) for a, b in zip(down, down[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose3d(a, b, 4, 2, 1) for a, b in up)
        for layer in [*self.down, *self.up]:
            nn.init.normal_(layer.weight, 0.0, 0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = F.leaky_relu(layer(x), 0.01, inplace=True)
            kept.append(x)
        kept.pop()
        for layer in self.up[:-1]:
            x = torch.cat([F.relu(layer(x), inplace=True), kept.pop()], 1)
        return torch.tanh(self.up[-1](x))


def gpt2(width, tokens):
    """GPT-2 124M as nanoGPT begins it, for samples of so many tokens (default: 1,024)."""
    language_twins.fast()
    network = language_twins.Gpt2(12, 12 // width, 768 // width, tokens or 1024)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
            elif parameter.dim() == 2:
                parameter.normal_(0, 0.02 / 24**0.5 if name.endswith("proj.weight") else 0.02)
    return network


# By model: a function that makes it with divided channels and an edge, its loss, and its published optimizer.
MODELS = {
    "mnist-cnn": (lambda width, edge: Net(), F.nll_loss, lambda p: torch.optim.Adadelta(p, lr=1.0)),
    "resnet50": (lambda width, edge: ResNet((3, 4, 6, 3), width), F.cross_entropy, lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9)),
    "resnet152": (lambda width, edge: ResNet((3, 8, 36, 3), width), F.cross_entropy, lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9)),
    "unet3d": (lambda width, edge: UNet(width), F.l1_loss, lambda p: torch.optim.Adam(p, lr=2e-4)),
    "gpt2-124m": (gpt2, lambda scores, tokens: F.cross_entropy(scores.flatten(0, 1), tokens.flatten()), lambda p: language_twins.adamw(p, lr=6e-4, fused=True)),
}


def made(model, width=1, seed=1, edge=None):
    """Returns (network, loss, optimizer) with the initial weights of `ranklab train --model --width --seed`."""
    make, loss, optimizer = MODELS[model]
    torch.manual_seed(seed)
    network = make(width, edge)
    return network, loss, optimizer
