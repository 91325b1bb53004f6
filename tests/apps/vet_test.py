"""`ranklab comm --op pairs` and `ranklab vet` on ranks of this host. The decision: tests/unit/stats/fleet_test.cpp and
tests/unit/campaign/vet_test.cpp."""

import json
import unittest

import ranklab_cli as cli

LAUNCHER = " ".join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound)
PAIRS = ("comm", "--op", "pairs", "-n", 3, "-w", 1, "-e", "64K", "--output", "r.h5")


class PairsTest(cli.Case):
    def test_every_rank_meets_others_and_every_element_is_checked(self):
        for ranks in (2, 3, 4):
            with self.subTest(ranks=ranks):
                result = cli.ranklab(*PAIRS, "--rounds", 6, "--json", "--quiet", ranks=ranks, cwd=self.folder)
                self.assertCode(result, 0)
                run = json.loads(result.stdout)["runs"][0]
                table = run["tables"]["pairs"]
                self.assertEqual(set(table["round"]), set(range(6)))
                self.assertEqual(len(table["round"]), 6 * (ranks // 2))
                for row, (a, b) in enumerate(zip(table["rank_a"], table["rank_b"])):
                    self.assertLess(a, b)
                    self.assertGreater(table["latency_us"][row], 0)
                    self.assertGreater(table["bandwidth_GBps"][row], 0)
                self.assertEqual({*table["rank_a"], *table["rank_b"]}, set(range(ranks)))
                self.assertEqual(set(run["tables"]["messages"]["wrong_elements"]), {0})
                self.assertEqual(set(run["tables"]["verification"]["result"]), {"passed"})

    def test_rounds_follow_from_the_ranks_and_faults_are_found(self):
        result = cli.ranklab(*PAIRS, "--dry-run", ranks=3, cwd=self.folder)
        self.assertIn("# rounds: 4", result.stdout)
        result = cli.ranklab(*PAIRS, "--fault", "flip:1", ranks=2, cwd=self.folder)
        self.assertCode(result, 3)
        self.assertIn("wrong", result.stdout)

    def test_refusals(self):
        result = cli.ranklab(*PAIRS, cwd=self.folder)
        self.assertCode(result, 2)
        self.assertIn("pairs need two ranks", result.stderr)
        for words in (("--op", "allreduce", "--rounds", 3), ("--op", "pairs", "--sizes", "8")):
            self.assertCode(cli.ranklab("comm", *words, ranks=2, cwd=self.folder), 2)


@unittest.skipUnless(cli.HAS_TRAIN, "vet starts ranklab train")
class VetTest(cli.Case):
    def vet(self, *words, ranks):
        return cli.ranklab("vet", "--ranks", ranks, "--rounds", 3, "--launcher-options", LAUNCHER, "--output", "r.h5", *words, cwd=self.folder, timeout=300)

    def test_two_ranks_are_measured_and_judged(self):
        result = self.vet("--format", "json", ranks=2)
        report = json.loads(result.stdout)
        self.assertIn(result.code, (0, 4))
        self.assertEqual(report["exit_code"], result.code)
        self.assertEqual(bool(report["findings"]), result.code == 4)
        self.assertEqual((report["nodes"], report["failed"], report["silent"], report["exclude"]), (2, [], [], ""))
        self.assertEqual(len(report["measured"]), 6)
        schema = json.loads((cli.SOURCE / "docs" / "schema" / "vet.schema.json").read_text())
        self.assertEqual(list(report), schema["required"])
        for finding in report["findings"]:
            self.assertEqual(list(finding), schema["properties"]["findings"]["items"]["required"])

    def test_one_rank_is_compared_with_its_past_only(self):
        result = self.vet(ranks=1)
        self.assertCode(result, 0)
        self.assertIn("nothing stands out", result.stdout)
        self.assertLess(len(result.stdout.splitlines()), 24)

    def test_a_program_that_fails_is_named(self):
        (self.folder / "output").write_text("a file where the folder should be")
        result = self.vet("--quiet", ranks=1)
        self.assertNotIn(result.code, (0, 4))
        self.assertIn("FAILED", result.stdout)

    def test_refusals_and_a_dry_run(self):
        self.assertEqual(len(self.vet("--dry-run", ranks=2).stdout.splitlines()), 4)
        self.assertEqual(self.names(), [])
        self.assertCode(self.vet("--min-effect", "5", ranks=2), 2)
        self.assertCode(cli.ranklab("vet", "--output", "none", cwd=self.folder), 2)


if __name__ == "__main__":
    cli.main()
