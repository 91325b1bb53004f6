"""Compares runs of `ranklab train` with PyTorch's torch.nn, torch.optim, torch.optim.lr_scheduler and DistributedSampler. Both sides share LibTorch's
kernels and nothing else."""

import json
import sys

import ranklab_cli as cli

cli.need_train()
h5py, np, torch = cli.modules("h5py", "numpy", "torch")
F, DistributedSampler = torch.nn.functional, torch.utils.data.distributed.DistributedSampler

from twins import FASHION_MNIST, Net, make_twin, normalised, read_idx, write_idx  # noqa: E402


def make_net(seed, dtype, dropout=False):
    torch.manual_seed(seed)
    return Net(dropout).to(dtype)


class Oracle:
    """PyTorch's training run: losses of the global batches, one learning rate per epoch, the network."""

    def __init__(self, folder, *, steps, batch, world=1, optimizer="sgd", lr=0.05, momentum=0.0, gamma=1.0, seed=1, dtype=torch.float64, dropout=False, net=None):
        self.images, self.labels = read_idx(folder, "train")
        self.net = net or make_net(seed, dtype, dropout)
        self.net.train()
        if optimizer == "sgd":
            optimizer = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=momentum)
        elif optimizer == "adam":
            optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        else:
            optimizer = torch.optim.Adadelta(self.net.parameters(), lr=lr)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=gamma)
        samplers = [DistributedSampler(range(len(self.labels)), num_replicas=world, rank=rank, seed=seed) for rank in range(world)]
        self.losses, self.rates = [], []
        for epoch in range(1000):
            orders = []
            for sampler in samplers:
                sampler.set_epoch(epoch)
                orders.append(list(sampler))
            self.rates.append(schedule.get_last_lr()[0])
            for begin in range(0, len(orders[0]), batch):
                if len(self.losses) == steps:
                    return
                indices = [i for order in orders for i in order[begin:begin + batch]]
                optimizer.zero_grad()
                loss = F.nll_loss(self.net(normalised(self.images[indices], dtype)), self.labels[indices])
                loss.backward()
                optimizer.step()
                self.losses.append(loss.item())
            schedule.step()

    def evaluate(self, folder):
        images, labels = read_idx(folder, "t10k")
        self.net.eval()
        with torch.no_grad():
            output = self.net(normalised(images, next(self.net.parameters()).dtype))
        return F.nll_loss(output, labels).item(), (output.argmax(1) == labels).double().mean().item()


def in_ddp(cases, data, ranks, folder):
    """Returns {case: results of PyTorch's DistributedDataParallel}, by pytorch_ddp.py."""
    folder.mkdir()
    command = [sys.executable, "-B", cli.SOURCE / "tests" / "support" / "pytorch_ddp.py", "--data-dir", data, "--rendezvous", folder / "rendezvous",
               "--cases", json.dumps(cases), "--output", folder]
    # Names the loopback interface: gloo would look up this machine's name.
    jobs = [cli.Job(command, env=cli.environment(RANK=rank, WORLD_SIZE=ranks, GLOO_SOCKET_IFNAME="lo")) for rank in range(ranks)]
    try:
        for job in jobs:
            result = job.finish(180)
            if result.code != 0:
                raise AssertionError(f"PyTorch's DDP failed:\n{result}")
    finally:
        for job in jobs:
            job.kill()
    return {name: dict(np.load(folder / f"{name}.npz")) for name in cases}


class OracleCase(cli.Case):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)  # one thread, as ranklab: two would wait for each other on a busy machine

    def small_data(self, n_train, n_test=40):
        """Returns the first Fashion-MNIST images if installed, else random ones whose brightness follows the label."""
        folder = self.folder / f"data{n_train}"
        if not FASHION_MNIST.exists():
            return cli.make_idx(folder, n_train, n_test)
        for stem, n in (("train", n_train), ("t10k", n_test)):
            images, labels = read_idx(FASHION_MNIST, stem)
            write_idx(folder, stem, images[:n], labels[:n])
        return folder

    def train(self, data, *words, steps, batch, ranks=1, seed=1, precision="fp64", dropout="off", evaluate="off", model="mnist-cnn", name="r"):
        """Returns (losses of every step, {parameter: values}, tables and samples) of `ranklab train`."""
        output, parameters = self.folder / f"{name}.h5", self.folder / f"{name}-parameters.h5"
        for path in (output, parameters):
            path.unlink(missing_ok=True)
        result = cli.ranklab("train", "--model", model, "--memory-format", "contiguous", "--data", "mnist", "--data-dir", data, "--steps", steps, "--warmup", 0,
                             "--batch-size", batch, "--seed", seed, "--precision", precision, "--dropout", dropout, "--evaluate", evaluate, "--threads", 1,
                             "--overlap-steps", 0, "--output", output, "--save-parameters", parameters, *words, ranks=ranks, cwd=self.folder, timeout=120)
        self.assertCode(result, 0)
        with h5py.File(output) as file:
            (run,) = file["runs"].values()
            stored = {name: data[()].ravel() for name, data in run["samples"].items()}
            stored["lr"] = run["tables/epochs"]["lr"]
        with h5py.File(parameters) as file:
            return stored["train_loss"], {name: file[name][()].ravel() for name in file}, stored

    def assertSameTensors(self, mine, oracle, relative):
        self.assertEqual(set(mine), set(oracle))
        for name, values in oracle.items():
            # Relative to the tensor's largest element: elements near 0 have no valid digits.
            np.testing.assert_allclose(mine[name], values, rtol=0, atol=relative * np.abs(values).max(), err_msg=name)

    def assertSameTraining(self, mine, oracle, relative=1e-9):
        losses, parameters, _ = mine
        np.testing.assert_allclose(losses, oracle.losses, rtol=relative, atol=0)
        self.assertSameTensors(parameters, {name: values.detach().double().numpy().ravel() for name, values in oracle.net.named_parameters()}, relative)

    def assertStartsAs(self, twin, parameters):
        expected = {name: values.detach().double().numpy().ravel() for name, values in twin.named_parameters()}
        self.assertEqual(set(parameters), set(expected))
        for name, values in expected.items():
            np.testing.assert_array_equal(parameters[name], values, err_msg=name)

    def autocast(self, data, model, dtype, steps, batch):
        """Returns the losses of SGD in PyTorch's automatic mixed precision."""
        images, labels = read_idx(data, "train")
        net = make_twin(model, 1, torch.float32)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
        scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16)
        losses = []
        for step in range(steps):
            part = slice(step * batch, (step + 1) * batch)
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=dtype, enabled=dtype is not None):
                loss = F.nll_loss(net(normalised(images[part], torch.float32)), labels[part])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        return np.array(losses)
