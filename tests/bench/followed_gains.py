"""Follows the advice of `ranklab report --why` in runs that are slowed by known causes, on a quiet machine and beside a process that keeps a
core busy, and compares the time per sample that each option saves with what was printed: it lies in the range, or a bound is at most twice it.

  followed_gains.py [--rounds 5] [--quiet batch,workers] [--disturbed batch] [--json FILE]

Target: in 11 of 12 cases all printed savings hold; exit code 4 otherwise. A case without a printed saving is not judged.
"""

import pathlib
import sys
import tempfile

import paired

sys.path.insert(0, str(paired.HERE.parent / "support"))
import followed  # noqa: E402


def one_case(name, burners, rounds):
    """Prints each advice with what followed; returns them."""
    with tempfile.TemporaryDirectory() as folder:
        trial = followed.Trial(followed.SLOWED[name], pathlib.Path(folder), burners)
        found = trial.diagnosed()
        print(f"{name}, {'disturbed' if burners else 'quiet'}: {found['sentence']}", flush=True)
        rows = []
        for one in found["advice"]:
            saved = trial.saved(one["option"], rounds)
            low, high = followed.printed(one)
            rows.append({"case": name, "burners": burners, "cause": found["cause"], "advice": one, "saved_percent": saved, "holds": followed.holds(one, saved)})
            print(f"  {one['option']:<40} {'no number' if high is None else f'at most {high:.0f} %' if low is None else f'{low:.0f} .. {high:.0f} %'}, followed {saved:.1f} %{'   OUTSIDE' if rows[-1]['holds'] is False else ''}", flush=True)
    return rows


def main():
    parser = paired.parser(__doc__, rounds=5)
    parser.add_argument("--quiet", default=",".join(followed.QUIET))
    parser.add_argument("--disturbed", default=",".join(followed.DISTURBED))
    args = parser.parse_args()
    wanted = [(name, burners) for burners, names in enumerate((args.quiet, args.disturbed)) for name in names.split(",") if name]
    cases = [one_case(name, burners, args.rounds) for name, burners in wanted]
    judged = [[one["holds"] for one in rows if one["holds"] is not None] for rows in cases]
    held, of = sum(bool(some) and all(some) for some in judged), sum(map(bool, judged))
    print(f"{held} of {of} cases hold; {len(cases) - of} printed no saving")
    paired.write_json(args.json, {"benchmark": "followed_gains", "cases": cases})
    return 0 if of and held * 12 >= 11 * of else 4


if __name__ == "__main__":
    raise SystemExit(main())
