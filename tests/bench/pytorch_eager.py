"""The other side of training_vs_pytorch.py: a network trained in plain PyTorch, eager, on one batch of random numbers again and again. Prints the median
step in seconds as one line of JSON.

The networks are PyTorch's own: the basic MNIST example's, torchvision's ResNet-50 (in the folder beside the venv that the oracle tests use, or wherever Python
finds it), and the 3D U-Net of the oracle's test. Loss and optimizer are those of the published trainings, as ranklab's defaults.
"""

import argparse
import hashlib
import json
import pathlib
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(pathlib.Path(sys.prefix) / f"oracle-{hashlib.sha256((SOURCE / 'lib/cmake/oracle.lock').read_bytes()).hexdigest()[:12]}"))


class UNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        c = 64 // width
        down = [4, c, 2 * c, 4 * c, 8 * c, 8 * c, 8 * c]
        up = [(8 * c, 8 * c), (16 * c, 8 * c), (16 * c, 4 * c), (8 * c, 2 * c), (4 * c, c), (2 * c, 5)]
        self.down = nn.ModuleList(nn.Conv3d(a, b, 4, 2, 1) for a, b in zip(down, down[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose3d(a, b, 4, 2, 1) for a, b in up)

    def forward(self, x):
        kept = []
        for layer in self.down:
            x = F.leaky_relu(layer(x), 0.01, inplace=True)
            kept.append(x)
        kept.pop()
        for layer in self.up[:-1]:
            x = torch.cat([F.relu(layer(x), inplace=True), kept.pop()], 1)
        return torch.tanh(self.up[-1](x))


def mnist_cnn(args):
    from pytorch_mnist_example import Net
    model = Net()
    return model, torch.optim.Adadelta(model.parameters(), lr=1.0), F.nll_loss, torch.randn(args.batch_size, 1, 28, 28), torch.randint(10, (args.batch_size,))


def resnet50(args):
    import torchvision
    model = torchvision.models.resnet50(num_classes=100)
    images = torch.randn(args.batch_size, 3, args.image_size, args.image_size)
    return model, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9), F.cross_entropy, images, torch.randint(100, (args.batch_size,))


def unet3d(args):
    model = UNet(args.width)
    return model, torch.optim.Adam(model.parameters(), lr=2e-4), F.l1_loss, torch.randn(args.batch_size, 4, 64, 64, 64), torch.randn(args.batch_size, 5, 64, 64, 64).tanh()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["mnist-cnn", "resnet50", "unet3d"], required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--image-size", type=int, default=96, help="of resnet50")
    parser.add_argument("--width", type=int, default=1, help="of unet3d: divisor of its channels")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--channels-last", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    model, optimizer, loss_of, inputs, targets = {"mnist-cnn": mnist_cnn, "resnet50": resnet50, "unet3d": unet3d}[args.model](args)
    if args.channels_last:
        layout = torch.channels_last_3d if inputs.dim() == 5 else torch.channels_last
        model, inputs = model.to(memory_format=layout), inputs.to(memory_format=layout)
    model.train()
    times = []
    for _ in range(args.warmup + args.steps):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of(model(inputs), targets)
        loss.backward()
        optimizer.step()
        loss.item()
        times.append(time.perf_counter() - start)
    print(json.dumps({"torch": torch.__version__, "step_s": statistics.median(times[args.warmup:])}))


if __name__ == "__main__":
    main()
