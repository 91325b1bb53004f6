"""A quota that is full when a file is written, synced or closed: one sentence and exit code 5, without a crash or a hang."""

import ranklab_cli as cli

IO = ("io", "-n", 4, "-s", 200, "--output", "none", "--directory", "o", "--ceilings", "off")


class QuotaTest(cli.Case):
    def at(self, call, on, *words, ranks=1, after=0):
        env = cli.environment(LD_PRELOAD=cli.BIN.parent / "tests" / "quota.so", QUOTA_ON=on, QUOTA_AT=call, QUOTA_AFTER=after)
        return cli.ranklab(*words, ranks=ranks, cwd=self.folder, env=env)

    def test_files_of_every_strategy(self):
        strategies = [("binary", 1), ("hdf5-serial", 1), *((f"hdf5-parallel-{kind}", ranks) for kind in ("independent", "collective") for ranks in (1, 2))]
        cases = [(call, *strategy) for call in ("write", "fsync", "close") for strategy in strategies]

        def of(case):
            call, strategy, ranks = case
            if strategy.startswith("hdf5-parallel") and call == "close": return None  # HDF5 and MPI-IO do not look at close's result
            return self.at(call, "/data", *IO, "--strategy", strategy, "--fsync", ranks=ranks)

        for case, result in zip(cases, cli.several(of, cases)):
            if result is not None:
                with self.subTest(case=case): self.assertSays(result, 5, "o/data")

    def test_a_late_failure_of_one_file(self):
        for strategy in ("hdf5-serial", "hdf5-parallel-independent", "hdf5-parallel-collective"):
            with self.subTest(strategy=strategy):
                self.assertSays(self.at("write", "/data", *IO, "--strategy", strategy, ranks=2 if "parallel" in strategy else 1, after=400000), 5, "o/data")

    def test_the_results_file(self):
        comm = ("comm", "--sizes", "1K", "-n", 5, "-w", 1)
        self.assertCode(cli.ranklab(*comm, "--output", "r.h5", cwd=self.folder), 0)
        before = (self.folder / "r.h5").read_bytes()
        for call in ("write", "fsync"):
            for ranks in (1, 2):
                with self.subTest(call=call, ranks=ranks):
                    self.assertSays(self.at(call, "r.h5", *comm, "--output", "r.h5", ranks=ranks), 5, "r.h5")
                    self.assertEqual((self.folder / "r.h5").read_bytes(), before)


if __name__ == "__main__":
    cli.main()
