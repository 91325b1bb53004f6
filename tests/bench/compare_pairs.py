"""How many pairs of five runs a side do `ranklab compare` and `ranklab report --group-by label` call different? Both sides run the same
program, in turn.

  compare_pairs.py [--pairs 40] [--slower 10] [--load]

--slower P: steps of both sides are mostly an injected delay, since a shared machine's own speed changes by a tenth between two runs, and
side B's is P % longer; at least nine tenths of the pairs must be firm and worse. Without it: the sides are equal, and at most 2 of 40 pairs may be firm in either, the same ones in both. --load: other processes compute in bursts meanwhile. Exit code 4 otherwise.
"""

import json
import pathlib
import sys
import tempfile
import threading

import paired

sys.path.insert(0, str(paired.HERE.parent / "support"))
import known_causes  # noqa: E402
import ranklab_cli as cli  # noqa: E402

WORK = ("--model", "mnist-cnn", "--data", "synthetic", "--steps", 20, "--threads", 1)
STEP_MS = 60
REAL = cli.environment(RANKLAB_SYSTEM_ROOT="/")


def compared(folder, rounds, delay_ms):
    """Runs both sides in turn; returns compare's answer, its row of the rate, and whether report's best is firm."""
    delay = {side: ("--inject-delay", f"0:forward:{ms}") if ms else () for side, ms in delay_ms.items()}

    def measure(side):
        done = cli.ranklab("train", *WORK, "--batch-size", 4 if delay[side] else 64, *delay[side], "--label", side, "--output", "p.h5", "--quiet", cwd=folder, env=REAL)
        if done.code != 0:
            sys.exit(str(done))

    paired.in_turn("AB", rounds, measure)
    ignored = ("--ignore", "inject-delay") if any(delay_ms.values()) else ()
    shown = cli.ranklab("compare", "--file", "p.h5", "label:A", "label:B", *ignored, "--format", "json", cwd=folder, env=REAL)
    (row,) = [row for row in json.loads(shown.stdout)["groups"][0]["rows"] if row["measurement"] == "throughput_samples_per_s"]
    best = cli.ranklab("report", "p.h5", "--group-by", "label", "--format", "json", cwd=folder, env=REAL)
    found = [finding["verdict"] for finding in json.loads(best.stdout)["findings"]]
    return json.loads(shown.stdout), row, "fastest" in found or "baseline_is_fastest" in found


def main():
    parser = paired.parser(__doc__, rounds=5)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--slower", type=float, default=0, metavar="PERCENT")
    parser.add_argument("--load", action="store_true")
    args = parser.parse_args()
    delay_ms = {"A": STEP_MS, "B": STEP_MS * (1 + args.slower / 100)} if args.slower else {"A": 0, "B": 0}
    stop = threading.Event()
    if args.load:
        threading.Thread(target=known_causes.disturb, args=(stop,), daemon=True).start()
    pairs = []
    for number in range(args.pairs):
        with tempfile.TemporaryDirectory() as folder:
            answer, row, best = compared(pathlib.Path(folder), args.rounds, delay_ms)
        pairs.append({"verdict": answer["verdict"], "best": best, "row": row, "notes": answer["notes"]})
        print(f"{number + 1}: {answer['verdict']}{', firm in report' if best else ''}", flush=True)
    stop.set()
    firm = sum(one["verdict"] in ("worse", "better") for one in pairs)
    best = sum(one["best"] for one in pairs)
    same = all(one["best"] == (one["verdict"] in ("worse", "better")) for one in pairs)
    worse = sum(one["verdict"] == "worse" for one in pairs)
    print(f"{firm} of {len(pairs)} pairs are firm, {worse} of them worse in B; {best} in report{', the same ones' if same else ''}")
    paired.write_json(args.json, {"benchmark": "compare_pairs", "slower_percent": args.slower, "load": args.load, "pairs": pairs})
    return 0 if (worse * 10 >= 9 * len(pairs) if args.slower else 20 * max(firm, best) <= len(pairs) and same) else 4


if __name__ == "__main__":
    sys.exit(main())
