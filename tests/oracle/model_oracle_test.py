"""torchvision (ResNets) and a U-Net of PyTorch's modules as the oracle of the networks in lib/nn: one seed gives weights that are equal bit by bit, and
one training step has equal results. More networks: tests/slow/apps/model_oracle_long_test.py."""

import unittest

from model_oracle import ModelOracleCase, UNet, torchvision


class ModelOracle(ModelOracleCase):
    def test_a_seed_gives_the_same_weights_bit_by_bit(self):
        self.assertEqual(torchvision.__version__.split("+")[0], "0.26.0", "not the pinned one")
        self.assertSeedGivesTheseWeights("resnet18", lambda: torchvision.models.resnet18(num_classes=100), 7)
        self.assertSeedGivesTheseWeights("unet3d", lambda: UNet(width=8), 3, width=8)

    def test_a_training_step_of_each_kind_of_block(self):
        self.compare_resnet("resnet18", "fp64", 2, 64, 45)
        self.compare_resnet("resnet50", "fp32", 2, 64, 64)
        self.compare_unet("fp64", 1, width=8, full_scale=True, lambda_rho=0.5)
        self.compare_unet("fp64", 1, width=8, full_scale=False)


if __name__ == "__main__":
    unittest.main()
