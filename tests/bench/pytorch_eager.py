"""The PyTorch side of training_vs_pytorch.py: trains a network in eager PyTorch on one repeated batch of random numbers. Prints the median step
in seconds as one line of JSON.

Networks, losses and optimizers are those of tests/gpu/networks.py, which equal ranklab's defaults.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))
import networks  # noqa: E402


def batch_of(args):
    if args.model == "unet3d":
        return torch.randn(args.batch_size, 4, 64, 64, 64), torch.randn(args.batch_size, 5, 64, 64, 64).tanh()
    if args.model == "mnist-cnn":
        return torch.randn(args.batch_size, 1, 28, 28), torch.randint(10, (args.batch_size,))
    return torch.randn(args.batch_size, 3, args.image_size, args.image_size), torch.randint(100, (args.batch_size,))


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
    model, loss_of, make_optimizer = networks.made(args.model, args.width if args.model == "unet3d" else 1)
    optimizer = make_optimizer(model.parameters())
    inputs, targets = batch_of(args)
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
