"""Several runs of one command: dry run, header and what is stored of each say the same."""

import json
import re

import ranklab_cli as cli

(h5py,) = cli.modules("h5py")

LINE = re.compile(r"# ([a-z0-9-]+): (.*)")
# Of the header, beside the options: what follows from them.
FACTS = {"parameters", "forward-flops-per-sample", "learning-rate", "ranks", "note", "bytes", "settled-when-the-data-is-read"}
SMALL = ("train", "--model", "template-softmax", "--data", "synthetic", "--train-samples", 640, "--validation-samples", 64, "--batch-size", 16)
WRITING = ("io", "--files", 2, "--size", 8)


def settings_shown(stdout):
    """[{key: value}] of the runs of a command: the first whole, the others with what they have in place of it."""
    shown = [{}]
    for line in stdout.splitlines():
        if line == "# and:":
            shown.append(dict(shown[0]))
        elif line.startswith("# ") and (setting := LINE.match(line)):
            shown[-1][setting[1]] = setting[2]
    return shown


def settings_stored(path, summary=False):
    """[{key: value}] of the runs, without the one that compares them; or of that one."""
    with h5py.File(path) as file:
        runs = [run for run in file["runs"].values() if (len(run["measurements"]) == 0) == summary]
        return [json.loads(run.attrs["config_json"], parse_int=str, parse_float=str) for run in runs]


class OneSetOfSettings(cli.Case):
    def words_of(self, words):
        return *words, "--threads", 1, "--output", self.folder / "r.h5"

    def check(self, *words, ranks=1, differ="label"):
        """`differ` tells the command's runs from each other."""
        words = self.words_of(words)
        dry = cli.ranklab(*words, "--dry-run", ranks=ranks, cwd=self.folder)
        self.assertCode(dry, 0)
        run = cli.ranklab(*words, "--verbose", ranks=ranks, cwd=self.folder)
        self.assertCode(run, 0)
        shown = settings_shown(run.stdout)
        self.assertEqual(settings_shown(dry.stdout), shown)
        stored = settings_stored(self.folder / "r.h5")
        self.assertEqual(len(shown), len(stored))
        for header in shown:
            (settings,) = [one for one in stored if one[differ] == header[differ]]
            still_open = [name for name in header.get("settled-when-the-data-is-read", "").split(", ") if name]
            self.assertFalse(set(still_open) & set(header))
            announced = {name: settings.pop(name) for name in still_open}
            self.assertTrue(all(announced.values()), announced)
            of_settings = {key: value for key, value in header.items() if key not in FACTS or key in settings}
            self.assertEqual(of_settings, {key: str(value).replace("True", "true").replace("False", "false") for key, value in settings.items()})
        if len(shown) > 1:
            self.check_summary(stored)
        return shown

    def check_summary(self, stored):
        """It has what all runs have settled; where they differ, something too."""
        (summary,) = settings_stored(self.folder / "r.h5", summary=True)
        for key in set().union(*stored):
            values = {str(one.get(key)) for one in stored}
            self.assertTrue(key in summary and (len(values) > 1 or str(summary[key]) in values), (key, values, summary.get(key)))


@cli.needs_train
class Training(OneSetOfSettings):
    def test_several_syncs(self):
        shown = self.check(*SMALL, "--steps", 4, "--sync", "flat,bucketed", ranks=2, differ="sync")
        self.assertEqual([one["sync"] for one in shown], ["flat", "bucketed"])


class Writing(OneSetOfSettings):
    def test_several_strategies(self):
        shown = self.check(*WRITING, "--strategy", "text-loop,binary,hdf5-serial", differ="strategy")
        self.assertEqual([one["ceilings"] for one in shown], ["on"] * 3)

    def test_each_strategy_says_the_ranks_that_took_part(self):
        for ranks, expected in (((), "1,2"), (("--ranks", "1,2"), "1,2"), (("--ranks", 1), 1)):
            words = self.words_of((*WRITING, "--strategy", "mpi-send,hdf5-serial", *ranks))
            self.assertCode(cli.ranklab(*words, ranks=2, cwd=self.folder), 0)
            stored = settings_stored(self.folder / "r.h5")
            self.assertEqual({str(one["ranks"]) for one in stored if one["strategy"] == "hdf5-serial"}, {"1"})
            self.assertEqual([str(one["ranks"]) for one in stored if one["strategy"] == "mpi-send"],
                             ["1", "2"] if ranks == ("--ranks", "1,2") else ["2"] if ranks == () else ["1"])
            (summary,) = settings_stored(self.folder / "r.h5", summary=True)
            self.assertIn(summary["ranks"], (expected, str(expected), "2,1"))
            (self.folder / "r.h5").unlink()
        words = self.words_of((*WRITING, "--strategy", "hdf5-serial", "--ranks", "1,2"))
        self.assertCode(cli.ranklab(*words, ranks=2, cwd=self.folder), 0)
        (stored,) = settings_stored(self.folder / "r.h5")
        self.assertEqual(str(stored["ranks"]), "1")


if __name__ == "__main__":
    cli.main()
