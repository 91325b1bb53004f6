"""Following the advice of `report --why` saves what was printed; tests/bench/followed_gains.py has all cases."""

import followed
import ranklab_cli as cli

cli.need_train()

ROUNDS = 3


class Gains(cli.Case):
    def test_savings_lie_in_what_was_printed(self):
        """All but one, since other load comes and goes between the runs before and after."""
        missed = []
        for name in ("batch", "workers", *(("cores", "ranks") if cli.LAUNCHER.is_open_mpi else ())):
            folder = self.folder / name
            folder.mkdir()
            trial = followed.Trial(followed.SLOWED[name], folder)
            for one in trial.diagnosed()["advice"]:
                saved = trial.saved(one["option"], ROUNDS)
                print(f"{name}: {one}: saved {saved:.0f} %")
                if followed.holds(one, saved) is False:
                    missed.append((name, one, saved))
        self.assertLessEqual(len(missed), 1, missed)


if __name__ == "__main__":
    cli.main()
