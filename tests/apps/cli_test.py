"""Help, versions, options, config files: what is said, by whom, and with which exit code, at one rank and at two."""

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab

PROGRAMS = ("train", "doctor", "report")


def present(programs):
    return [name for name in programs if (cli.BIN / f"ranklab-{name}").exists()]


class HelpTest(Case):
    def test_help_and_version_of_every_program(self):
        for name in present(PROGRAMS):
            for option, start in (("--help", f"Usage: ranklab {name}"), ("-h", f"Usage: ranklab {name}"), ("--version", "ranklab ")):
                with self.subTest(name=name, option=option):
                    results = [cli.run(*command, option, cwd=self.folder) for command in ((cli.RANKLAB, name), (cli.BIN / f"ranklab-{name}",))]
                    for result in results:
                        self.assertCode(result, 0)
                        self.assertTrue(result.stdout.startswith(start), str(result))
                        self.assertEqual(result.stderr, "")
                    self.assertEqual(results[0].stdout, results[1].stdout)
        self.assertEqual(self.names(), [], "help and version do no work")

    def test_help_of_the_dispatcher_names_every_command(self):
        result = ranklab("--help", cwd=self.folder)
        self.assertCode(result, 0)
        for name in PROGRAMS:
            self.assertIn(name, result.stdout)
        self.assertCode(ranklab("--version", cwd=self.folder), 0)

    def test_help_and_version_are_printed_once_by_a_job(self):
        cases = [[], *([name] for name in present(("train", "doctor")))]
        cases = [[*words, option] for words in cases for option in ("--help", "--version")]
        for words, job in zip(cases, cli.several(lambda words: ranklab(*words, ranks=2, cwd=self.folder), cases)):
            with self.subTest(words=words):
                self.assertCode(job, 0)
                self.assertEqual(job.stdout, ranklab(*words).stdout)

    def test_help_says_the_exit_codes_and_examples(self):
        for name in present(("train", "doctor", "report")):
            text = ranklab(name, "--help").stdout
            self.assertIn("Exit codes:", text)
            self.assertIn("Examples:", text)

    @needs_train
    def test_list_shows_what_there_is_to_choose_from(self):
        for ranks in (1, 2):
            result = ranklab("train", "--list", ranks=ranks, cwd=self.folder)
            self.assertCode(result, 0)
            for word in ("mnist-cnn", "fashion-mnist", "synthetic", "per-parameter", "flat", "adadelta", "sgd", "mpi"):
                self.assertEqual(result.stdout.count(f"  {word} "), 1, f"{word}:\n{result}")
        self.assertEqual(self.names(), [])

    def test_a_list_is_no_json(self):
        for name in present(("train", "io")):
            for ranks in (1, 2):
                result = ranklab(name, "--list", "--json", ranks=ranks, cwd=self.folder)
                self.assertSays(result, 2, "--list", "--json", "exclude each other")
                self.assertEqual(result.stdout, "")


class LostOutputTest(Case):
    def test_what_stdout_does_not_take_is_an_error_of_every_program(self):
        io = ["io", "--strategy", "binary", "-n", "2", "-s", "10"]
        cases = [["--help"], ["--version"], ["--help-as"], ["completion", "bash"], ["completion", "--help"], ["doctor"], ["doctor", "--version"],
                 ["io", "--list"], ["io", "--help"], ["io", "--version"], ["io", "--help-as", "man"], [*io, "--dry-run"], ["results", "--help"],
                 ["results", "list", "--help"], ["data", "--help"], ["data", "--list"], ["report", "--help"], ["compare", "--version"]]
        if present(["train"]):
            cases += [["train", "--help"], ["train", "--list"]]
        for words in cases:
            with self.subTest(words=words):
                result = cli.run("sh", "-c", 'exec "$0" "$@" >/dev/full', cli.RANKLAB, *words, cwd=self.folder)
                self.assertSays(result, 5, "could not be written to stdout")
        self.assertEqual(self.names(), [])


class DispatcherTest(Case):
    def test_an_unknown_command_is_answered_with_the_nearest(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                self.assertSays(ranklab("trian", ranks=ranks), 2, "unknown command 'trian'", "did you mean train?")
        self.assertSays(ranklab("zzzzzzzzzz"), 2, "zzzzzzzzzz", "--help")

    def test_no_command_is_a_usage_error_that_shows_the_help(self):
        result = ranklab()
        self.assertCode(result, 2)
        self.assertIn("Usage: ranklab", result.stdout)

    @needs_train
    def test_arguments_reach_the_program_unchanged(self):
        self.assertSays(ranklab("train", "--label", "two words", "--steps", "x y"), 2, "'x y'")


@needs_train
class DryRunTest(Case):
    def test_prints_the_plan_and_does_no_work(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                result = ranklab("train", "--dry-run", "--model", "mnist-cnn", "--data", "fashion-mnist", "--data-dir", "/nowhere",
                                 "--threads", "1", ranks=ranks, cwd=self.folder)
                self.assertCode(result, 0)
                lines = result.stdout.splitlines()
                for line in ("# parameters: 1199882", "# model: mnist-cnn", "# data: fashion-mnist", "# optimizer: adadelta", "# lr: 1",
                             "# gamma: 0.7", "# lr-schedule: step", "# batch-size: 64", f"# global-batch-size: {64 * ranks}",
                             "# seed: 1", "# steps: 100", f"# mode: {'single' if ranks == 1 else 'ddp'}", f"# ranks: {ranks}"):
                    self.assertEqual(lines.count(line), 1, f"{line}\n{result}")
                self.assertTrue(all(line.startswith("#") for line in lines if line), str(result))
        self.assertEqual(self.names(), [])
        self.assertFalse((self.folder / "results").exists(), "a dry run makes no folder either")

    def test_quiet_still_prints_the_plan_which_was_asked_for(self):
        result = ranklab("train", "--dry-run", "--quiet", cwd=self.folder)
        self.assertCode(result, 0)
        self.assertIn("# parameters: 1199882", result.stdout.splitlines())

    def test_default_warmup_is_a_tenth_of_the_steps_and_ten_at_most(self):
        for steps, warmup in ((5, 0), (20, 2), (200, 10), (1000, 10)):
            lines = ranklab("train", "--dry-run", "--steps", steps, cwd=self.folder).stdout.splitlines()
            self.assertIn(f"# warmup: {warmup}", lines, f"of {steps} steps")

    def test_the_last_of_a_repeated_option_wins(self):
        for ranks in (1, 2):
            result = ranklab("train", "--dry-run", "--steps", "5", "--sync", "none", "--steps", "7", ranks=ranks, cwd=self.folder)
            self.assertCode(result, 0)
            self.assertIn("# steps: 7\n", result.stdout)

    def test_a_job_tells_whether_the_options_would_do(self):
        self.assertSays(ranklab("train", "--dry-run", "--steps", "5", "--warmup", "5"), 2, "--warmup")


@needs_train
class BadOptionTest(Case):
    """Each: one sentence, exit 2, at one rank and passed on by mpirun at two."""

    EVERYWHERE = (
        (["--step", "5"], ["unknown option --step", "did you mean --steps?"]),
        (["--batchsize=64"], ["unknown option --batchsize", "did you mean --batch-size?"]),
        (["--qqqqqqqqq"], ["unknown option --qqqqqqqqq", "--help"]),
        (["--batch-size", "0"], ["--batch-size", "at least 1", "'0'"]),
        (["--threads", "0"], ["--threads", "at least 1", "'0'"]),
        (["--steps", "10", "--warmup", "10"], ["warm-up of 10 steps", "measure of 10;", "--warmup"]),
        (["--batch-size", "8", "--global-batch-size", "16"], ["--batch-size", "--global-batch-size", "one of them"]),
        (["--steps", "5", "--epochs", "1"], ["--steps", "--epochs", "one of them"]),
        (["--model", "mnist-cn"], ["--model", "mnist-cn", "did you mean mnist-cnn?"]),
        (["--nproc-per-node", "2"], ["unknown option --nproc-per-node", "the launcher starts the ranks: mpirun -n N ranklab"]),
        (["stray"], ["'stray'", "not expected"]),
        (["--config", "missing.ini"], ["missing.ini"]),
    )
    ALONE = (
        (["--steps", "-3"], ["--steps", "'-3'"]),
        (["--steps", "0"], ["--steps", "'0'"]),
        (["--steps", "12abc"], ["--steps", "'12abc'"]),
        (["--steps", "99999999999999999999"], ["--steps"]),
        (["--steps"], ["--steps", "no usable value"]),
        (["--steps", "4", "--steps", "x"], ["--steps", "'x'"]),
        (["--steps", "10", "--warmup", "11"], ["warm-up of 11 steps", "--warmup"]),
        (["--lr", "nan"], ["--lr", "'nan'"]),
        (["--lr", "inf"], ["--lr", "'inf'"]),
        (["--lr", ""], ["--lr"]),
        (["--eval-batch-size", "0"], ["--eval-batch-size"]),
        (["--time-limit", "0"], ["--time-limit"]),
        (["--stall-timeout", "0"], ["--stall-timeout"]),
        (["--seed", "-1"], ["--seed"]),
        (["--optimizer", "adadleta"], ["did you mean adadelta?"]),
        (["--sync", "flta"], ["did you mean flat?"]),
        (["--gpus", "2"], ["unknown option --gpus", "mpirun -n N ranklab train --device cuda"]),
        (["--device", "gpu"], ["did you mean cuda?"]),
        (["--mode", "DDP"], ["did you mean ddp?"]),
        (["--mode", "ddp1"], ["did you mean ddp?"]),
        (["--precision", "float16"], ["did you mean fp16?"]),
        (["--dry-run=maybe"], ["--dry-run"]),
        (["-x"], ["-x"]),
    )

    def check(self, ranks, cases):
        results = cli.several(lambda case: ranklab("train", *case[0], ranks=ranks, cwd=self.folder), cases)
        for (words, parts), result in zip(cases, results):
            with self.subTest(ranks=ranks, words=words):
                self.assertSays(result, 2, *parts)
                self.assertEqual(result.stdout, "", "an error is no report")

    def test_alone(self):
        self.check(1, self.EVERYWHERE + self.ALONE)
        self.assertEqual(self.names(), [])

    def test_in_a_job_of_two_ranks(self):
        self.check(2, self.EVERYWHERE)
        self.check(2, ((["--mode", "single"], ["--mode single", "ddp"]),
                       (["--backend", "self"], ["--backend self", "mpi"])))
        self.assertEqual(self.names(), [])

    def test_a_global_batch_that_does_not_divide_names_those_that_do(self):
        self.assertSays(ranklab("train", "--global-batch-size", "65", ranks=2), 2, "65", "2 ranks", "64", "66")

    def test_single_has_nothing_to_synchronise(self):
        self.assertSays(ranklab("train", "--mode", "single", "--sync", "flat"), 2, "--sync flat", "--mode single")

    def test_bad_options_of_doctor_and_report(self):
        self.assertSays(ranklab("doctor", "--thread", "2"), 2, "did you mean --threads?")
        self.assertSays(ranklab("doctor", "--ntasks", "2"), 2, "unknown option --ntasks", "srun -n N")
        self.assertSays(ranklab("doctor", "--thread", "2", ranks=2), 2, "did you mean --threads?")
        self.assertSays(ranklab("report"), 2, "results file")
        self.assertSays(ranklab("report", "nowhere.h5", cwd=self.folder), 2, "nowhere.h5")
        self.assertSays(ranklab("report", "a.h5", "--format", "jsno", cwd=self.folder), 2, "did you mean json?")
        self.assertSays(ranklab("report", "a.h5", "b.h5", cwd=self.folder), 2, "b.h5")


@needs_train
class ConfigTest(Case):
    def config(self, text, name="my.ini"):
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def plan(self, *words, ranks=1):
        result = ranklab("train", "--dry-run", *words, ranks=ranks, cwd=self.folder)
        self.assertCode(result, 0)
        return dict(line[2:].split(": ", 1) for line in result.stdout.splitlines() if ": " in line)

    def test_config_goes_before_defaults_and_the_command_line_before_both(self):
        config = self.config("# a comment\nsteps = 40\nlr = 0.25\nbatch-size = 16\nlabel = from the file\n")
        for ranks in (1, 2):
            plan = self.plan("--config", config, "--lr", "0.5", ranks=ranks)
            self.assertEqual((plan["steps"], plan["lr"], plan["batch-size"], plan["label"], plan["seed"]), ("40", "0.5", "16", "from the file", "1"))

    def test_the_command_line_wins_over_the_files_alternative(self):
        config = self.config("steps = 40\nbatch-size = 16\n")
        plan = self.plan("--config", config, "--epochs", "2", "--global-batch-size", "8")
        self.assertEqual((plan["epochs"], plan["batch-size"]), ("2", "8"))
        self.assertNotIn("steps", plan)

    def test_bad_keys_and_values_name_the_file(self):
        for text, parts in (("step = 5\n", ["unknown key step", "did you mean steps?"]),
                            ("[section]\nsteps = 5\n", ["section.steps"]),
                            ("batch-size = 0\n", ["batch-size", "'0'"]),
                            ("model = mnist\n", ["model", "mnist-cnn"]),
                            ("steps = 5\nsteps = 6\n", ["steps"]),
                            ("steps 5\n", ["steps 5"]),
                            ("steps = 5\nepochs = 1\n", ["--steps", "--epochs"]),
                            (b"\x7fELF\x00\x01\xff\xfe" * 64, [])):
            config = self.config(text)
            for ranks in (1, 2) if text in ("step = 5\n",) or isinstance(text, bytes) else (1,):
                with self.subTest(text=text[:30], ranks=ranks):
                    result = ranklab("train", "--config", config, ranks=ranks, cwd=self.folder)
                    self.assertSays(result, 2, *([] if "--steps" in parts else [config]), *parts)

    def test_missing_empty_and_folder_configs(self):
        self.config("", "empty.ini")
        for name in ("missing.ini", "empty.ini", "."):
            self.assertSays(ranklab("train", "--config", name, cwd=self.folder), 2, name, "--config")

    def test_the_shipped_configs_are_usable_at_two_ranks(self):
        """Those of one rank: configs_test.py."""
        configs = sorted(p for p in (cli.SOURCE / "configs" / "mnist").glob("*.ini") if "mode = ddp" in p.read_text())
        self.assertGreaterEqual({p.name for p in configs}, {"ddp2.ini", "mnist_smoke.ini"})
        for config in configs:
            with self.subTest(config=config.name):
                self.assertEqual(self.plan("--config", config, ranks=2)["parameters"], "1199882")
        self.assertEqual(self.names(), [])


if __name__ == "__main__":
    cli.main()
