"""Compares the operators of a trace with those of PyTorch's profiler, for equal network and batches."""

import unittest

import ranklab_cli as cli

cli.need_train()
h5py, np, torch = cli.modules("h5py", "numpy", "torch")

import own_networks  # noqa: E402

STEPS = 3


def of_pytorch(name, batch):
    """Returns {operator: self time} of training steps."""
    network = own_networks.network(name)
    inputs, targets = own_networks.samples(name, batch)
    inputs, targets = [own_networks.in_fp32(each) for each in inputs], own_networks.in_fp32(targets)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss() if own_networks.NETWORKS[name][3] else torch.nn.MSELoss()

    def step():
        optimizer.zero_grad()
        loss_of(network(*inputs), targets).backward()
        optimizer.step()

    step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for _ in range(STEPS):
            step()
    return {event.key: event.self_cpu_time_total for event in profile.key_averages()}


class Operators(cli.Case):
    def test_the_slowest_five_are_slow_in_pytorch(self):
        torch.set_num_threads(1)
        for name, batch in (("resnet50", 8), ("unet", 64)):
            own_networks.export(name, self.folder)
            result = cli.ranklab("train", *own_networks.options(name), "--batch-size", batch, "--steps", 6, "--warmup", 0, "--optimizer", "sgd", "--lr", 0.01,
                                 "--memory-format", "contiguous", "--threads", 1, "--trace", "t.json", "--trace-window", f"3:{STEPS}", "--output", f"{name}.h5",
                                 cwd=self.folder, timeout=120)
            self.assertCode(result, 0)
            with h5py.File(self.folder / f"{name}.h5") as file:
                (run,) = file["runs"].values()
                mine = {row["operator"].decode(): row["self_s"] for row in run["tables/operators"][()]}
            theirs = of_pytorch(name, batch)

            def slowest(times):
                return set(sorted((key for key in times if key.startswith("aten::")), key=times.get)[-5:])

            # Noise decides the order of operators with similar times: ranklab's five take nearly as long as PyTorch's top five there.
            longest = sum(theirs[key] for key in slowest(theirs))
            self.assertGreaterEqual(sum(theirs.get(key, 0) for key in slowest(mine)), 0.8 * longest, (name, slowest(mine), slowest(theirs)))


if __name__ == "__main__":
    unittest.main()
