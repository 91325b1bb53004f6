"""PyTorch as the oracle: with equal seed and data `ranklab train` has equal weights, batches, losses and final parameters. In fp64, where
rounding stays below 1e-9. Longer runs and other models: tests/slow/apps/torch_oracle_long_test.py."""

import ranklab_cli as cli
from torch_oracle import Oracle, OracleCase, make_twin, np, torch


class TorchOracle(OracleCase):
    def test_one_seed_gives_the_same_weights_bit_by_bit(self):
        data = self.small_data(64)
        for model, seed, precision, dtype in (("mnist-cnn", 1, "fp64", torch.float64), ("bn-cnn", 7, "fp32", torch.float32)):
            _, parameters, _ = self.train(data, "--lr", 0, steps=1, batch=4, seed=seed, precision=precision, model=model)
            self.assertStartsAs(make_twin(model, seed, dtype), parameters)

    def test_sgd_with_momentum_and_dropout(self):
        """One random stream, as PyTorch's: first weights, then dropout masks."""
        data = self.small_data(60)
        mine = self.train(data, "--optimizer", "sgd", "--lr", 0.02, "--momentum", 0.9, steps=5, batch=12, dropout="on")
        self.assertSameTraining(mine, Oracle(data, steps=5, batch=12, lr=0.02, momentum=0.9, dropout=True))

    def test_adam(self):
        """Adam divides by the root of its average: for a gradient near 0 rounding becomes a full step."""
        data = self.small_data(60)
        oracle = Oracle(data, steps=5, batch=12, optimizer="adam", lr=2e-4)
        for words in ((), ("--fused-optimizer",)):
            self.assertSameTraining(self.train(data, "--optimizer", "adam", "--lr", 2e-4, "--lr-schedule", "none", *words, steps=5, batch=12), oracle)

    def test_epochs_are_reshuffled_and_the_rate_steps_down(self):
        """An epoch of 30 images has 4 steps of 8, the last of 6; 9 steps cross two epoch boundaries. Adadelta(1.0) and StepLR(0.7) are
        the model's defaults. Then the evaluation."""
        data = self.small_data(30)
        mine = self.train(data, steps=9, batch=8, seed=3, evaluate="end")
        oracle = Oracle(data, steps=9, batch=8, optimizer="adadelta", lr=1.0, gamma=0.7, seed=3)
        self.assertSameTraining(mine, oracle)
        np.testing.assert_allclose(mine[2]["lr"], [1.0, 0.7, 0.49], rtol=1e-12)
        loss, accuracy = oracle.evaluate(data)
        np.testing.assert_allclose((mine[2]["validation_loss"], mine[2]["validation_accuracy"]), ([loss], [accuracy]), rtol=1e-9)


if __name__ == "__main__":
    cli.main()
