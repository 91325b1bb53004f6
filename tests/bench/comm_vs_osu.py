"""Compares `ranklab comm` with osu_allreduce of the OSU micro-benchmarks, which you build: equal calls, message sizes and binding, in
alternating rounds. A benchmark, not a test: read README.md before comparing machines.

  comm_vs_osu.py OSU_ALLREDUCE [--rounds 9] [--ranks 2] [--bind-to core] [--json FILE]

Both time each call after a barrier (float sums, out of place), and give the mean and the median over calls of the mean over ranks.
Calls and warm-up are OSU's: 1000 and 200 up to 8 KiB, 100 and 10 above. Needs only Python.
"""

import json
import math
import os
import pathlib
import re
import tempfile

import paired

# Smallest and largest message, calls, warm-up.
PARTS = ((8, 8192, 1000, 200), (16384, 4 << 20, 100, 10))


def launcher(args):
    return ["mpirun", "-n", args.ranks, "--bind-to", args.bind_to]


def osu(args, part):
    smallest, largest, calls, warmup = part
    words = ["-m", f"{smallest}:{largest}", "-i", calls, "-x", warmup, "-T", "mpi_float", "-z50"]
    output = paired.run([*launcher(args), args.osu, *words], paired.environment(1))
    return {int(size): (float(mean), float(p50)) for size, mean, p50 in re.findall(r"^(\d+)\s+([\d.]+)\s+([\d.]+)", output, re.MULTILINE)}


def ranklab(args, part):
    smallest, largest, calls, warmup = part
    words = ["comm", "--op", "allreduce", "-a", 1, "-z", 3, "--place", "out-of-place", "-d", "fp32", "-b", smallest, "-e", largest, "-n", calls,
             "-w", warmup]
    with tempfile.TemporaryDirectory() as folder:
        output = paired.run([*launcher(args), args.ranklab, *words, "--quiet", "--json", "--output", pathlib.Path(folder) / "r.h5"], paired.environment(1))
    table = json.loads(output)["runs"][0]["tables"]["messages"]
    if any(table["wrong_elements"]):
        raise SystemExit("ranklab found wrong elements: there is nothing to compare")
    return dict(zip(table["bytes"], zip(table["mean_us"], table["p50_us"])))


SIDES = {"ranklab": ranklab, "osu": osu}


def both_parts(args, side):
    times = {}
    for part in PARTS:
        times |= SIDES[side](args, part)
    return times


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def show(args, found, which, title):
    """Prints a table of means or medians; returns its part of the JSON file."""
    sizes = sorted(found["osu"][0])
    ratios, answer = {}, {}
    print(f"\n{title}\n{'bytes':>9}{'ranklab us':>13}{'osu us':>13}  ranklab / osu")
    for size in sizes:
        us = {side: [times[size][which] for times in found[side]] for side in SIDES}
        ratios[size] = [a / b for a, b in zip(us["ranklab"], us["osu"])]
        print(f"{size:>9}{paired.median(us['ranklab']):>13.3f}{paired.median(us['osu']):>13.3f}  {paired.shown(ratios[size])}")
        answer[size] = {side: paired.summary(values) for side, values in us.items()} | {"ratio": paired.summary(ratios[size])}
    mean = geometric_mean([paired.median(values) for values in ratios.values()])
    rounds = [geometric_mean([ratios[size][number] for size in sizes]) for number in range(args.rounds)]
    print(f"geometric mean over sizes of the medians over rounds: {mean:.3f} (wanted: 0.95 .. 1.05)\nof each round alone: {paired.shown(rounds)}")
    return {"sizes": answer, "geometric_mean": mean, "of_rounds": paired.summary(rounds)}


def report(args, found):
    answer = {"benchmark": "comm_vs_osu", "ranks": args.ranks, "bind_to": args.bind_to,
              "means": show(args, found, 0, "mean over calls"), "medians": show(args, found, 1, "median over calls")}
    print(f"# load {os.getloadavg()[0]:.2f} at the end")
    paired.write_json(args.json, answer)
    return 0 if abs(answer["means"]["geometric_mean"] - 1) <= 0.05 else 4


def main():
    parser = paired.parser(__doc__, rounds=9)
    parser.add_argument("osu", type=pathlib.Path, metavar="OSU_ALLREDUCE", help="the program, built with the same MPI")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--bind-to", default="core", help="what mpirun binds a rank to, on both sides")
    args = parser.parse_args()
    print(f"# load {os.getloadavg()[0]:.2f} at the start")

    def show_round(number, found):
        pairs = list(zip(found["ranklab"][-1].values(), found["osu"][-1].values()))
        of_means, of_medians = (geometric_mean([mine[which] / theirs[which] for mine, theirs in pairs]) for which in (0, 1))
        print(f"round {number + 1}: of means {of_means:.3f}, of medians {of_medians:.3f}", flush=True)

    return report(args, paired.in_turn(SIDES, args.rounds, lambda side: both_parts(args, side), show_round))


if __name__ == "__main__":
    raise SystemExit(main())
