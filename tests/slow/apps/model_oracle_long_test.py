"""torchvision and a U-Net of PyTorch's modules as the oracle of the networks in lib/nn: the deepest and full-size networks, images that are not
square, both precisions. The short form: tests/oracle/model_oracle_test.py."""

import unittest

from model_oracle import ModelOracleCase, UNet, torchvision


class ModelOracle(ModelOracleCase):
    def test_a_seed_gives_torchvisions_weights_bit_by_bit(self):
        for model, seed in (("resnet18", 1), ("resnet50", 7), ("resnet152", 2)):
            with self.subTest(model=model):
                self.assertSeedGivesTheseWeights(model, lambda: getattr(torchvision.models, model)(num_classes=100), seed)

    def test_a_seed_gives_the_whole_unets_weights_bit_by_bit(self):
        self.assertSeedGivesTheseWeights("unet3d", UNet, 3)

    def test_resnet50_in_fp64(self):
        self.compare_resnet("resnet50", "fp64", 4, 64, 64)

    def test_resnet18_of_images_that_are_not_square(self):
        self.compare_resnet("resnet18", "fp32", 3, 96, 45)
        self.compare_resnet("resnet18", "fp64", 3, 96, 45)

    def test_the_whole_unet_in_fp32(self):
        self.compare_unet("fp32", 1)

    def test_narrow_unets_in_fp64(self):
        for full_scale in (True, False):
            for lambda_rho in (0.0, 0.5):
                with self.subTest(full_scale=full_scale, lambda_rho=lambda_rho):
                    self.compare_unet("fp64", 2, width=8, full_scale=full_scale, lambda_rho=lambda_rho)


if __name__ == "__main__":
    unittest.main()
