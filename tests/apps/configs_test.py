"""The shipped configurations: one of each kind passes --dry-run, one for many ranks refuses fewer, a short form runs."""

import configparser
import re

import ranklab_cli as cli
from stored_runs import stored_runs

cli.need_train()

CONFIGS = cli.SOURCE / "configs"
ALL = sorted(path for path in CONFIGS.glob("*/*.ini") if path.parent.name not in ("io", "campaigns"))  # those: io_configs_test.py, campaign_test.py
SIZES = {"unet3d/base_sm": 116977029, "cifar100/resnet152_single": 58348708, "cifar100/resnet50_single": 23712932, "mnist/serial": 1199882}
# workloads.md 5.3: the initial rates of the large-batch rows.
RATES = {"unet3d/bs576_opt_sm": 8.485e-4, "unet3d/bs2304_opt_sm": 1.697e-3, "unet3d/bs9216_opt_sm": 3.394e-3}


def values(path):
    parser = configparser.ConfigParser(inline_comment_prefixes=None)
    parser.read_string("[top]\n" + path.read_text())
    return dict(parser["top"])


def name_of(path):
    return str(path.relative_to(CONFIGS).with_suffix(""))


def some_of_each_kind():
    """The configurations with a published number, and one of each group that differs only in numbers and the label."""
    kinds = {tuple(sorted((key, re.sub(r"[\d.]+", "", value)) for key, value in values(path).items() if key != "label")): path for path in ALL}
    return sorted({*kinds.values(), *(path for path in ALL if name_of(path) in SIZES | RATES)})


class Configurations(cli.Case):
    def test_each_says_how_it_is_started(self):
        self.assertGreaterEqual(len(ALL), 30)
        for path in ALL:
            self.assertIn(f"--config configs/{name_of(path)}.ini", path.read_text().split("model =")[0])

    def test_each_kind_passes_a_dry_run(self):
        """All configurations: tests/slow/apps/configs_long_test.py."""
        some = some_of_each_kind()
        for path, result in zip(some, cli.several(lambda path: cli.ranklab("train", "--config", path, "--dry-run"), some)):
            name = name_of(path)
            with self.subTest(config=name):
                self.assertCode(result, 0)
                shown, given = dict(re.findall(r"^# ([a-z0-9-]+): (.*)$", result.stdout, re.MULTILINE)), values(path)
                self.assertLessEqual(set(given), set(shown))
                for key in {"model", "data", "epochs", "train-samples", "label"} & set(given):
                    self.assertEqual(shown[key], given[key])
                self.assertIn(int(shown["parameters"]), {SIZES.get(name, int(shown["parameters"]))} - {0})
                if "expected-ranks" in given:
                    self.assertIn(f"{given['expected-ranks']} ranks", shown["note"])
                if name in RATES:
                    rates = [float(number) for number in re.findall(r"\d[\d.]*(?:e-?\d+)?", shown["learning-rate"])]
                    self.assertTrue(any(abs(rate / RATES[name] - 1) < 1e-3 for rate in rates), rates)

    def test_fewer_ranks_are_refused_and_micro_batches_run(self):
        config = CONFIGS / "unet3d" / "bs9216_opt_sm.ini"
        result = cli.ranklab("train", "--config", config, "--output", "none", ranks=2)
        self.assertSays(result, 2, "288 ranks", "--accumulate 144", "--batch-size")
        result = cli.train("--config", config, "--model", "unet3d", "--width", 32, "--crop-edge", 32, "--full-scale", "off", "--train-samples", 8, "--validation-samples", 2,
                           "--global-batch-size", 2, "--accumulate", 2, "--steps", 1, "--warmup", 0, "--evaluate", "off", "--output", "none", cwd=self.folder)
        self.assertCode(result, 0)

    def test_a_short_form_runs(self):
        smoke = {path.parent.name: path for path in ALL if path.stem.endswith("_smoke")}
        self.assertEqual(set(smoke), {path.parent.name for path in ALL})
        result = cli.ranklab("train", "--config", smoke["mnist"], "--steps", 3, "--warmup", 0, "--threads", 1, "--output", "s.h5", ranks=2, cwd=self.folder)
        self.assertCode(result, 0)
        (run,) = stored_runs(self.folder / "s.h5")
        self.assertEqual(run.verification["loss is a number"][0], "passed")


if __name__ == "__main__":
    cli.main()
