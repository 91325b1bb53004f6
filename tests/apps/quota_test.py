"""A quota that is full when a file is written, synced or closed, or a disk that cannot be read: one sentence and exit code 5, without a crash or a hang."""

import ranklab_cli as cli

IO = ("io", "-n", 4, "-s", 200, "--output", "none", "--directory", "o", "--ceilings", "off", "--fsync", "--strategy")
PARALLEL = [(f"hdf5-parallel-{kind}", ranks) for kind in ("independent", "collective") for ranks in (1, 2)]


class QuotaTest(cli.Case):
    def refused(self, call, on, *words, ranks=1, after=0):
        folder = cli.tempfile.mkdtemp(dir=self.folder)
        env = cli.environment(LD_PRELOAD=cli.BIN.parent / "tests" / "quota.so", QUOTA_ON=on, QUOTA_AT=call, QUOTA_AFTER=after)
        result = cli.ranklab(*words, ranks=ranks, cwd=folder, env=env)
        result.stderr = "\n".join(line for line in result.stderr.splitlines() if not line.startswith("mca_"))  # of Open MPI's MPI-IO
        self.assertSays(result, 5, on)

    def test_files_of_every_strategy(self):
        # MPI-IO does not report a failed close.
        cases = [(call, strategy, 1, 0) for call in ("write", "fsync", "close") for strategy in ("binary", "hdf5-serial")]
        cases += [(call, *strategy, 0) for call in ("write", "fsync") for strategy in PARALLEL]
        cases += [("write", strategy, ranks, 400000) for strategy, ranks in (("hdf5-serial", 1), *PARALLEL)]
        for call, strategy, ranks, after in cases:
            with self.subTest(call=call, strategy=strategy, ranks=ranks, after=after):
                self.refused(call, "o/data", *IO, strategy, ranks=ranks, after=after)

    def test_the_results_file(self):
        for call, after in (("write", 0), ("write", 3000), ("fsync", 0), ("close", 0)):
            for ranks in (1, 2):
                with self.subTest(call=call, after=after, ranks=ranks):
                    self.refused(call, "r.h5", "comm", "--sizes", "1K", "-n", 5, "-w", 1, "--output", "r.h5", ranks=ranks, after=after)

    def test_a_disk_that_cannot_be_read(self):
        own = ("train", "--input-shape", 8, "--classes", 5, "--steps", 2, "--batch-size", 2, "--threads", 1, "--output", "none", "--model")
        points, image = self.folder / "points.csv", self.folder / "train.bin"
        points.write_text("ranks,time_s\n1,1\n2,0.6\n4,0.4\n")
        image.write_bytes((b"\x04\x00" + bytes(3072)) * 3)
        cases = [("points.csv", "predict", "--points", points, "--to", 8)]
        if cli.HAS_TRAIN:
            import numpy as np
            import torch

            torch.jit.save(torch.jit.script(torch.nn.Linear(8, 5)), self.folder / "net.pt")
            np.save(self.folder / "x.npy", np.zeros((20, 8), np.float32))
            np.save(self.folder / "y.npy", np.arange(20) % 5)
            npy = ("--data", "npy", "--inputs", self.folder / "x.npy", "--targets", self.folder / "y.npy")
            cases += [("net.pt", *own, self.folder / "net.pt"), ("x.npy", *own, self.folder / "net.pt", *npy),
                      ("train.bin", "data", "verify", image)]
        for on, *words in cases:
            with self.subTest(on):
                self.refused("read", on, *words)


if __name__ == "__main__":
    cli.main()
