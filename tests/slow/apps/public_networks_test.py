"""Compares networks of torchvision, timm and transformers in a Python file with PyTorch's DistributedDataParallel."""

import pathlib
import sys
import unittest

import ranklab_cli as cli

cli.need_train()
cli.modules("h5py", "numpy", "torch", "torchvision", "timm", "transformers")
sys.path.append(str(pathlib.Path(cli.SOURCE) / "tests" / "oracle"))

import own_network_oracle_test  # noqa: E402
import public_networks  # noqa: E402, F401: it sets own_networks.NETWORKS


class PublicNetworks(own_network_oracle_test.OwnNetwork):
    module = "public_networks"


if __name__ == "__main__":
    unittest.main()
