"""configs/io: each file passes --dry-run, names its command line, and its values are the effective ones. io_test.py runs the short one."""

import re

import ranklab_cli as cli

ALL = sorted((cli.SOURCE / "configs" / "io").glob("*.ini"))


def values(path):
    pairs = (line.split("=", 1) for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


class EveryConfiguration(cli.Case):
    def test_passes_a_dry_run_and_says_how_it_is_started(self):
        self.assertGreaterEqual(len(ALL), 14)
        results = cli.several(lambda path: cli.ranklab("io", "--config", path, "--dry-run", cwd=self.folder), ALL)
        for path, result in zip(ALL, results):
            with self.subTest(config=path.name):
                self.assertIn(f"ranklab io --config configs/io/{path.name}", path.read_text())
                self.assertCode(result, 0)
                effective = dict(re.findall(r"^# ([a-z0-9-]+): (.*)$", result.stdout, re.MULTILINE))
                for key, value in values(path).items():
                    if key != "strategy":  # "all" is shown as the list of strategies
                        self.assertEqual(effective.get(key), value, key)

    def test_every_rung_has_one(self):
        self.assertEqual({values(path)["strategy"] for path in ALL} - {"all"}, set(cli.rungs()))


if __name__ == "__main__":
    cli.main()
