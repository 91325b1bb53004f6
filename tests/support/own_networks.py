"""Networks of a user, made of torch modules, their samples, and one rank of PyTorch's DistributedDataParallel:
own_network_oracle_test.py starts one such process per rank with RANK and WORLD_SIZE."""

import argparse
import os
import pathlib
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "tutorials"))
from export_torchscript import Sequence, Tokens, Volumes  # noqa: E402


class Bottleneck(nn.Module):
    def __init__(self, enter, inner, stride):
        super().__init__()
        leave = 4 * inner
        self.way = nn.Sequential(nn.Conv2d(enter, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
                                 nn.Conv2d(inner, inner, 3, stride, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
                                 nn.Conv2d(inner, leave, 1, bias=False), nn.BatchNorm2d(leave))
        straight = stride == 1 and enter == leave
        self.shortcut = nn.Identity() if straight else nn.Sequential(nn.Conv2d(enter, leave, 1, stride, bias=False), nn.BatchNorm2d(leave))

    def forward(self, x):
        return torch.relu(self.way(x) + self.shortcut(x))


def resnet50():
    """He et al., 2015, with the stride in the 3 x 3 convolution, as torchvision's."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    enter = 64
    for inner, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(enter, inner, stride if block == 0 else 1))
            enter = 4 * inner
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 10))


class TwoInputs(nn.Module):
    """Takes an image and tokens; some parameters are frozen, some unused."""

    def __init__(self):
        super().__init__()
        self.image = nn.Conv2d(3, 4, 3, padding=1)
        self.tokens = nn.Embedding(50, 4)
        self.tokens.weight.requires_grad_(False)
        self.head = nn.Linear(8, 5)
        self.unused = nn.Linear(3, 3)

    def forward(self, image, tokens):
        return self.head(torch.cat([self.image(image).mean((2, 3)), self.tokens(tokens).mean(1)], 1))


class Heads(nn.Module):
    """Has a head that no batch uses, and one for batches whose first number is positive: some steps use it on one rank only, some on none."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 5)
        self.seldom = nn.Linear(6, 5)
        self.never = nn.Linear(6, 5)

    def forward(self, x):
        y = self.layer(x)
        if bool(x[0, 0] > 0):
            y = y + self.seldom(x)
        return y


class Language(nn.Module):
    """Returns scores of the next token, [N, tokens, places]; has a mask and tied weights."""

    def __init__(self):
        super().__init__()
        self.inner = Tokens()
        self.inner.head.weight = self.inner.embedding.weight
        self.register_buffer("mask", torch.triu(torch.ones(16, 16), 1).bool())

    def forward(self, tokens):
        return self.inner.head(self.inner.encoder(self.inner.embedding(tokens), self.mask)).transpose(1, 2)


INTEGERS = np.int64
# name: network, shapes of its inputs (tokens with their upper bound), shape of its target, classes or 0, options
NETWORKS = {
    "resnet50": (resnet50, [((3, 32, 32), 0)], (), 10),
    "transformer": (Tokens, [((16,), 100)], (), 100),
    "unet": (Volumes, [((2, 8, 8, 8), 0)], (2, 8, 8, 8), 0),
    "lstm": (Sequence, [((12, 8), 0)], (), 5),
    "two-inputs": (TwoInputs, [((3, 7, 7), 0), ((9,), 50)], (), 5),
    "language": (Language, [((16,), 100)], (16,), 100),
    "heads": (Heads, [((6,), 0)], (), 5),
}
UNUSED = ("two-inputs", "heads")  # have parameters that some batches, or all, leave out


def options(name):
    """Returns the options of `ranklab train` for the network in name.pt."""
    _, inputs, target, classes = NETWORKS[name]
    shapes = ",".join("x".join(map(str, shape)) + (":int64" if below else "") for shape, below in inputs)
    words = ["--model", f"{name}.pt", "--input-shape", shapes]
    if classes:
        words += ["--classes", str(classes)]
    if target:
        words += ["--target-shape", "x".join(map(str, target))]
    return words


def in_fp32(array):
    """Returns the tensor that --precision fp32 makes of an array: float32, or integers as they are."""
    tensor = torch.from_numpy(array)
    return tensor.float() if tensor.is_floating_point() else tensor


def samples(name, count):
    """Returns ([inputs], targets) as NumPy arrays, float64 or int64, equal at each call."""
    _, inputs, target, classes = NETWORKS[name]
    random = np.random.default_rng(1)

    def make(shape, below):
        shape = (count, *shape)
        return random.integers(0, below, shape, INTEGERS) if below else random.normal(size=shape)

    return [make(shape, below) for shape, below in inputs], make(target, classes)


def network(name, dtype=torch.float32):
    torch.manual_seed(1)
    return NETWORKS[name][0]().to(dtype)


def save(module, path, example=None):
    torch.jit.save(torch.jit.script(module) if example is None else torch.jit.trace(module, example, check_trace=False), path)


def export(name, folder, dtype=torch.float32):
    """Traces networks with one input, scripts the others."""
    inputs, _ = samples(name, 2)
    example = torch.from_numpy(inputs[0])
    example = example if example.dtype == torch.long else example.to(dtype)
    save(network(name, dtype), pathlib.Path(folder) / f"{name}.pt", example if len(inputs) == 1 and name not in UNUSED else None)


def python_file(name, module="own_networks"):
    """Returns a Python file whose model() is the network, with the weights of export(). `module` has it in its NETWORKS."""
    folder = str(pathlib.Path(__file__).resolve().parent)
    return f"import sys\n\nsys.path.append({folder!r})\nimport {module}\nimport own_networks\n\n\ndef model():\n    return own_networks.network({name!r})\n"


def losses_in_ddp(name, batch, steps, lr, momentum):
    """Returns the losses of the global batches, with SGD in fp64."""
    inputs, targets = samples(name, batch * steps * dist.get_world_size())
    net = torch.nn.parallel.DistributedDataParallel(network(name, torch.float64), find_unused_parameters=name in UNUSED)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr, momentum=momentum)
    loss_of = nn.CrossEntropyLoss() if NETWORKS[name][3] else nn.MSELoss()
    losses = []
    for step in range(steps):
        begin = step * batch * dist.get_world_size() + dist.get_rank()
        mine = slice(begin, begin + batch * dist.get_world_size(), dist.get_world_size())
        given = [torch.from_numpy(each[mine]) for each in inputs]
        wanted = torch.from_numpy(targets[mine])
        loss = loss_of(net(*(each if each.dtype == torch.long else each.double() for each in given)),
                       wanted if wanted.dtype == torch.long else wanted.double())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        losses.append(total.item() / dist.get_world_size())
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rendezvous", type=pathlib.Path, help="a file that does not exist yet")
    parser.add_argument("output", type=pathlib.Path, help="rank 0 writes the losses there, as npz")
    parser.add_argument("batch", type=int)
    parser.add_argument("steps", type=int)
    parser.add_argument("lr", type=float)
    parser.add_argument("--momentum", type=float, default=0)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{args.rendezvous}", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    found = {name: losses_in_ddp(name, args.batch, args.steps, args.lr, args.momentum) for name in args.networks.split(",")}
    if dist.get_rank() == 0:
        np.savez(args.output, **found)
    dist.barrier()
    dist.destroy_process_group()
    os._exit(0)  # gloo's threads may abort a normal exit of Python


if __name__ == "__main__":
    main()
