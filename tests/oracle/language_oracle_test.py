"""PyTorch as the oracle of the language models: equal weights and tokens give equal losses at any number of ranks, with AdamW and clipping."""

import re
import sys

import ranklab_cli as cli

cli.need_train()
h5py, np, torch = cli.modules("h5py", "numpy", "torch")

sys.path.append(str(cli.SOURCE / "tests" / "gpu"))
from language_twins import TWINS, adamw  # noqa: E402

SIZES = {"gpt2-124m": 124439808, "gpt2-350m": 354823168, "gpt2-1558m": 1557611200, "llama-debug": 6163712, "llama3-1b": 1235814400, "llama3-8b": 8030261248}


class LanguageOracle(cli.Case):
    @classmethod
    def setUpClass(cls):
        torch.set_num_threads(1)

    def train(self, model, length, *words, ranks=1, precision="fp64"):
        """Returns (losses, parameters) and keeps the tokens in self.tokens."""
        width = TWINS[model][0]
        self.tokens = np.random.default_rng(5).integers(0, 2000, 6000).astype("<u2")
        self.tokens.tofile(self.folder / "text.bin")
        for name in ("r.h5", "p.h5"):
            (self.folder / name).unlink(missing_ok=True)
        result = cli.ranklab("train", "--model", model, "--width", width, "--sequence-length", length, "--data", "tokens", "--inputs", "text.bin",
                             "--precision", precision, "--shuffle", "off", "--evaluate", "off", "--lr-schedule", "none", "--warmup", 0, "--threads", 1,
                             "--overlap-steps", 0, "--output", "r.h5", "--save-parameters", "p.h5", "--peak-tflops", 1, *words, ranks=ranks, cwd=self.folder,
                             timeout=200)
        self.assertCode(result, 0)
        with h5py.File(self.folder / "r.h5") as file:
            (run,) = file["runs"].values()
            losses = run["samples/train_loss"][()].ravel()
        with h5py.File(self.folder / "p.h5") as file:
            return losses, {name: file[name][()] for name in file}

    def twin(self, model, length, dtype):
        """PyTorch's network with the weights that ranklab begins with."""
        _, start = self.train(model, length, "--lr", 0, "--steps", 1, "--batch-size", 1, precision="fp64" if dtype == torch.float64 else "fp32")
        net = TWINS[model][1](length).to(dtype)
        state = net.state_dict()
        self.assertEqual(set(start), set(state))
        net.load_state_dict({name: torch.from_numpy(start[name]).reshape(state[name].shape) for name in state})
        return net

    def losses_of(self, net, length, steps, batch, clip, lr=1e-3):
        optimizer, losses = adamw(net.parameters(), lr), []
        windows = torch.from_numpy(self.tokens.astype("int64"))
        for step in range(steps):
            rows = torch.stack([windows[i * length:(i + 1) * length + 1] for i in range(step * batch, (step + 1) * batch)])
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
            optimizer.step()
            losses.append(loss.item())
        return losses

    def test_losses_are_pytorchs(self):
        length = 16
        for model, steps in (("gpt2-124m", 20), ("llama-debug", 50)):
            net = self.twin(model, length, torch.float64)
            expected = self.losses_of(net, length, steps, 6, clip=1.0)
            for ranks in (1, 2, 3):
                with self.subTest(model=model, ranks=ranks):
                    losses, parameters = self.train(model, length, "--lr", 1e-3, "--steps", steps, "--global-batch-size", 6, "--clip-gradients", 1.0, ranks=ranks)
                    np.testing.assert_allclose(losses, expected, rtol=1e-9)
                    for name, values in net.state_dict().items():
                        np.testing.assert_allclose(parameters[name].reshape(values.shape), values.numpy(), rtol=0, atol=1e-7, err_msg=name)

    def test_in_fp32_with_shared_keys_and_the_fused_optimizer(self):
        length, steps = 16, 5
        net = self.twin("llama3-1b", length, torch.float32)
        expected = self.losses_of(net, length, steps, 2, clip=0.5)
        for words in ((), ("--fused-optimizer",), ("--ops", "libtorch")):
            losses, _ = self.train("llama3-1b", length, "--lr", 1e-3, "--steps", steps, "--batch-size", 2, "--clip-gradients", 0.5, *words, precision="fp32")
            np.testing.assert_allclose(losses, expected, rtol=1e-4)

    def test_flops_are_pytorchs_and_sizes_the_published(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.utils.flop_counter import FlopCounterMode
        length = 32
        for model, (width, make) in TWINS.items():
            facts = self.facts(model, length, "--width", width)
            with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
                make(length)(torch.zeros(1, length, dtype=torch.int64))
            self.assertEqual(int(facts["forward-flops-per-sample"].split()[0]), counter.get_total_flops(), model)
        for model, parameters in SIZES.items():
            self.assertEqual(int(self.facts(model, 1024)["parameters"]), parameters)

    def facts(self, model, length, *words):
        result = cli.ranklab("train", "--model", model, "--sequence-length", length, "--dry-run", *words, cwd=self.folder)
        self.assertCode(result, 0)
        return dict(re.findall(r"^#? *([\w-]+): +(.*)$", result.stdout, re.M))


if __name__ == "__main__":
    cli.main()
