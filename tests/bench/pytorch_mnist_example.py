"""The other side of mnist_vs_pytorch.py: PyTorch's MNIST CNN trained in plain PyTorch, timed. Prints one line of JSON.

--variant example    works as PyTorch's basic MNIST example does on a CPU: a Dataset that transforms one image at a time,
                     DataLoader defaults (no workers, no shuffle), Adadelta(1.0), a line printed every 10 batches.
                     The transform is torchvision's where that and PIL can be imported, else a stand-in that takes half
                     of its time (36 us an image where torchvision takes 78 us): the output says which.
--variant preloaded  the same training with the whole set in two tensors and one gather per batch: what a careful user writes.
"""

import argparse
import gzip
import json
import pathlib
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

try:
    import torchvision
    from PIL import Image
    from torchvision import transforms
except ImportError:
    torchvision = None

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
from networks import Net  # noqa: E402

MEAN, STD = 0.1307, 0.3081


def read_idx(folder):
    def content(name):
        packed = folder / f"{name}.gz"
        return gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()

    images = np.frombuffer(content("train-images-idx3-ubyte"), np.uint8, offset=16).reshape(-1, 28, 28)
    labels = np.frombuffer(content("train-labels-idx1-ubyte"), np.uint8, offset=8)
    return torch.from_numpy(images.copy()), torch.from_numpy(labels.astype(np.int64))


class PerImage(Dataset):
    """torchvision's MNIST with ToTensor and Normalize, call by call, but without the detour over a PIL image."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    @staticmethod
    def to_tensor(image):
        tensor = torch.from_numpy(np.array(image, np.uint8, copy=True)).view(28, 28, 1)
        return tensor.permute((2, 0, 1)).contiguous().to(dtype=torch.get_default_dtype()).div(255)

    @staticmethod
    def normalize(tensor):
        tensor = tensor.clone()
        mean = torch.as_tensor((MEAN,), dtype=tensor.dtype, device=tensor.device)
        std = torch.as_tensor((STD,), dtype=tensor.dtype, device=tensor.device)
        if (std == 0).any():
            raise ValueError("std is zero")
        return tensor.sub_(mean.view(-1, 1, 1)).div_(std.view(-1, 1, 1))

    def __getitem__(self, index):
        return self.normalize(self.to_tensor(self.images[index].numpy())), int(self.labels[index])


class PerImageTorchvision(PerImage):
    """As torchvision.datasets.MNIST with ToTensor and Normalize, PIL image included."""

    def __init__(self, images, labels):
        super().__init__(images, labels)
        self.transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((MEAN,), (STD,))])

    def __getitem__(self, index):
        return self.transform(Image.fromarray(self.images[index].numpy(), mode="L")), int(self.labels[index])


def preloaded_batches(images, labels, size):
    images = images.unsqueeze(1)
    while True:
        order = torch.randperm(len(labels))
        for begin in range(0, len(labels), size):
            chosen = order[begin:begin + size]
            yield images[chosen].float().div_(255).sub_(MEAN).div_(STD), labels[chosen]


def endless(loader):
    while True:
        yield from loader


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", choices=("example", "preloaded"), default="example")
    parser.add_argument("--data-dir", type=pathlib.Path, required=True)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    images, labels = read_idx(args.data_dir)
    model = Net()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    if args.variant == "example":
        per_image = PerImageTorchvision if torchvision else PerImage
        batches = endless(DataLoader(per_image(images, labels), batch_size=args.batch_size))
    else:
        batches = preloaded_batches(images, labels, args.batch_size)

    model.train()
    samples, start = 0, time.perf_counter()
    for step in range(args.warmup + args.steps):
        if step == args.warmup:
            samples, start = 0, time.perf_counter()
        data, target = next(batches)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        samples += len(target)
        if step % 10 == 0:
            print(f"Train step {step}\tLoss: {loss.item():.6f}", file=sys.stderr)
    seconds = time.perf_counter() - start
    print(json.dumps({"samples_per_s": samples / seconds, "seconds": seconds, "loss": loss.item(), "torch": torch.__version__,
                      "threads": torch.get_num_threads(), "transform": f"torchvision {torchvision.__version__}" if torchvision else "stand-in"}))


if __name__ == "__main__":
    main()
