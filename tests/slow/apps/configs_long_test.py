"""Every configuration passes a dry run; the short ones run, the deepest network also with the x86-64 baseline instructions."""

import configparser
import json
import re

import ranklab_cli as cli

cli.need_train()

(h5py,) = cli.modules("h5py")

CONFIGS = cli.SOURCE / "configs"
MOST_GRADIENT = 1e4  # norm of the first gradient; a ResNet-152's is thousands because of its depth
MOST_CHANGE = 1      # norm times learning rate: the change by the first step of SGD
ALL = sorted(path for path in CONFIGS.glob("*/*.ini") if path.parent.name not in ("io", "campaigns"))  # these two: io_configs_test.py, campaign_test.py
SMOKE = [path for path in ALL if path.stem.endswith("_smoke")]


def values(path):
    parser = configparser.ConfigParser(inline_comment_prefixes=None)
    parser.read_string("[top]\n" + path.read_text())
    return dict(parser["top"])


def dry_run(path, *words):
    return cli.ranklab("train", "--config", path, "--dry-run", *words, timeout=240)


def shown(result):
    return dict(re.findall(r"^# ([a-z0-9-]+): (.*)$", result.stdout, re.MULTILINE))


class EveryConfiguration(cli.Case):
    def test_passes_a_dry_run(self):
        self.assertGreaterEqual(len(ALL), 30)
        for path, result in zip(ALL, cli.several(dry_run, ALL)):
            with self.subTest(config=path.relative_to(CONFIGS)):
                self.assertCode(result, 0)
                effective = shown(result)
                self.assertGreater(int(effective["parameters"]), 0)
                for key, value in values(path).items():
                    self.assertIn(key, effective)
                    if key in ("model", "data", "epochs", "train-samples", "label"):
                        self.assertEqual(effective[key], value)
                if "expected-ranks" in values(path):
                    self.assertIn(values(path)["expected-ranks"], effective["note"])

    def test_sizes_are_those_of_the_documents(self):
        narrow = shown(dry_run(CONFIGS / "unet3d" / "base_sm.ini", "--full-scale", "off"))
        self.assertEqual(int(narrow["parameters"]), 66644357)
        self.assertIn("27.18 GFLOP", shown(dry_run(CONFIGS / "unet3d" / "base_sm.ini"))["forward-flops-per-sample"])


class ShortForms(cli.Case):
    """One configuration per family, at two ranks (dp: one process)."""

    def make_data(self):
        for words in (("cosmology", "volume.h5", "--edge", 96), ("cifar100", "--output", "cifar", "--train", 200, "--test", 100)):
            made = cli.ranklab("data", "make", *words, "--quiet", ranks=2, cwd=self.folder, timeout=300)
            self.assertCode(made, 0)

    def test_there_are_few(self):
        self.assertLessEqual(len(SMOKE), 8)
        self.assertEqual({path.parent.name for path in SMOKE}, {path.parent.name for path in ALL})

    def test_each_runs(self):
        self.make_data()
        folders = {"cosmology": "volume.h5", "cifar100": "cifar"}
        for path in SMOKE:
            with self.subTest(config=path.name):
                settings = values(path)
                where = ("--data-dir", folders[settings["data"]]) if settings["data"] in folders else ()
                result = cli.ranklab("train", "--config", path, *where, "--threads", 1, "--verbose", "--output", "smoke.h5",
                                     ranks=1 if settings.get("mode") == "dp" else 2, cwd=self.folder, timeout=600)
                self.assertCode(result, 0)
                self.assertRegex(result.stdout, r"loss is a number +passed")
                self.assertRegex(result.stdout, r"(?m)^  stored ")
                self.check_gradient(settings, "smoke.h5")

    def check_gradient(self, settings, output):
        """A loss must not become NaN on a processor that rounds differently: checks that the first gradient, its product with the rate and
        all losses are far from overflow."""
        with h5py.File(self.folder / output) as file:
            run = list(file["runs"].values())[-1]
            (detail,) = [row["detail"].decode() for row in run["tables/verification"] if "gradient" in row["check"].decode()]
            norm = float(re.search(r"norm(?: is)? ([\d.e+]+)", detail).group(1))
            def steps(name):
                return [value for part in ("warmup", "samples") if name in run[part] for value in run[part][name][()].ravel()]

            losses, rate = steps("train_loss"), max(steps("learning_rate"))
        self.assertLess(norm, MOST_GRADIENT, detail)
        if settings.get("optimizer", "sgd") == "sgd" and settings["model"].startswith("resnet"):
            self.assertLess(norm * rate, MOST_CHANGE, detail)
        self.assertLess(max(losses), 3 * losses[0] + 1, losses)

    def test_the_deepest_runs_with_few_instructions_too(self):
        """Runs with the x86-64 baseline instructions, since a config once failed on one processor alone. The stored run names them."""
        self.make_data()
        path = CONFIGS / "cifar100" / "resnet152_smoke.ini"
        few = cli.environment(ATEN_CPU_CAPABILITY="default", ONEDNN_MAX_CPU_ISA="SSE41")
        result = cli.ranklab("train", "--config", path, "--data-dir", "cifar", "--threads", 1, "--evaluate", "off", "--output", "few.h5", ranks=2,
                             cwd=self.folder, timeout=600, env=few)
        self.assertCode(result, 0)
        self.check_gradient(values(path), "few.h5")
        with h5py.File(self.folder / "few.h5") as file:
            (run,) = file["runs"].values()
            context = json.loads(run.attrs["context_json"])
        self.assertEqual(context["libraries"]["libtorch_cpu_capability"], "DEFAULT")
        self.assertEqual(context["environment"]["ONEDNN_MAX_CPU_ISA"], "SSE41")
        self.assertEqual(context["environment"]["ATEN_CPU_CAPABILITY"], "default")


if __name__ == "__main__":
    cli.main()
