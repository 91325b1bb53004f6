"""Completion in zsh."""

import shutil
import subprocess
import unittest

import ranklab_cli as cli
from ranklab_cli import Case, ranklab


@unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
class ZshTest(Case):
    def test_a_line_is_completed(self):
        """In a pseudo-terminal of zsh, as zsh's own tests do."""
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
        """  # missing output is waited for until the time-out
        said = subprocess.run(["zsh", "-fc", talk], capture_output=True, text=True, timeout=120)
        self.assertEqual(said.stdout, "completed\n", said.stderr)

    def test_the_script_is_read_and_knows_its_commands(self):
        script = self.folder / "_ranklab"
        script.write_text(ranklab("completion", "zsh").stdout)
        checked = subprocess.run(["zsh", "-n", script], capture_output=True, text=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        ask = f"fpath=({self.folder} $fpath); autoload -Uz compinit; compinit -u -d {self.folder}/dump; source {script}; "
        ask += "print $_comps[ranklab] $_comps[ranklab-io] $+functions[_ranklab__io] $+functions[_ranklab__data_make_mnist]"
        asked = subprocess.run(["zsh", "-fc", ask], capture_output=True, text=True, timeout=60)
        self.assertEqual((asked.stdout, asked.stderr), ("_ranklab _ranklab 1 1\n", ""))


if __name__ == "__main__":
    cli.main()
