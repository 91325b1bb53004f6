"""The oracle of the activation bytes in `ranklab train --dry-run`: tensors that PyTorch's autograd saves for backward
(torch.autograd.graph.saved_tensors_hooks), each storage once, without parameters."""

import re

import ranklab_cli as cli

cli.need_train()
(torch,) = cli.modules("torch")

from twins import Net  # noqa: E402


def saved_bytes(batch, dropout):
    torch.manual_seed(1)
    net = Net(dropout).train()
    own = {parameter.untyped_storage().data_ptr() for parameter in net.parameters()}
    saved = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = torch.nn.functional.nll_loss(net(torch.randn(batch, 1, 28, 28)), torch.randint(10, (batch,)))
    del loss
    return sum(saved.values())


class MemoryOracle(cli.Case):
    def test_activations_are_what_autograd_saves(self):
        for batch, dropout in ((16, "on"), (48, "on"), (48, "off")):
            with self.subTest(batch=batch, dropout=dropout):
                plan = cli.ranklab("train", "--dry-run", "--model", "mnist-cnn", "--ops", "libtorch", "--batch-size", batch, "--dropout", dropout, cwd=self.folder).stdout
                said = int(re.search(r"(?m)^# memory-activations-bytes: (\d+)$", plan).group(1))
                self.assertAlmostEqual(said / saved_bytes(batch, dropout == "on"), 1, delta=0.05)


if __name__ == "__main__":
    cli.main()
