"""`report --why` names each of 16 known causes. tests/bench/known_causes.py repeats them on a disturbed machine."""

import ranklab_cli as cli
from provoked import KNOWN, REAL, RUNS, Case

cli.need_train()

ATTEMPTS = 3  # other load on the machine slows runs, too


class KnownCauses(Case):
    @cli.only_open_mpi
    def test_each_is_named(self):
        for name in KNOWN:
            with self.subTest(name):
                said = []
                while not said or (len(said) < ATTEMPTS and not RUNS[name].is_named(found)):
                    found = self.train(RUNS[name], env=REAL)
                    said.append(found["sentence"])
                self.assertTrue(RUNS[name].is_named(found), said)


if __name__ == "__main__":
    cli.main()
