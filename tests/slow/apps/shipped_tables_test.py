"""Each shipped table of gradient buckets equals the output of `ranklab train --dry-run --buckets FILE`."""

import ranklab_cli as cli
from ranklab_cli import Case, train

cli.need_train()
SHIPPED = cli.SOURCE / "lib" / "experiments" / "collectives" / "buckets"
MODELS = ("mnist-cnn", "resnet18", "resnet50", "resnet152", "unet3d")


class ShippedTables(Case):
    def test_they_are_what_the_program_writes(self):
        self.assertEqual(sorted(path.stem for path in SHIPPED.iterdir()), sorted(MODELS))
        for model in MODELS:
            with self.subTest(model=model):
                self.assertCode(train("--dry-run", "--buckets", "t.csv", "--model", model, cwd=self.folder), 0)
                self.assertEqual((SHIPPED / f"{model}.csv").read_text(), (self.folder / "t.csv").read_text(),
                                 f"write it anew: ranklab train --model {model} --dry-run --buckets {SHIPPED}/{model}.csv")


if __name__ == "__main__":
    cli.main()
