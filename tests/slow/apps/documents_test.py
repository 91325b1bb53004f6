"""The campaigns of the five documents, with one repetition: each runs to its page, which has a row for each of its points."""

import json
import re

import ranklab_cli as cli

cli.need_train()


class Documents(cli.Case):
    def test_each_runs_to_its_page(self):
        files = sorted((cli.SOURCE / "configs" / "campaigns").glob("document_*.ini"))
        self.assertEqual(len(files), 5)
        for file in files:
            text = re.sub(r"(?m)^repeat = .*", "repeat = 1", file.read_text())
            text = re.sub(r"(?m)^launcher-options = .*\n", "", text)
            options = " ".join(cli.LAUNCHER.crowded + cli.LAUNCHER.unbound)
            (self.folder / file.name).write_text(text.replace("launcher = mpirun\n", f"launcher = mpirun\nlauncher-options = {options}\n"))
            with self.subTest(document=file.stem):
                result = cli.ranklab("campaign", "run", file.name, cwd=self.folder, timeout=280)
                self.assertCode(result, 0)
                self.assertIn(f"  page          campaigns/{file.stem}/page.html\n", result.stdout)
                page = (self.folder / "campaigns" / file.stem / "page.html").read_text()
                status = json.loads(cli.ranklab("campaign", "status", file.name, "--json", cwd=self.folder).stdout)
                for job in status["jobs"]:
                    self.assertEqual(job["done"], job["runs"], job)
                    self.assertIn(f"{file.stem}-{job['id']}", page)


if __name__ == "__main__":
    cli.main()
