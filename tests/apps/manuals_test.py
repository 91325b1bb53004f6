"""Completion in bash and zsh, and man pages: made by the programs from the rows that --help shows, installed with them."""

import re
import shutil
import subprocess
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, needs_train, ranklab

PROGRAMS = [name for name in ("train", "io", "comm", "data", "doctor", "report", "compare", "campaign", "results") if (cli.BIN / f"ranklab-{name}").exists()]


def needs(tool):
    return unittest.skipUnless(shutil.which(tool), f"{tool} is not installed")


def options_in_help(*words):
    return set(re.findall(r"^\s+(?:-\w \[ )?--([a-z-]+)", ranklab(*words, "--help").stdout, re.MULTILINE))


@needs("bash")
class BashTest(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.script = ranklab("completion", "bash").stdout

    def complete(self, *words):
        """COMPREPLY after these words, of which the last is being typed; cut at = as bash does."""
        cut = [part for word in words for part in (re.split("(=)", word) if word.startswith("--") else [word])]
        program = f"{self.script}\nCOMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1))\n_ranklab\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(["bash", "--norc", "-euc", program, "bash", *cut], capture_output=True, text=True, cwd=self.folder, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout.split("\n")[:-1] if done.stdout.strip() else []

    def test_commands(self):
        self.assertEqual(self.complete("ranklab", "re"), ["report", "results"])
        self.assertEqual(set(self.complete("ranklab", "")), {"train", "io", "comm", "data", "doctor", "report", "compare", "campaign", "results", "completion"})
        self.assertEqual(self.complete("/opt/x/bin/ranklab", "comp"), ["compare", "completion"])
        self.assertEqual(self.complete("ranklab", "completion", "z"), ["zsh"])

    def test_all_options_of_every_program(self):
        for words in (["train"], ["io"], ["comm"], ["doctor"], ["report"], ["compare"], ["data", "make", "mnist"], ["results", "prune"]):
            if words[0] in PROGRAMS:
                with self.subTest(words=words):
                    offered = {option.removeprefix("--") for option in self.complete("ranklab", *words, "--")}
                    self.assertEqual(offered, options_in_help(*words))
                    self.assertGreater(len(offered), 3)

    def test_values_of_choices(self):
        self.assertEqual(self.complete("ranklab", "io", "--layout", ""), ["files", "single"])
        self.assertEqual(self.complete("ranklab", "io", "--layout=s"), ["single"])
        self.assertEqual(self.complete("ranklab", "io", "--layout="), ["files", "single"])
        self.assertEqual(self.complete("ranklab-compare", "--format", "mark"), ["markdown"])
        self.assertEqual(self.complete("ranklab", "io", "--strategy", "bin"), ["binary"])
        self.assertEqual(self.complete("ranklab", "io", "--strategy", "binary,text-l"), ["binary,text-loop"])
        self.assertEqual(self.complete("ranklab", "io", "-n", ""), [], "a number")

    @needs_train
    def test_values_of_train(self):
        self.assertIn("resnet50", self.complete("ranklab", "train", "--model", "res"))
        self.assertIn("bucketed", self.complete("ranklab-train", "--sync=b"))

    def test_after_a_flag_and_a_value_options_come_again(self):
        self.assertEqual(self.complete("ranklab", "io", "--cold", "--lay"), ["--layout"])
        self.assertEqual(self.complete("ranklab", "io", "--size", "10", "--lay"), ["--layout"])

    def test_verbs(self):
        self.assertEqual(self.complete("ranklab", "data", ""), ["make", "verify", "convert"])
        self.assertEqual(self.complete("ranklab-data", "make", "c"), ["cosmology", "cifar100"])
        self.assertEqual(self.complete("ranklab", "data", "make", "cosmology", "--spectrum", "p"), ["power-law"])
        self.assertIn("--keep-last", self.complete("ranklab", "results", "prune", "--"))

    def test_files_and_folders(self):
        self.folder.joinpath("runs of may.h5").write_text("")
        self.folder.joinpath("rundir").mkdir()
        self.assertEqual(sorted(self.complete("ranklab", "report", "run")), ["rundir", "runs of may.h5"])
        self.assertEqual(sorted(self.complete("ranklab", "io", "--config", "run")), ["rundir", "runs of may.h5"])
        self.assertEqual(self.complete("ranklab", "io", "--directory", "run"), ["rundir"])

    def test_an_unknown_shell_is_refused(self):
        for words in ((), ("fish",), ("bash", "zsh")):
            self.assertSays(ranklab("completion", *words), 2, "completion bash")
        self.assertSays(ranklab("io", "--help-as", "html"), 2, "man, bash or zsh")

    def test_it_has_help_and_a_page_of_its_own(self):
        for words, start in ((("--help",), "Usage: ranklab completion bash|zsh"), (("-h",), "Usage: ranklab completion"),
                             (("bash", "--help"), "Usage: ranklab completion"), (("--version",), "ranklab "), (("--help-as", "man"), ".TH ranklab\\-completion")):
            result = ranklab("completion", *words)
            self.assertCode(result, 0)
            self.assertTrue(result.stdout.startswith(start), str(result))


@needs("zsh")
class ZshTest(Case):
    def test_the_script_is_read_and_knows_its_commands(self):
        script = self.folder / "_ranklab"
        script.write_text(ranklab("completion", "zsh").stdout)
        checked = subprocess.run(["zsh", "-n", script], capture_output=True, text=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        ask = f"fpath=({self.folder} $fpath); autoload -Uz compinit; compinit -u -d {self.folder}/dump; source {script}; "
        ask += "print $_comps[ranklab] $_comps[ranklab-io] $+functions[_ranklab__io] $+functions[_ranklab__data_make_mnist]"
        asked = subprocess.run(["zsh", "-fc", ask], capture_output=True, text=True, timeout=60)
        self.assertEqual((asked.stdout, asked.stderr), ("_ranklab _ranklab 1 1\n", ""))

    def test_a_line_is_completed(self):
        """In a terminal of zsh's own, as its own tests do it."""
        script = self.folder / "_ranklab"
        script.write_text(ranklab("completion", "zsh").stdout)
        talk = f"""
            zmodload zsh/zpty; zpty shell zsh -f
            zpty -w shell 'fpath=({self.folder} $fpath); autoload -Uz compinit; compinit -u -d {self.folder}/dump; PS1=RE""ADY'
            zpty -r shell said '*READY*'
            zpty -w -n shell $'ranklab io --layout sing\t'
            zpty -r shell said '*--layout single*'
            zpty -w -n shell $'\x15ranklab data make cosm\t'
            zpty -r shell said '*make cosmology*'
            zpty -w -n shell $'\x15ranklab io --strategy binary,text-l\t'
            zpty -r shell said '*binary,text-loop*' && print completed
        """  # what does not come is waited for, until the time is over
        said = subprocess.run(["zsh", "-fc", talk], capture_output=True, text=True, timeout=120)
        self.assertEqual(said.stdout, "completed\n", said.stderr)


class ManTest(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pages = {name: ranklab(name, "--help-as", "man").stdout for name in PROGRAMS}
        cls.pages[""] = ranklab("--help-as", "man").stdout

    def written(self):
        for name, text in self.pages.items():
            page = self.folder / f"ranklab-{name}.1"
            page.write_text(text)
            yield name, page

    @needs("man")
    @needs("groff")
    def test_man_renders_them_without_a_warning(self):
        for name, page in self.written():
            with self.subTest(name=name):
                done = subprocess.run(["man", "--warnings=all", "-l", page], capture_output=True, text=True, timeout=60,
                                      env=cli.environment(MANWIDTH="100", LC_ALL="C.UTF-8", MANPAGER="cat", PAGER="cat"))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("EXIT STATUS", done.stdout)

    @needs("mandoc")
    def test_mandoc_finds_nothing(self):
        for name, page in self.written():
            with self.subTest(name=name):
                done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.stdout + done.stderr, "")

    @needs("mandoc")
    def test_they_tell_all_options(self):
        for name, page in self.written():
            if name not in ("", "data", "results"):
                text = subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True, text=True, timeout=60).stdout
                text = re.sub(".\b", "", text)
                missing = {option for option in options_in_help(name) if not re.search(rf"--{option}\b", text)}
                self.assertEqual(missing, set(), name)

    def test_the_overview_names_every_command(self):
        for name in PROGRAMS:
            self.assertIn(f"ranklab {name}", self.pages[""])


if __name__ == "__main__":
    cli.main()
