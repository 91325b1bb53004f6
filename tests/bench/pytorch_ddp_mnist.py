"""The PyTorch side of ddp_vs_pytorch.py: DistributedDataParallel over gloo trains the MNIST CNN with all images in tensors, as a careful
user would.

  torchrun --nproc_per_node 2 pytorch_ddp_mnist.py --data FOLDER [--steps 200] [--batch 32] [--threads 1]

FOLDER has the four unpacked idx files. Rank 0 prints `python ddp gloo ranks N samples/s X`: X is the samples of all ranks over the wall
time from barrier to barrier after the warm-up.
"""

import argparse
import pathlib
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
from networks import Net  # noqa: E402

MEAN, STD = 0.1307, 0.3081


def read_idx(folder):
    images = np.fromfile(folder / "train-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 1, 28, 28)
    labels = np.fromfile(folder / "train-labels-idx1-ubyte", np.uint8)[8:]
    return torch.from_numpy(images.copy()), torch.from_numpy(labels.astype(np.int64))


def rank_batches(images, labels, size):
    """Yields this rank's batches of a shuffled order, repeated without end."""
    rank, world = dist.get_rank(), dist.get_world_size()
    order = torch.randperm(len(labels))
    steps_per_epoch = len(labels) // (size * world)
    step = 0
    while True:
        begin = ((step % steps_per_epoch) * world + rank) * size
        chosen = order[begin:begin + size]
        yield images[chosen].float().div_(255).sub_(MEAN).div_(STD), labels[chosen]
        step += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    dist.init_process_group("gloo")
    torch.manual_seed(1)  # an equal order on all ranks
    net = DistributedDataParallel(Net())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    batches = rank_batches(*read_idx(args.data), args.batch)

    def train(steps):
        for _ in range(steps):
            data, target = next(batches)
            optimizer.zero_grad()
            F.nll_loss(net(data), target).backward()
            optimizer.step()
        dist.barrier()

    train(args.warmup)
    start = time.perf_counter()
    train(args.steps)
    seconds = time.perf_counter() - start
    if dist.get_rank() == 0:
        print(f"python ddp gloo ranks {dist.get_world_size()} samples/s {args.steps * args.batch * dist.get_world_size() / seconds:.1f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
