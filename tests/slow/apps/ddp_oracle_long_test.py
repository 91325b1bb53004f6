"""PyTorch's DistributedDataParallel as the oracle of `ranklab train` on two and three ranks, for two networks and twenty steps: every gradient
synchronisation that promises equal ranks gives DDP's losses, gradients and final parameters. The short form: tests/oracle/ddp_oracle_test.py.

241 images divide neither by 2 nor by 3, so the shares are padded, and 20 steps cross epoch boundaries. PyTorch trains once for
each number of ranks; every strategy is compared with that.
"""

import ranklab_cli as cli
from torch_oracle import OracleCase, in_ddp, make_twin, np, torch

MODELS = ("mnist-cnn", "bn-cnn")
RANKS = (2, 3)
IMAGES, BATCH, STEPS, LR, GAMMA, SEED = 241, 12, 20, 0.05, 0.7, 5
LARGE_LR = 1024.0  # one step leaves its gradient in the parameters
# BatchNorm's backward takes large sums from each other: in fp32, DDP's own gradients of bn-cnn are 2.5e-5 from those in fp64.
FP32_GRADIENT = {"mnist-cnn": 1e-5, "bn-cnn": 1e-4}


class DdpOracleTest(OracleCase):
    oracle = {}  # one for all tests

    def setUp(self):
        super().setUp()
        self.data = self.small_data(IMAGES)
        common = {"batch": BATCH, "seed": SEED, "lr": LR, "gamma": GAMMA}
        cases = {f"{model}-{dtype}": dict(common, model=model, dtype=dtype, steps=steps) for model in MODELS
                 for dtype, steps in (("float64", STEPS), ("float32", 1))}
        for ranks in RANKS:
            if ranks not in self.oracle:
                self.oracle[ranks] = in_ddp(cases, self.data, ranks, self.folder / f"ranks{ranks}")
        self.equal_syncs = [name for name in cli.sync_strategies() if name != "none"]

    def trained(self, model, ranks, sync, precision, steps, lr):
        """(losses of every step, {parameter: values}) of `ranklab train`."""
        losses, parameters, _ = self.train(self.data, "--mode", "ddp", "--sync", sync, "--optimizer", "sgd", "--lr", lr, "--lr-schedule", "step", "--gamma",
                                           GAMMA, steps=steps, batch=BATCH, ranks=ranks, seed=SEED, precision=precision, model=model,
                                           name=f"{model}-{ranks}-{sync}-{precision}")
        return losses, parameters

    @staticmethod
    def tensors(oracle, kind):
        return {name.partition("/")[2]: values.ravel() for name, values in oracle.items() if name.startswith(kind + "/")}
    def for_each(self, precision, steps, lr, check):
        """check(model, ranks, what ranklab made) for every model, number of ranks and strategy, as a subtest."""
        cases = [(model, ranks, sync) for model in MODELS for ranks in RANKS for sync in self.equal_syncs]

        def attempt(case):
            try:
                return self.trained(*case, precision, steps, lr)
            except AssertionError as error:
                return error

        for (model, ranks, sync), made in zip(cases, cli.several(attempt, cases)):
            with self.subTest(model=model, ranks=ranks, sync=sync):
                if isinstance(made, AssertionError):
                    raise made
                check(model, ranks, made)

    def assertSameTraining(self, made, oracle):
        losses, parameters = made
        self.assertEqual(len(losses), STEPS)
        np.testing.assert_allclose(losses, oracle["losses"], rtol=1e-9, atol=0)
        self.assertSameTensors(parameters, self.tensors(oracle, "parameters"), 1e-9)

    def test_twenty_steps_in_fp64_are_those_of_ddp(self):
        self.assertGreaterEqual(len(self.equal_syncs), 2, self.equal_syncs)
        self.for_each("fp64", STEPS, LR, lambda model, ranks, made: self.assertSameTraining(made, self.oracle[ranks][f"{model}-float64"]))

    def test_the_first_gradients_in_fp32_are_those_of_ddp(self):
        def check(model, ranks, made):
            losses, parameters = made
            oracle = self.oracle[ranks][f"{model}-float32"]
            np.testing.assert_allclose(losses, oracle["losses"], rtol=1e-6)
            start = {name: p.detach().double().numpy().ravel() for name, p in make_twin(model, SEED, torch.float32).named_parameters()}
            gradients = {name: (start[name] - values) / LARGE_LR for name, values in parameters.items()}
            self.assertSameTensors(gradients, self.tensors(oracle, "gradients"), FP32_GRADIENT[model])

        self.for_each("fp32", 1, LARGE_LR, check)

    def test_ranks_that_do_not_synchronise_are_told_apart(self):
        """Or the comparison would see nothing."""
        made = self.trained("mnist-cnn", 2, "none", "fp64", STEPS, LR)
        with self.assertRaises(AssertionError):
            self.assertSameTraining(made, self.oracle[2]["mnist-cnn-float64"])


if __name__ == "__main__":
    cli.main()
