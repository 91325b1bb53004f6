"""Help, versions, lists, options, config files: output, the rank that writes it and the exit code, at one rank and at several.
Refusals: tests/refusals."""

import re

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab

PROGRAMS = [name for name in ("train", "io", "comm", "data", "doctor", "report", "compare", "sweep", "campaign", "vet", "results") if (cli.BIN / f"ranklab-{name}").exists()]
VERBS = [("results", "merge"), ("data", "make", "cosmology"), ("data", "make", "mnist"), ("data", "verify"), ("data", "convert")]


class HelpTest(Case):
    def test_help_version_and_list_do_no_work_and_fit_a_terminal(self):
        cases = [(words, option) for words in [(), *((name,) for name in PROGRAMS), *VERBS] for option in ("--help", "--version", "--list")
                 if (option == "--help" or len(words) < 2) and (option != "--list" or words in (("train",), ("io",), ("comm",), ("data",)))]
        for (words, option), result in zip(cases, cli.several(lambda case: ranklab(*case[0], case[1], cwd=self.folder), cases)):
            with self.subTest(words=words, option=option):
                self.assertCode(result, 0)
                self.assertEqual(result.stderr, "")
                if option == "--version": self.assertTrue(result.stdout.startswith("ranklab "))
                else: self.assertEqual([line for line in result.stdout.splitlines() if len(line) > 80], [])
                if option == "--help": self.assertTrue(result.stdout.startswith(" ".join(("Usage: ranklab", *words))), result.stdout[:80])
                if option == "--list" and words != ("data",):
                    names = re.findall(r"(?m)^  (\S+) ", result.stdout)
                    self.assertEqual((len(names) > 3, len(names)), (True, len(set(names))), "each stands once")
                if words == () and option == "--help":
                    for name in PROGRAMS: self.assertRegex(result.stdout, rf"(?m)^  {name} ")
        self.assertEqual(self.names(), [])

    def test_a_job_prints_once_and_a_program_what_the_dispatcher_prints(self):
        for words in (("doctor", "--version"), *((("train", "--help"),) if cli.HAS_TRAIN else ())):
            alone = ranklab(*words).stdout
            self.assertEqual(ranklab(*words, ranks=2, cwd=self.folder).stdout, alone)
            self.assertEqual(cli.run(cli.BIN / f"ranklab-{words[0]}", *words[1:]).stdout, alone)

    def test_no_command_shows_the_help(self):
        for words in ((), ("results",), ("data",), ("sweep",), ("campaign",)):
            result = ranklab(*words)
            self.assertCode(result, 2)
            self.assertIn("Usage: ranklab", result.stdout)

    def test_what_stdout_does_not_take_is_an_error(self):
        io = ("io", "--strategy", "binary", "-n", "2", "-s", "10")
        for words in (("--help",), ("doctor",), ("io", "--list"), (*io, "--dry-run"), ("results", "list", "--help")):
            with self.subTest(words=words):
                result = cli.run("sh", "-c", 'exec "$0" "$@" >/dev/full', cli.RANKLAB, *words, cwd=self.folder)
                self.assertSays(result, 5, "stdout")
        self.assertEqual(self.names(), [])


class RefusedByAllRanksTest(Case):
    """One rank writes the message; all ranks exit with its code."""

    def test_at_two_ranks(self):
        cases = [(("doctor", "--thread", "2"), "--threads?")]
        if cli.HAS_TRAIN:
            cases += [(("train", "--step", "5"), "--steps?"), (("train", "--mode", "single"), "ddp"), (("train", "--backend", "self"), "mpi"), (("train", "--device", "cuda", "--backend", "mpi"), "--backend nccl"),
                      (("train", "--global-batch-size", "65"), "66"), (("train", "--config", "missing.ini"), "missing.ini"),
                      (("train", "--label", "two words", "--steps", "x y"), "'x y'")]
        for (words, part), result in zip(cases, cli.several(lambda case: ranklab(*case[0], ranks=2, cwd=self.folder), cases)):
            with self.subTest(words=words):
                self.assertSays(result, 2, part)
                self.assertEqual(result.stdout, "", "an error is no report")
        self.assertEqual(self.names(), [])


@needs_train
class PlanTest(Case):
    """--dry-run."""

    def plan(self, *words, ranks=1):
        result = ranklab("train", "--dry-run", *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        lines = result.stdout.splitlines()
        self.assertTrue(all(line.startswith("#") for line in lines if line), str(result))
        return dict(line[2:].split(": ", 1) for line in lines if ": " in line)

    def test_defaults_at_one_and_three_ranks(self):
        for ranks in (1, 3):
            plan = self.plan("--data", "fashion-mnist", "--data-dir", "/nowhere", "--threads", 1, "--quiet", "--seed", 3, "--seed", 2, ranks=ranks)
            wanted = {"parameters": 1199882, "model": "mnist-cnn", "data": "fashion-mnist", "optimizer": "adadelta", "lr": 1, "gamma": 0.7,
                      "lr-schedule": "step", "batch-size": 64, "global-batch-size": 64 * ranks, "seed": 2, "steps": 100, "warmup": 10,
                      "mode": "single" if ranks == 1 else "ddp", "ranks": ranks}
            self.assertEqual({key: plan.get(key) for key in wanted}, {key: str(value) for key, value in wanted.items()})
        self.assertEqual(list(self.folder.iterdir()), [], "a dry run makes no folder either")

    def test_config_goes_before_defaults_and_the_command_line_before_both(self):
        (self.folder / "my.ini").write_text("# a comment\nsteps = 40\nlr = 0.25\nbatch-size = 16\nlabel = from the file\n")
        plan = self.plan("--config", "my.ini", "--lr", "0.5", ranks=2)
        self.assertEqual([plan[key] for key in ("steps", "lr", "batch-size", "label", "seed")], ["40", "0.5", "16", "from the file", "1"])
        plan = self.plan("--config", "my.ini", "--epochs", 2, "--global-batch-size", 8)  # alternatives to the file's options
        self.assertEqual((plan["epochs"], plan["batch-size"], "steps" in plan), ("2", "8", False))

    def memory(self, *words, ranks=1):
        """Bytes by part; no line for a part of unknown size."""
        return {key[7:-6]: int(value) for key, value in self.plan(*words, ranks=ranks).items() if key.startswith("memory-") and key.endswith("-bytes")}

    def test_memory_of_a_rank(self):
        small, large = (self.memory("--batch-size", batch) for batch in (64, 192))
        parameters = 4 * 1199882
        self.assertEqual([small[part] for part in ("weights", "gradients", "optimizer", "buckets")], [parameters, parameters, 2 * parameters, 0])
        for part, bytes_ in small.items():
            if part == "activations":
                self.assertAlmostEqual(large[part] / bytes_, 3, delta=0.001, msg=part)
            elif part != "per-rank":
                self.assertEqual(large[part], bytes_, part)
        self.assertEqual(small["per-rank"], sum(small.values()) - small["per-rank"])
        self.assertEqual(self.memory("--global-batch-size", 128, ranks=2), small, "the local batch decides")

    def test_memory_of_optimizers_buckets_and_precisions(self):
        parameters = 4 * 1199882
        for words, part, wanted in (("--optimizer sgd", "optimizer", 0), ("--optimizer sgd --momentum 0.9", "optimizer", 1), ("--optimizer adam", "optimizer", 2),
                                    ("--mode ddp --sync c10d", "buckets", 1), ("--mode ddp --compress bf16", "buckets", 0.5), ("--mode ddp --sync flat", "buckets", 0),
                                    ("--precision fp64", "weights", 2), ("--precision bf16", "weights", 1), ("--mode dp --replicas 3", "gradients", 3)):
            with self.subTest(words): self.assertEqual(self.memory(*words.split())[part], wanted * parameters)
        half, whole = (self.memory("--precision", precision, "--ops", "libtorch")["activations"] for precision in ("bf16", "fp32"))
        self.assertLess(half, 0.8 * whole)
        self.assertNotIn("activations", self.memory("--jit"), "not known")

    def test_bad_configs_name_the_file(self):
        cases = {"step = 5\n": "steps?", "[section]\nsteps = 5\n": "section.steps", "batch-size = 0\n": "'0'", "steps = 5\nsteps = 6\n": "steps",
                 "\x7fELF\x00\x01\x02\x03" * 64: "my.ini", "": "my.ini"}
        for text, part in cases.items():
            (self.folder / "my.ini").write_text(text)
            with self.subTest(text=text[:30]): self.assertSays(ranklab("train", "--config", "my.ini", cwd=self.folder), 2, "my.ini", part)


if __name__ == "__main__":
    cli.main()
