"""One rank of the DistributedDataParallel oracle: torch_oracle.in_ddp starts one such process per rank with RANK and WORLD_SIZE, and
reads the file of rank 0.

Uses PyTorch's DistributedSampler, DistributedDataParallel over gloo, SGD and StepLR; with "shard" AdamW by ZeroRedundancyOptimizer
or fully_shard. One start runs several cases, since the
import takes longer than the training."""

import argparse
import json
import os
import pathlib

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler

from twins import make_twin, normalised, read_idx


def batches(count, batch, seed, on_new_epoch):
    """Yields this rank's batches as lists of indices, epoch after epoch."""
    sampler = DistributedSampler(range(count), seed=seed)
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        order = list(sampler)
        for begin in range(0, len(order), batch):
            yield order[begin:begin + batch]
        on_new_epoch()
        epoch += 1


def global_mean(loss, count):
    """Returns the mean over the samples of all ranks."""
    sums = torch.tensor([loss * count, count], dtype=torch.float64)
    dist.all_reduce(sums)
    return (sums[0] / sums[1]).item()


def train(case, images, labels):
    """Returns {losses, gradients/NAME of the first step, parameters/NAME after the last}."""
    dtype = getattr(torch, case["dtype"])
    # Other ranks start with other weights, which reveals a missing broadcast from rank 0.
    net = make_twin(case["model"], case["seed"] + dist.get_rank(), dtype)
    ddp = DistributedDataParallel(net)
    ddp.train()
    optimizer = torch.optim.SGD(ddp.parameters(), lr=case["lr"])
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=case["gamma"])
    found = {"losses": []}
    for indices in batches(len(labels), case["batch"], case["seed"], schedule.step):
        optimizer.zero_grad()
        loss = F.nll_loss(ddp(normalised(images[indices], dtype)), labels[indices])
        loss.backward()
        if not found["losses"]:
            found.update({f"gradients/{name}": p.grad.double().numpy().copy() for name, p in net.named_parameters()})
        optimizer.step()
        found["losses"].append(global_mean(loss.item(), len(indices)))
        if len(found["losses"]) == case["steps"]:
            break
    found.update({f"parameters/{name}": p.detach().double().numpy() for name, p in net.named_parameters()})
    return found


def train_sharded(case, images, labels):
    """Returns {losses, parameters/NAME after the last step}, with AdamW as ranklab's, accumulation and clipping."""
    net = make_twin(case["model"], case["seed"], torch.float64)
    net.train()
    groups = [{"params": [p for p in net.parameters() if p.dim() >= 2], "weight_decay": 0.1}, {"params": [p for p in net.parameters() if p.dim() < 2], "weight_decay": 0.0}]
    rule = {"lr": case["lr"], "betas": (0.9, 0.95), "eps": 1e-8}
    if case["shard"] == "fully-shard":
        mesh = dist.device_mesh.init_device_mesh("cpu", (dist.get_world_size(),))
        for layer in [module for module in net.children() if any(True for _ in module.parameters())] + [net]:
            fully_shard(layer, mesh=mesh)
        for group, wide in zip(groups, (True, False)):
            group["params"] = [p for p in net.parameters() if (p.dim() >= 2) == wide]
        model, optimizer = net, torch.optim.AdamW(groups, **rule)
    else:
        model, optimizer = DistributedDataParallel(net), ZeroRedundancyOptimizer(groups, optimizer_class=torch.optim.AdamW, **rule)
    parts = batches(len(labels), case["batch"], case["seed"], lambda: None)
    losses = []
    for _ in range(case["steps"]):
        optimizer.zero_grad()
        mean = 0.0
        for _ in range(case["accumulate"]):
            indices = next(parts)
            loss = F.nll_loss(model(normalised(images[indices], torch.float64)), labels[indices]) / case["accumulate"]
            loss.backward()
            mean += global_mean(loss.item(), len(indices))
        torch.nn.utils.clip_grad_norm_(net.parameters(), case["clip"])
        optimizer.step()
        losses.append(mean)
    whole = {name: p.full_tensor() if hasattr(p, "full_tensor") else p for name, p in net.named_parameters()}
    return {"losses": losses, **{f"parameters/{name}": p.detach().numpy() for name, p in whole.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=pathlib.Path, required=True)
    parser.add_argument("--rendezvous", type=pathlib.Path, required=True, help="a file that does not exist yet")
    parser.add_argument("--cases", type=json.loads, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="rank 0 writes OUTPUT/NAME.npz for each case")
    args = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{args.rendezvous}", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    images, labels = read_idx(args.data_dir, "train")
    for name, case in args.cases.items():
        found = (train_sharded if "shard" in case else train)(case, images, labels)
        if dist.get_rank() == 0:
            np.savez(args.output / f"{name}.npz", **found)
    dist.barrier()
    dist.destroy_process_group()
    os._exit(0)  # gloo's threads may abort a normal exit of Python


if __name__ == "__main__":
    main()
