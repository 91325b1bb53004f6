"""Kinds of users' own networks, from public bug reports of other programs: parameters and gradients of all types and shapes, inputs that forward
changes, batches of one, orders of scores, damaged files. Each works, or is refused in a sentence before the first step."""

import json
import re
import struct
import zipfile

import ranklab_cli as cli

cli.need_train()
(h5py, np, torch) = cli.modules("h5py", "numpy", "torch")
from torch import nn  # noqa: E402

import own_networks  # noqa: E402
from own_networks import save  # noqa: E402

SHAPE = ("--input-shape", 8, "--classes", 5)


class Parameter(nn.Module):
    """A layer with one more parameter, or buffer, that scales its output."""

    def __init__(self, values, buffer=False):
        super().__init__()
        self.layer = nn.Linear(8, 5)
        if buffer:
            self.register_buffer("more", values)
        else:
            self.more = nn.Parameter(values)

    def forward(self, x):
        return self.layer(x) * (1 + (self.more * self.more).sum().to(x.dtype))


class Kinds(cli.Case):
    def train(self, name, *words, ranks=1):
        given = {str(word) for word in words}
        shape = () if "--input-shape" in given else SHAPE
        steps = () if "--epochs" in given else ("--steps", 3)
        batch = () if "--batch-size" in given else ("--batch-size", 2)
        output = () if "--output" in given else ("--output", "none")
        return cli.ranklab("train", "--model", f"{name}.pt", *shape, *steps, *batch, *output, "--threads", 1, *words, ranks=ranks, cwd=self.folder)

    def losses(self, name, *words, ranks=1):
        """Returns the loss of each step."""
        (self.folder / "r.h5").unlink(missing_ok=True)
        self.assertCode(self.train(name, *words, "--output", "r.h5", ranks=ranks), 0)
        with h5py.File(self.folder / "r.h5") as file:
            (run,) = file["runs"].values()
            return run["samples/train_loss"][()].ravel()

    def assertVerified(self, name, *words, ranks=1):
        result = self.train(name, *words, ranks=ranks)
        self.assertCode(result, 0)
        self.assertIn("verified      yes", result.stdout)
        return result

    def save(self, name, network, example=None):
        save(network, self.folder / f"{name}.pt", example)
        return name

    def test_parameters_of_every_type_and_shape(self):
        for name, values in {"scalar": torch.tensor(1.0), "empty": torch.zeros(0, 3), "half": torch.ones(3).half(), "bf16": torch.ones(3).bfloat16(),
                             "double": torch.ones(3).double(), "turned": torch.ones(3, 4).t(), "strided": torch.ones(8)[::2], "expanded": torch.ones(1).expand(3)}.items():
            for ranks in (1, 2) if name in ("empty", "strided") else (1,):
                with self.subTest(name, ranks=ranks):
                    self.assertVerified(self.save(name, Parameter(values)), ranks=ranks)
        self.assertVerified(self.save("bool", Parameter(torch.ones(3).bool(), buffer=True)), ranks=2)
        for buffer in (False, True):
            self.assertSays(self.train(self.save("wave", Parameter(torch.ones(3, dtype=torch.complex64), buffer)), ranks=2), 2, "'more'", "complex")
        self.assertSays(self.train(self.save("int16", Parameter(torch.ones(3, dtype=torch.int16), buffer=True))), 2, "Short")

    def test_a_frozen_integer_comes_first(self):
        class Frozen(nn.Module):
            def __init__(self):
                super().__init__()
                self.number = nn.Parameter(torch.tensor(3), requires_grad=False)
                self.layer = nn.Linear(8, 5)

            def forward(self, x):
                return self.layer(x)

        self.assertVerified(self.save("frozen", Frozen()), ranks=2)

    def test_gradients_that_cannot_be_summed(self):
        class Sparse(nn.Module):
            def __init__(self):
                super().__init__()
                self.tokens = nn.Embedding(9, 5, sparse=True)

            def forward(self, x):
                return self.tokens(x).mean(1)

        class Overwrites(nn.Linear):
            def forward(self, x):
                y = nn.functional.linear(x, self.weight)
                return y.exp_() * y.exp_()

        self.assertSays(self.train(self.save("sparse", Sparse()), "--input-shape", "8:int64", "--classes", 5), 2, "'tokens.weight'", "sparse")
        self.assertSays(self.train(self.save("overwrites", Overwrites(8, 5))), 2, "cannot be trained", "inplace operation")

    def test_forward_may_change_its_input(self):
        class Changes(nn.Linear):
            def forward(self, x):
                x.mul_(2).add_(1)
                return nn.functional.linear(x, self.weight)

        class Keeps(nn.Linear):
            def forward(self, x):
                return nn.functional.linear(x * 2 + 1, self.weight)

        def drops(inplace):
            return lambda *sizes: nn.Sequential(nn.Dropout(0.5, inplace), nn.Linear(*sizes))

        for name, network in (("changes", Changes), ("keeps", Keeps), ("drops_in_place", drops(True)), ("drops", drops(False))):
            torch.manual_seed(1)
            self.save(name, network(8, 5))
        np.testing.assert_array_equal(self.losses("drops_in_place", "--input", "synthetic"), self.losses("drops", "--input", "synthetic"))
        for words in ((), ("--input", "synthetic")):
            for ranks in (1, 2):
                with self.subTest(words=words, ranks=ranks):
                    np.testing.assert_array_equal(*(self.losses(name, *words, ranks=ranks) for name in ("changes", "keeps")))

    def test_layers_have_the_flops_of_the_dry_run(self):
        for name in ("lstm", "transformer"):
            with self.subTest(name):
                own_networks.export(name, self.folder)
                words = ("train", *own_networks.options(name), "--batch-size", 3, "--threads", 1)
                plan = cli.ranklab(*words, "--dry-run", cwd=self.folder)
                flops = int(re.search(r"# forward-flops-per-sample: (\d+) ", plan.stdout).group(1))
                self.assertCode(cli.ranklab(*words, "--steps", 2, "--profile", "layers", "--output", f"{name}.h5", cwd=self.folder), 0)
                with h5py.File(self.folder / f"{name}.h5") as file:
                    (run,) = file["runs"].values()
                    self.assertEqual(run["tables/layers"]["forward_flops"].sum(), 3 * flops)
                    attention = {row["layer"].decode(): int(row["forward_flops"]) for row in run["tables/layers"] if b"attention" in row["layer"]}
                # Of 3 samples: two products over all pairs of 16 tokens, in 32 channels.
                expected = {f"encoder.layers.{i}.attention": 3 * 2 * 2 * 16 * 16 * 32 for i in range(2)}
                self.assertEqual(attention, expected if name == "transformer" else {})

    def test_a_mode_that_a_trace_has_fixed_is_named(self):
        class Recurrent(nn.Module):
            def __init__(self, dropout):
                super().__init__()
                self.inner = nn.LSTM(8, 6, 2, batch_first=True, dropout=dropout)
                self.head = nn.Linear(6, 5)

            def forward(self, x):
                return self.head(self.inner(x.unsqueeze(1))[0][:, -1])

        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 5)

            def forward(self, x):
                y = x.view(-1, 2, 4)
                return self.layer(nn.functional.scaled_dot_product_attention(y, y, y, dropout_p=0.1 if self.training else 0.0).flatten(1))

        def norm(**words):
            return nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6, **words), nn.Linear(6, 5))

        fixed = {"dropout": nn.Sequential(nn.Linear(8, 5), nn.Dropout(0.1)), "norm": norm(), "lstm": Recurrent(0.1)}
        free = {"none": nn.Linear(8, 5), "no_rate": nn.Sequential(nn.Linear(8, 5), nn.Dropout(0.0)), "no_statistics": norm(track_running_stats=False),
                "plain_lstm": Recurrent(0.0)}
        evaluated = ("--validation-samples", 4, "--evaluate", "end", "--batch-size", 2)
        said = {True: "traced in training mode", False: "traced in evaluation mode", None: ""}

        def check(network, traces, training, words=evaluated):
            """`training`: the fixed mode that is named; None: no mode is."""
            self.save("net", network, torch.randn(2, 8) if traces else None)
            result = self.train("net", *words)
            self.assertCode(result, 0)
            for mode in (True, False):
                self.assertEqual(said[mode] in result.stdout + result.stderr, mode is training, str(result))

        for name, network in {**fixed, **free, "attention": Attention()}.items():
            for training in (True, False):
                with self.subTest(name, training=training):
                    told = training if name in fixed or (name == "attention" and training) else None
                    check(network.train(training), True, told)
            with self.subTest(name, scripted=True):
                check(network.train(), False, None)
        check(fixed["norm"].train(), True, None, ("--evaluate", "off"))

    def test_batches_that_the_network_cannot_compute(self):
        class Squeezes(nn.Linear):
            def forward(self, x):
                return nn.functional.linear(x, self.weight).squeeze()

        self.save("squeezes", Squeezes(8, 5))
        self.save("norm", nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6), nn.Linear(6, 5)))
        odd, even = ("--train-samples", 9, "--validation-samples", 4, "--epochs", 1), ("--train-samples", 8, "--validation-samples", 4, "--epochs", 1)
        for name in ("squeezes", "norm"):
            with self.subTest(name):
                self.assertSays(self.train(name, *odd), 2, "batch 5 of an epoch has only 1 sample", "--batch-size", "--sharding")
                self.assertSays(self.train(name, *even, "--batch-size", 1), 2, "batch 1 of an epoch has only 1 sample", "--batch-size")
                self.assertSays(self.train(name, *odd[:1], 18, *odd[2:], "--sharding", "exact", ranks=2), 2, "has only 1 sample", "--sharding")
                self.assertVerified(name, *even)
        self.assertSays(self.train("squeezes", *even[:2], "--validation-samples", 5, "--eval-batch-size", 4, "--epochs", 1), 2, "last batch of an evaluation")
        self.assertVerified("norm", *even[:2], "--validation-samples", 5, "--eval-batch-size", 4, "--epochs", 1)

    def test_integer_inputs_and_both_orders_of_scores(self):
        class Language(nn.Module):
            def __init__(self, places):
                super().__init__()
                self.tokens = nn.Embedding(300, 6)
                self.head = nn.Linear(6, places)

            def forward(self, x):
                return self.head(self.tokens(x.int()))

        class PyTorchs(Language):
            def forward(self, x):
                return self.head(self.tokens(x.int())).transpose(1, 2)

        class Mask(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 5)

            def forward(self, x, mask):
                return self.layer(torch.where(mask, x, torch.zeros_like(x)))

        for kind in ("int64", "int32", "uint8", "bool"):
            self.assertVerified(self.save("language", Language(300)), "--input-shape", f"4:{kind}", "--target-shape", 4, "--classes", 300, ranks=2)
        self.assertVerified(self.save("mask", Mask()), "--input-shape", "8,8:bool", "--classes", 5)
        self.assertSays(self.train("mask", "--input-shape", "8,8:int7", "--classes", 5), 2, ":bool")
        losses = {}
        np.save(self.folder / "x.npy", np.random.default_rng(1).integers(0, 300, (40, 4), np.int32))
        np.save(self.folder / "y.npy", np.random.default_rng(2).integers(0, 7, (40, 4)))
        for network in (Language, PyTorchs):
            torch.manual_seed(1)
            name = self.save(network.__name__, network(7))
            losses[name] = self.losses(name, "--input-shape", "4:int64", "--target-shape", 4, "--classes", 7, "--data", "npy", "--inputs", "x.npy", "--targets", "y.npy")
        np.testing.assert_array_equal(*losses.values())
        np.save(self.folder / "x.npy", np.full((40, 4), 301))
        self.assertSays(self.train("Language", "--input-shape", "4:int64", "--target-shape", 4, "--classes", 7, "--data", "npy", "--inputs", "x.npy", "--targets", "y.npy"),
                        3, "301", "in sample")

    def test_what_libtorch_lacks_or_prints(self):
        torch.library.define("ranklab_test::twice", "(Tensor x) -> Tensor")

        @torch.jit.script
        def twice(x):
            return torch.ops.ranklab_test.twice(x)

        class Unknown(nn.Linear):
            def forward(self, x):
                return twice(nn.functional.linear(x, self.weight))

        class Device(nn.Linear):
            def forward(self, x):
                return nn.functional.linear(x.to("cuda:0"), self.weight)

        class Prints(nn.Linear):
            def forward(self, x):
                print("shape", x.shape)
                return nn.functional.linear(x, self.weight)

        result = self.train(self.save("unknown", Unknown(8, 5)))
        self.assertSays(result, 3, "operators", "ranklab_test::twice")
        self.assertNotIn("is not TorchScript", result.stderr)
        self.assertSays(self.train(self.save("device", Device(8, 5))), 2, "fixes no batch size, type or device")
        result = self.train(self.save("prints", Prints(8, 5)), "--json", "--quiet")
        self.assertCode(result, 0)
        self.assertEqual(len(json.loads(result.stdout)["runs"]), 1)
        self.assertIn("shape [2, 8]", result.stderr)

    def test_damaged_files(self):
        self.save("net", nn.Linear(8, 5))
        whole = (self.folder / "net.pt").read_bytes()
        weight = struct.pack("<f", torch.jit.load(self.folder / "net.pt").weight[2, 3])
        flipped = bytearray(whole)
        flipped[whole.index(weight)] ^= 4
        (self.folder / "flipped.pt").write_bytes(flipped)
        for how in ("kept", "short"):
            with zipfile.ZipFile(self.folder / "net.pt") as old, zipfile.ZipFile(self.folder / f"{how}.pt", "w") as new:
                for item in old.infolist():
                    data = old.read(item)
                    new.writestr(item.filename, data[:100] if how == "short" and len(data) == 160 else data)
        self.assertVerified("kept")
        for name in ("flipped", "short"):
            for ranks in (1, 2):
                with self.subTest(name, ranks=ranks):
                    self.assertSays(self.train(name, ranks=ranks), 3, f"{name}.pt is damaged")

    def test_ranks_that_read_different_files(self):
        self.save("net", nn.Linear(8, 5))
        random = np.random.default_rng(1)
        inputs, targets = random.normal(size=(200, 8)).astype("f4"), random.integers(0, 5, 200)
        variable = cli.LAUNCHER.rank_variable
        for name, count, last in (("fewer", 150, 1), ("one fewer", 199, 1), ("other", 200, 2)):
            for rank in (0, 1):
                place = self.folder / str(rank)
                place.mkdir(exist_ok=True)
                rows = np.array(inputs)
                rows[-1] *= last if rank else 1
                np.save(place / "x.npy", rows[:count if rank else 200])
                np.save(place / "y.npy", targets[:count if rank else 200])
            words = ("bash", "-c", f'cd ${variable}; exec "$@"', "bash", cli.RANKLAB, "train", "--model", "../net.pt", *SHAPE, "--data", "npy", "--inputs", "x.npy",
                     "--targets", "y.npy", "--epochs", 1, "--batch-size", 4, "--threads", 1, "--output", "none")
            with self.subTest(name):
                result = cli.mpirun(2, *words, cwd=self.folder)
                self.assertSays(result, 3, "different files")
                self.assertLess(result.seconds, 30 * cli.patience())

    def test_ranks_that_read_different_networks(self):
        for rank in (0, 1):
            (self.folder / str(rank)).mkdir()
            self.save(f"{rank}/net", nn.Sequential(nn.Linear(8, 6 + rank), nn.Linear(6 + rank, 5)))
        words = ("bash", "-c", f'cd ${cli.LAUNCHER.rank_variable}; exec "$@"', "bash", cli.RANKLAB, "train", "--model", "net.pt", *SHAPE, "--steps", 2, "--output", "none")
        self.assertSays(cli.mpirun(2, *words, cwd=self.folder), 3, "different files")

    def test_data_that_numpy_and_h5py_save(self):
        self.save("net", nn.Linear(8, 5))
        np.save(self.folder / "y.npy", np.arange(20) % 5)
        for name, values, said in (("text", np.array([["a"] * 8] * 20), "text"), ("bytes", np.array([[b"a"] * 8] * 20), "text"), ("date", np.zeros((20, 8), "M8[s]"), "dates"),
                                   ("object", np.array([[None] * 8] * 20), "objects")):
            np.save(self.folder / f"{name}.npy", values)
            with self.subTest(name):
                result = self.train("net", "--data", "npy", "--inputs", f"{name}.npy", "--targets", "y.npy")
                self.assertSays(result, 3, f"{name}.npy", said)
                self.assertNotIn("astype", result.stderr)
        zeros = np.zeros((20, 8), "f4")
        with h5py.File(self.folder / "source.h5", "w") as file: file["x"] = zeros
        with h5py.File(self.folder / "d.h5", "w") as file:
            file["colour"] = np.zeros((20, 8), h5py.enum_dtype({"red": 0, "green": 1}))
            file["bool"], file["y"] = zeros > 1, np.arange(20) % 5
            file.create_dataset("lzf", data=zeros, compression="lzf")
            file.create_dataset("packed", data=zeros, chunks=(20, 8), compression="gzip", shuffle=True, fletcher32=True)
            layout = h5py.VirtualLayout((20, 8), "f4")
            layout[:] = h5py.VirtualSource("gone.h5", "x", (20, 8))
            file.create_virtual_dataset("virtual", layout)
            file.create_dataset("outside", shape=(20, 8), dtype="f4", external=[("raw", 0, 640)])
        (self.folder / "raw").write_bytes(bytes(640))
        hdf5 = ("--data", "hdf5", "--targets", "d.h5:/y", "--inputs")
        for name in ("bool", "packed"):
            self.assertVerified("net", *hdf5, f"d.h5:/{name}")
        for name, said in (("colour", "numbers"), ("lzf", "filter lzf"), ("virtual", "other files"), ("outside", "other files")):
            with self.subTest(name):
                self.assertSays(self.train("net", *hdf5, f"d.h5:/{name}", ranks=2), 3, f"d.h5:/{name}", said)


if __name__ == "__main__":
    cli.main()
