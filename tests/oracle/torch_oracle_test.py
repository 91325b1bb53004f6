"""PyTorch as the oracle: from the same seed and data, `ranklab train` makes the same weights, the same batches, the same
losses and the same final parameters. In fp64, where 20 steps of rounding stay below 1e-9.

The Python side is PyTorch's own: torch.nn, torch.optim, torch.optim.lr_scheduler and DistributedSampler; nothing of it is
shared with ranklab but LibTorch's kernels.
"""

import pathlib
import sys

try:
    import h5py
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch.utils.data.distributed import DistributedSampler
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed for this Python; ./bootstrap makes one that has it")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ranklab_cli as cli  # noqa: E402
from twins import FASHION_MNIST, Net, make_twin, normalised, read_idx, write_idx  # noqa: E402

if not cli.HAS_TRAIN:
    print(f"SKIPPED: there is no ranklab-train in {cli.BIN}")
    sys.exit(77)


def make_net(seed, dtype, dropout=False):
    torch.manual_seed(seed)
    return Net(dropout).to(dtype)


class Oracle:
    """The training run that PyTorch makes: losses of the global batches, one learning rate per epoch, the net."""

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


class OracleTest(cli.Case):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)  # as ranklab below: two threads wait for each other when others use the cores

    def small_data(self, n_train, n_test=40):
        """The first real images where they are installed; random ones with the labels' brightness elsewhere."""
        folder = self.folder / f"data{n_train}"
        if not FASHION_MNIST.exists():
            return cli.make_idx(folder, n_train, n_test)
        for stem, n in (("train", n_train), ("t10k", n_test)):
            images, labels = read_idx(FASHION_MNIST, stem)
            write_idx(folder, stem, images[:n], labels[:n])
        return folder

    def train(self, data, *words, steps, batch, ranks=1, seed=1, precision="fp64", dropout="off", evaluate="off", model="mnist-cnn"):
        """(losses of every step, {parameter: values}, tables and samples) of `ranklab train`."""
        output, parameters = self.folder / "r.h5", self.folder / "parameters.h5"
        for path in (output, parameters):
            path.unlink(missing_ok=True)
        result = cli.ranklab("train", "--model", model, "--memory-format", "contiguous", "--data", "mnist", "--data-dir", data, "--steps", steps, "--warmup", 0, "--batch-size", batch,
                             "--seed", seed, "--precision", precision, "--dropout", dropout, "--evaluate", evaluate, "--threads", 1, "--output", output,
                             "--save-parameters", parameters, *words, ranks=ranks, cwd=self.folder, timeout=120)
        self.assertCode(result, 0)
        with h5py.File(output) as file:
            (run,) = file["runs"].values()
            stored = {name: data[()].ravel() for name, data in run["samples"].items()}
            stored["lr"] = run["tables/epochs"]["lr"]
        with h5py.File(parameters) as file:
            return stored["train_loss"], {name: file[name][()].ravel() for name in file}, stored

    def assertSameTraining(self, mine, oracle, relative=1e-9):
        losses, parameters, _ = mine
        np.testing.assert_allclose(losses, oracle.losses, rtol=relative, atol=0)
        self.assertEqual(set(parameters), {name for name, _ in oracle.net.named_parameters()})
        for name, values in oracle.net.named_parameters():
            expected = values.detach().double().numpy().ravel()
            # Relative to the tensor's scale: an element that happens to be near 0 has no digits of its own.
            np.testing.assert_allclose(parameters[name], expected, rtol=relative, atol=relative * np.abs(expected).max(), err_msg=name)

    def test_one_seed_gives_the_same_weights_bit_by_bit(self):
        data = self.small_data(64)
        for seed in (1, 7):
            for precision, dtype in (("fp32", torch.float32), ("fp64", torch.float64)):
                _, parameters, _ = self.train(data, "--lr", 0, steps=1, batch=4, seed=seed, precision=precision)
                for name, values in make_net(seed, dtype).named_parameters():
                    np.testing.assert_array_equal(parameters[name], values.detach().double().numpy().ravel(), err_msg=f"{name}, seed {seed}")

    def test_the_other_models_begin_with_their_twins_weights_too(self):
        data = self.small_data(64)
        _, parameters, _ = self.train(data, "--lr", 0, steps=1, batch=4, seed=3, precision="fp32", model="bn-cnn")
        for name, values in make_twin("bn-cnn", 3, torch.float32).named_parameters():
            np.testing.assert_array_equal(parameters.pop(name), values.detach().double().numpy().ravel(), err_msg=name)
        self.assertEqual(parameters, {})

    def test_the_wide_model_computes_its_twins_losses(self):
        """Its weights fill 300 MB of parameter file, so they are told by what they compute."""
        data = self.small_data(64)
        result = cli.ranklab("train", "--model", "wide-mlp", "--data", "mnist", "--data-dir", data, "--steps", 3, "--warmup", 0, "--batch-size", 8, "--lr", 0.05,
                             "--precision", "fp64", "--evaluate", "off", "--threads", 1, "--output", self.folder / "r.h5", cwd=self.folder, timeout=120)
        self.assertCode(result, 0)
        with h5py.File(self.folder / "r.h5") as file:
            (run,) = file["runs"].values()
            losses = run["samples/train_loss"][()].ravel()
        oracle = Oracle(data, steps=3, batch=8, net=make_twin("wide-mlp", 1, torch.float64))
        np.testing.assert_allclose(losses, oracle.losses, rtol=1e-9, atol=0)

    def test_twenty_steps_of_sgd_on_the_whole_data_set(self):
        data = FASHION_MNIST if FASHION_MNIST.exists() else self.small_data(2000)
        mine = self.train(data, "--optimizer", "sgd", "--lr", 0.05, steps=20, batch=66)
        self.assertSameTraining(mine, Oracle(data, steps=20, batch=66))

    def test_twenty_steps_of_adadelta_on_the_whole_data_set(self):
        data = FASHION_MNIST if FASHION_MNIST.exists() else self.small_data(2000)
        mine = self.train(data, "--optimizer", "adadelta", "--lr", 1.0, steps=20, batch=64)
        self.assertSameTraining(mine, Oracle(data, steps=20, batch=64, optimizer="adadelta", lr=1.0))

    def test_twenty_steps_of_adam(self):
        """Adam divides by the root of its average: where a gradient is all but 0, rounding becomes a step of full size. The digits that are left."""
        data = self.small_data(400)
        oracle = Oracle(data, steps=20, batch=20, optimizer="adam", lr=2e-4)
        for words in ((), ("--fused-optimizer",)):
            with self.subTest(words=words):
                mine = self.train(data, "--optimizer", "adam", "--lr", 2e-4, "--lr-schedule", "none", *words, steps=20, batch=20)
                self.assertSameTraining(mine, oracle)

    def test_momentum(self):
        data = self.small_data(400)
        mine = self.train(data, "--optimizer", "sgd", "--lr", 0.02, "--momentum", 0.9, steps=20, batch=20)
        self.assertSameTraining(mine, Oracle(data, steps=20, batch=20, lr=0.02, momentum=0.9))

    def test_epochs_are_reshuffled_and_the_rate_steps_down(self):
        """300 images in batches of 32 are 10 steps, the last of 12 images; 25 steps cross two boundaries. Then the test pass."""
        data = self.small_data(300)
        mine = self.train(data, steps=25, batch=32, seed=3, evaluate="end")  # Adadelta(1.0) and StepLR(0.7) are the model's own
        oracle = Oracle(data, steps=25, batch=32, optimizer="adadelta", lr=1.0, gamma=0.7, seed=3)
        self.assertSameTraining(mine, oracle)
        np.testing.assert_allclose(mine[2]["lr"], [1.0, 0.7, 0.49], rtol=1e-12)
        np.testing.assert_allclose(oracle.rates, [1.0, 0.7, 0.49], rtol=1e-12)
        loss, accuracy = oracle.evaluate(data)
        np.testing.assert_allclose(mine[2]["validation_loss"], [loss], rtol=1e-9)
        np.testing.assert_allclose(mine[2]["validation_accuracy"], [accuracy], rtol=1e-12)

    def test_ranks_share_the_batches_as_distributed_sampler_deals_them(self):
        """241 images do not divide: each rank's share is padded by wrapping, over an epoch boundary."""
        data = self.small_data(241)
        for ranks, sync in ((2, "flat"), (3, "per-parameter")):
            with self.subTest(ranks=ranks):
                mine = self.train(data, "--optimizer", "sgd", "--lr", 0.05, "--lr-schedule", "step", "--gamma", 0.7, "--sync", sync, steps=20, batch=12, ranks=ranks)
                self.assertSameTraining(mine, Oracle(data, steps=20, batch=12, world=ranks, gamma=0.7))

    def test_dropout_draws_the_same_numbers_on_one_rank(self):
        """One seed, then weights, then masks: the stream is PyTorch's."""
        data = self.small_data(400)
        mine = self.train(data, "--optimizer", "sgd", "--lr", 0.05, steps=20, batch=16, dropout="on")
        self.assertSameTraining(mine, Oracle(data, steps=20, batch=16, dropout=True))

    def test_the_published_workload_in_fp32_begins_alike(self):
        """Adadelta with dropout in fp32. Rounding alone drifts apart later (PyTorch's own split batches: 7e-3 after 20 steps)."""
        data = self.small_data(400)
        losses, _, _ = self.train(data, steps=5, batch=64, precision="fp32", dropout="on")
        oracle = Oracle(data, steps=5, batch=64, optimizer="adadelta", lr=1.0, gamma=0.7, dtype=torch.float32, dropout=True)
        np.testing.assert_allclose(losses, oracle.losses, rtol=1e-4, atol=0)


if __name__ == "__main__":
    cli.main()
