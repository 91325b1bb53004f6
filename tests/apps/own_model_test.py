"""A user's own networks, TorchScript from a file, on synthetic data and on the user's own."""

import unittest
import zipfile

import ranklab_cli as cli

try:
    import h5py
    import numpy as np
    import torch

    import own_networks
    from torch import nn
except ImportError:
    torch = None


save = torch and own_networks.save


@unittest.skipIf(torch is None, "no torch in this Python")
class OwnModel(cli.Case):
    def train(self, *words, ranks=1):
        return cli.ranklab("train", *words, "--steps", 4, "--batch-size", 2, "--threads", 1, "--output", "r.h5", ranks=ranks, cwd=self.folder)

    def assertVerified(self, *words, ranks=1):
        result = self.train(*words, ranks=ranks)
        self.assertCode(result, 0)
        self.assertIn("verified      yes", result.stdout)

    def assertRefused(self, code, sentence, *words):
        with self.subTest(sentence):
            self.assertSays(self.train(*words, ranks=2), code, sentence)

    def own_data(self, name, count=40):
        """Writes samples as npy files and returns their options."""
        inputs, targets = own_networks.samples(name, count)
        files = [f"x{i}.npy" for i in range(len(inputs))]
        for file, values in zip((*files, "y.npy"), (*inputs, targets)):
            np.save(self.folder / file, values)
        return ["--inputs", ",".join(files), "--targets", "y.npy"]

    def test_trains_verified_at_1_2_and_3_ranks(self):
        for name in own_networks.NETWORKS:
            own_networks.export(name, self.folder)
            for ranks in (1, 2, 3):
                with self.subTest(name, ranks=ranks):
                    self.assertVerified(*own_networks.options(name), ranks=ranks)

    def test_counts_parameters_and_flops_as_pytorch(self):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.utils.flop_counter import FlopCounterMode

        for name in own_networks.NETWORKS:
            own_networks.export(name, self.folder)
            network, (inputs, _) = own_networks.network(name).eval(), own_networks.samples(name, 1)
            # PyTorch's FLOP counter misses fused operations.
            with torch.backends.mkldnn.flags(enabled=False), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
                network(*map(own_networks.in_fp32, inputs))
            plan = self.train(*own_networks.options(name), "--dry-run").stdout
            self.assertIn(f"# parameters: {sum(p.numel() for p in network.parameters())}\n", plan)
            self.assertIn(f"# forward-flops-per-sample: {counter.get_total_flops()} ", plan, name)

    def test_takes_the_options_of_other_networks(self):
        own_networks.export("two-inputs", self.folder)
        words = own_networks.options("two-inputs")
        for more in ("--precision bf16", "--memory-format channels-last", "--accumulate 2", "--sync c10d", "--compress fp16", "--checkpoint c", "--ablation"):
            with self.subTest(more):
                self.assertVerified(*words, *more.split(), ranks=2)
        self.assertVerified(*words, "--mode", "dp", "--replicas", 2)
        plan = self.train(*words, "--dry-run", "--buckets", "b.csv")
        self.assertIn("# parameters: 369\n", plan.stdout)
        own_networks.export("language", self.folder)
        self.assertCode(self.train(*own_networks.options("language"), "--dry-run", "--buckets", "l.csv"), 0)
        self.assertVerified(*own_networks.options("language"), "--mode", "dp")
        self.assertIn("\n0,6,169,fp32,", (self.folder / "b.csv").read_text(), "frozen parameters have no gradient, and unused ones zeros")

    def test_modules_of_other_types_and_with_randomness(self):
        example = torch.zeros(2, 3, 7, 7)

        def net():
            return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(0.2), nn.Flatten(), nn.Linear(392, 5))

        save(net().half(), self.folder / "half.pt", example.half())
        save(net().double(), self.folder / "double.pt", example.double())
        save(net().to(memory_format=torch.channels_last), self.folder / "last.pt", example)
        for name in ("half", "double", "last"):
            self.assertVerified("--model", f"{name}.pt", "--input-shape", "3x7x7", "--classes", 5, ranks=2)

    def test_own_data_of_npy_and_hdf5(self):
        own_networks.export("two-inputs", self.folder)
        words = own_networks.options("two-inputs")
        npy = self.own_data("two-inputs")
        with h5py.File(self.folder / "d.h5", "w") as file:
            file["x0"] = np.load(self.folder / "x0.npy")
            file.create_dataset("group/x1", data=np.load(self.folder / "x1.npy"), chunks=(7, 9), compression="gzip")
            file["y"] = np.load(self.folder / "y.npy").astype(">i2")
        hdf5 = ["--inputs", "d.h5:/x0,d.h5:/group/x1", "--targets", "d.h5:/y"]
        losses = []
        for data, files in (("npy", npy), ("hdf5", hdf5)):
            self.assertVerified(*words, "--data", data, *files, "--evaluate", "end", "--workers", 2, "--label", data, ranks=2)
            with h5py.File(self.folder / "r.h5") as file:
                (run,) = (run for run in file["runs"].values() if run.attrs["label"] in (data, data.encode()))
                losses.append(run["samples/train_loss"][()].ravel())
        np.testing.assert_array_equal(*losses, "the same numbers from npy and from HDF5, contiguous, packed or of another byte order")
        for path in ("x1.npy", "d.h5:/group/x1"):
            result = cli.ranklab("data", "verify", path, cwd=self.folder, ranks=2)
            self.assertCode(result, 0)
            self.assertIn("[40, 9] int64", result.stdout)

    def test_two_networks_of_one_name_are_kept_apart(self):
        words = ("--model", "net.pt", "--input-shape", 8, "--classes", 5)
        for network in (nn.Linear(8, 5), nn.Sequential(nn.Linear(8, 9), nn.Linear(9, 5))):
            save(network, self.folder / "net.pt")
            self.assertVerified(*words)
        self.assertIn("training.structure", cli.ranklab("report", self.folder / "r.h5", "--group-by", "model").stdout)

    def test_bad_networks_are_refused(self):
        torch.save({"a": torch.zeros(2)}, self.folder / "state.pt")
        torch.save(nn.Linear(8, 5), self.folder / "pickled.pt")
        (self.folder / "text.pt").write_text("no archive")
        (self.folder / "folder.pt").mkdir()
        save(nn.Linear(8, 5), self.folder / "net.pt")
        whole = (self.folder / "net.pt").read_bytes()
        (self.folder / "cut.pt").write_bytes(whole[:len(whole) // 2])
        with zipfile.ZipFile(self.folder / "net.pt") as old, zipfile.ZipFile(self.folder / "newer.pt", "w") as new:
            for item in old.infolist():
                new.writestr(item, b"99\n" if item.filename.endswith("/version") else old.read(item))
        torch.jit.save(torch.jit.freeze(torch.jit.script(nn.Linear(8, 5)).eval()), self.folder / "frozen.pt")

        class Pair(nn.Linear):
            def forward(self, x):
                return nn.functional.linear(x, self.weight), x

        class Detached(nn.Linear):
            def forward(self, x):
                return nn.functional.linear(x, self.weight).detach()

        class NoNumber(nn.Linear):
            def forward(self, x):
                return (nn.functional.linear(x, self.weight) - 1e9).log()

        for name, network in (("pair", Pair), ("detached", Detached), ("nan", NoNumber)):
            save(network(8, 5), self.folder / f"{name}.pt", torch.ones(2, 8))
        shape = ("--input-shape", 8, "--classes", 5)
        save_it = "save it with torch.jit.save(torch.jit.script(model), 'model.pt')"
        for name, code, sentence in (("state", 3, save_it), ("pickled", 3, save_it), ("text", 3, "is not TorchScript"), ("cut", 3, "cut.pt is not TorchScript"),
                                     ("newer", 3, "or older"), ("missing", 3, "cannot be read"), ("folder", 3, "cannot be read"),
                                     ("frozen", 2, "no trainable parameters"), ("pair", 2, "returns a Tuple instead of one tensor"),
                                     ("detached", 2, "depends on no trainable parameter"), ("nan", 3, "the first gradient's norm is nan")):
            self.assertRefused(code, sentence, "--model", f"{name}.pt", *shape)

    def test_impossible_options_are_refused(self):
        save(nn.Linear(8, 5), self.folder / "net.pt")
        for sentence, *words in (("needs --input-shape",), ("needs --classes, or --target-shape", "--input-shape", 8),
                                 ("--input-shape 8xa: give sizes", "--input-shape", "8xa", "--classes", 5),
                                 ("cannot compute a batch of 2 such samples: ", "--input-shape", 9, "--classes", 5), ("cannot compute a batch of 2 such samples: ", "--input-shape", "8:int64", "--classes", 5),
                                 ("cannot compute a batch of 2 such samples: ", "--input-shape", "8,8", "--classes", 5),
                                 ("2x5, but the target needs 2x6", "--input-shape", 8, "--classes", 6),
                                 ("use --target-shape", "--input-shape", 8, "--classes", 5, "--loss", "mse"),
                                 ("use --classes", "--input-shape", 8, "--target-shape", 5, "--loss", "nll"),
                                 ("--width, --jit, --dropout and --image-size are for", "--input-shape", 8, "--classes", 5, "--dropout", "off")):
            self.assertRefused(2, sentence, "--model", "net.pt", *words)
        self.assertRefused(2, "--classes is for --model FILE.pt or FILE.py", "--classes", 5)
        self.assertRefused(2, "--model FILE.py", "--data", "npy", "--model", "mnist-cnn")

    def test_bad_data_is_refused(self):
        save(nn.Linear(8, 5), self.folder / "net.pt")
        random = np.random.default_rng(1)
        for name, values in {"x": random.normal(size=(20, 8)).astype("f4"), "wide": np.zeros((20, 9), "f4"), "few": np.zeros((9, 8), "f4"),
                             "complex": np.zeros((20, 8), "c8"), "big": np.zeros((20, 8), ">f4"), "y": random.integers(0, 5, 20),
                             "six": np.arange(20) % 6, "float": np.zeros(20), "nan": np.full((20, 8), np.nan, "f4")}.items():
            np.save(self.folder / f"{name}.npy", values)
        np.save(self.folder / "fortran.npy", np.asfortranarray(random.normal(size=(20, 8))))
        (self.folder / "cut.npy").write_bytes((self.folder / "x.npy").read_bytes()[:-9])
        with h5py.File(self.folder / "d.h5", "w") as file:
            file["x"], file["words"] = np.zeros((20, 8), "f4"), np.array([b"a"] * 20)
        network = ("--model", "net.pt", "--input-shape", 8, "--classes", 5)
        for inputs, targets, code, sentence in (
                ("wide", "y", 3, "[9]"), ("few", "y", 3, "few.npy holds 9"),
                ("complex", "y", 3, "of the type '<c8'"), ("big", "y", 3, "of the type '>f4'"), ("fortran", "y", 3, "Fortran"),
                ("cut", "y", 3, "cut.npy"), ("none", "y", 3, "none.npy"), ("x", "six", 3, "class 5"),
                ("x", "float", 3, "int64"), ("x", "x", 3, "[8]"), ("nan", "y", 3, "the first gradient's norm is nan")):
            self.assertRefused(code, sentence, *network, "--data", "npy", "--inputs", f"{inputs}.npy", "--targets", f"{targets}.npy")
        for inputs, code, sentence in (("d.h5", 2, "write FILE:/DATASET"), ("d.h5:/none", 3, "d.h5:/none"), ("d.h5:/words", 3, "d.h5:/words"),
                                       ("x.npy:/x", 3, "x.npy")):
            self.assertRefused(code, sentence, *network, "--data", "hdf5", "--inputs", inputs, "--targets", "d.h5:/x")
        self.assertRefused(2, "--inputs", *network, "--data", "npy", "--inputs", "x.npy,x.npy", "--targets", "y.npy")
        self.assertRefused(2, "20 samples", *network, "--data", "npy", "--inputs", "x.npy", "--targets", "y.npy", "--train-samples", 21)


if __name__ == "__main__":
    unittest.main()
