"""torchvision (ResNets) and a U-Net of PyTorch's modules as the oracle of the networks in lib/nn: equal weights give equal outputs in eval and in
training, one training step (loss, backward, SGD or Adam) gives equal gradients, parameters and running statistics, and one seed gives weights that
are equal bit by bit.

Differences are relative to the largest element of each tensor, since elements near 0 have no valid digits: at most 1e-4 in fp32, 1e-9 in fp64.
Both sides share LibTorch's kernels and nothing else.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from ranklab_cli import BIN, SOURCE

# ./bootstrap installs torchvision there.
DIGEST = hashlib.sha256((SOURCE / "lib/cmake/oracle.lock").read_bytes()).hexdigest()[:12]
sys.path.append(str(pathlib.Path(sys.prefix) / f"oracle-{DIGEST}"))
try:
    import h5py
    import numpy as np
    import torch
    import torchvision
    from torch import nn
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed for this Python; ./bootstrap makes one that has it")
    sys.exit(77)

PROBE = BIN.parent / "tests" / "model_probe"
TOLERANCE = {"fp32": 1e-4, "fp64": 1e-9}
DTYPE = {"fp32": torch.float32, "fp64": torch.float64}


class UNet(nn.Module):
    """workloads.md 5.1, layer by layer, in the order of its table."""

    def __init__(self, width=1, full_scale=True, lambda_rho=0.0):
        super().__init__()

        def down(inputs, outputs):
            return nn.Conv3d(inputs, outputs, kernel_size=4, stride=2, padding=1)

        def up(inputs, outputs):
            return nn.ConvTranspose3d(inputs, outputs, kernel_size=4, stride=2, padding=1)

        c64, c128, c256, c512 = (channels // width for channels in (64, 128, 256, 512))
        self.full_scale, self.lambda_rho = full_scale, lambda_rho
        self.down1 = down(4, c64)
        self.down2 = down(c64, c128)
        self.down3 = down(c128, c256)
        self.down4 = down(c256, c512)
        self.down5 = down(c512, c512)
        if full_scale:
            self.down6 = down(c512, c512)
            self.up6 = up(c512, c512)
            self.up5 = up(c512 + c512, c512)
        else:
            self.up5 = up(c512, c512)
        self.up4 = up(c512 + c512, c256)
        self.up3 = up(c256 + c256, c128)
        self.up2 = up(c128 + c128, c64)
        self.conv_last = up(c64 + c64, 5)
        self.apply(self.draw_weights)

    @staticmethod
    def draw_weights(module):
        if "Conv" in type(module).__name__:
            nn.init.normal_(module.weight, 0.0, 0.02)
            nn.init.constant_(module.bias, 0.0)

    def forward(self, x):
        leaky, relu = nn.LeakyReLU(0.01), nn.ReLU()
        d1 = leaky(self.down1(x))
        d2 = leaky(self.down2(d1))
        d3 = leaky(self.down3(d2))
        d4 = leaky(self.down4(d3))
        d5 = leaky(self.down5(d4))
        if self.full_scale:
            u6 = relu(self.up6(leaky(self.down6(d5))))
            u5 = relu(self.up5(torch.cat([u6, d5], dim=1)))
        else:
            u5 = relu(self.up5(d5))
        u4 = relu(self.up4(torch.cat([u5, d4], dim=1)))
        u3 = relu(self.up3(torch.cat([u4, d3], dim=1)))
        u2 = relu(self.up2(torch.cat([u3, d2], dim=1)))
        return torch.tanh(self.conv_last(torch.cat([u2, d1], dim=1)))

    def loss(self, output, target):
        loss = nn.L1Loss()(output, target)
        if self.lambda_rho:
            loss = loss + self.lambda_rho * nn.L1Loss()(torch.exp(14 * output[:, 0]), torch.exp(14 * target[:, 0]))
        return loss


def seeded(make, seed):
    torch.manual_seed(seed)
    return make()


class ModelOracleCase(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)  # as model_probe() below
        folder = tempfile.TemporaryDirectory(prefix="ranklab-models-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.asked = 0

    def ask(self, model, tensors=None, *, precision="fp32", width=1, full_scale=True, lambda_rho=0.0, **attributes):
        """Returns model_probe's answer, an open file, to a request with these tensors and attributes."""
        self.asked += 1  # a new name: h5py reuses an open file of an equal name
        request, answer = self.folder / "request.h5", self.folder / f"answer{self.asked}.h5"
        with h5py.File(request, "w") as file:
            file.attrs.update(model=model, precision=precision, width=width, full_scale=int(full_scale), lambda_rho=lambda_rho, **attributes)
            for name, tensor in (tensors or {}).items():
                file[name] = tensor.detach().numpy()
        result = subprocess.run([PROBE, request, answer], capture_output=True, text=True, timeout=300, env=dict(os.environ, OMP_NUM_THREADS="1"))
        self.assertEqual(result.returncode, 0, result.stderr)
        file = h5py.File(answer)
        self.addCleanup(file.close)
        return file

    def assertNear(self, mine, expected, precision, what):
        expected = expected.detach().numpy()
        mine = mine[()]
        self.assertEqual((mine.dtype, mine.shape), (expected.dtype, expected.shape), what)
        difference, scale = np.abs(mine - expected).max(), np.abs(expected).max()
        self.assertLessEqual(difference, TOLERANCE[precision] * scale, f"{what}: {difference:.3g} apart where the largest is {scale:.3g}")

    def assertAllNear(self, group, named, precision):
        named = dict(named)
        self.assertEqual(set(group), set(named), group.name)
        for name, tensor in named.items():
            self.assertNear(group[name], tensor, precision, f"{group.name} {name}")

    def assertSeedGivesTheseWeights(self, model, make, seed, **settings):
        group, named = self.ask(model, seed=seed, **settings)["parameters"], dict(seeded(make, seed).named_parameters())
        self.assertEqual(set(group), set(named))
        for name, tensor in named.items():
            np.testing.assert_array_equal(group[name][()], tensor.detach().numpy(), err_msg=f"{model} {name}")

    def compare(self, model, net, loss_of, inputs, targets, precision, optimizer, **settings):
        """Runs a forward pass in eval and a training step on both sides from the state of `net`."""
        inputs = inputs.to(DTYPE[precision])
        state = {f"state/{name}": tensor for name, tensor in net.state_dict().items()}
        name = {torch.optim.SGD: "sgd", torch.optim.Adam: "adam"}[type(optimizer)]
        rates = {key: optimizer.defaults.get(key, 0.0) for key in ("lr", "momentum")}
        answer = self.ask(model, {**state, "input": inputs, "targets": targets}, precision=precision, optimizer=name, **rates, **settings)
        net.eval()
        with torch.no_grad():
            self.assertNear(answer["eval_output"], net(inputs), precision, "output in eval")
        net.train()
        output = net(inputs)
        loss = loss_of(output, targets)
        self.assertNear(answer["train_output"], output, precision, "output in training")
        self.assertNear(answer["loss"], loss, precision, "loss")
        loss.backward()
        self.assertAllNear(answer["gradients"], ((name, p.grad) for name, p in net.named_parameters()), precision)
        optimizer.step()
        self.assertAllNear(answer["parameters"], net.named_parameters(), precision)
        self.assertAllNear(answer["buffers"], net.named_buffers(), precision)

    def compare_resnet(self, model, precision, batch, height, width):
        net = seeded(lambda: getattr(torchvision.models, model)(num_classes=100), 5).to(DTYPE[precision])
        for name, buffer in net.named_buffers():  # running statistics that differ between channels, as after training
            if name.endswith("running_mean"):
                buffer.normal_(0, 0.3)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        self.compare(model, net, nn.CrossEntropyLoss(), torch.randn(batch, 3, height, width), torch.arange(batch) * 31 % 100, precision, optimizer)

    def compare_unet(self, precision, batch, **settings):
        net = seeded(lambda: UNet(**settings), 6).to(DTYPE[precision])
        inputs, targets = torch.randn(batch, 4, 64, 64, 64), torch.rand(batch, 5, 64, 64, 64, dtype=DTYPE[precision]) * 0.4 - 0.2
        self.compare("unet3d", net, net.loss, inputs, targets, precision, torch.optim.Adam(net.parameters(), lr=2e-4), **settings)
