"""Forecasts steps between two hosts by `ranklab predict --by mechanism` from runs on one host and `ranklab comm`, and then measures them.
A benchmark, not a test; the hosts are namespaces of this machine (two_hosts.sh: root, Slurm). Read README.md before comparing machines.

  predict_two_hosts.py [--models mnist-cnn,wide-mlp] [--rates 1gbit,300mbit] [--rounds 6] [--width 1] [--scratch /var/tmp] [--json FILE]

Each round measures one rank, one rank by layer, two ranks on one host and the network, forecasts, and then measures the forecast steps.
Targets: the median over rounds of forecast / measured within 0.85 .. 1.15, and the step with the bucket cap of the shortest forecast at
most 1.03 times the best measured step; exit code 4 otherwise.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import paired

TWO_HOSTS = paired.HERE.parent / "support" / "two_hosts.sh"
BATCH = {"mnist-cnn": 64, "wide-mlp": 32}
CAPS = (1, 2, 5, 10, 25, 100)
# name: options of train between the hosts and of predict
TARGETS = {
    "bucketed": [],
    "flat": ["--sync", "flat"],
    "accumulate 4": ["--accumulate", 4],
    "flat, accumulate 4": ["--sync", "flat", "--accumulate", 4],
    **{f"cap {cap} MiB": ["--bucket-cap-mb", cap] for cap in CAPS},
}
ONE, PAIR, HOSTS = (["srun", f"-N{hosts}", f"-n{ranks}", "--mpi=pmix"] for hosts, ranks in ((1, 1), (1, 2), (2, 2)))


class Round:
    """One round of one model at one rate, with its own results file."""

    def __init__(self, args, model, folder):
        self.args, self.file, self.env = args, pathlib.Path(folder) / "r.h5", args.env
        self.words = ["--model", model, "--data", "synthetic", "--batch-size", BATCH[model], "--width", args.width, "--threads", args.threads,
                      "--evaluate", "off", "--overlap-steps", 0]

    def ranklab(self, launcher, command, *words):
        return paired.run([*launcher, self.args.ranklab, command, *words, "--quiet", "--output", self.file], self.env)

    def train(self, launcher, *words, steps=None):
        self.ranklab(launcher, "train", *self.words, "--steps", steps or self.args.steps, *words)

    def measure_parts(self):
        self.train(ONE, "--profile", "layers")
        self.train(ONE)
        self.train(PAIR, "--sync", "flat")
        calls = ["-n", self.args.calls, "-w", 2, "-c", 0]
        self.ranklab(HOSTS, "comm", *calls, "--place", "in-place", "--sizes", f"8,4K,64K,256K,1M,4M,{self.args.largest}")
        self.ranklab(HOSTS, "comm", "-n", 4 * self.args.calls, "-w", 2, "-c", 0, "--nonblocking", "--mpi-progress", "poll", "--sizes", "8,16K,64K,256K")

    def forecast_s(self, words):
        # Between hosts train's default is buckets.
        words = words if "--sync" in words else ["--sync", "bucketed", *words]
        out = paired.run([self.args.ranklab, "predict", self.file, "--by", "mechanism", "--to", 2, "--ranks-per-node", 1, "--format", "json", *words],
                         self.env)
        found = json.loads(out)["forecasts"][0]
        if found["refused"]:
            raise SystemExit(f"no forecast: {found['reason']}")
        return found["value"]

    def measured_s(self, words):
        import h5py
        import numpy as np

        self.train(HOSTS, *words)
        with h5py.File(self.file) as file:
            return float(np.median(paired.last_run(file)["samples/step_time_s"][()].max(axis=1)))


def one_round(args, model):
    with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
        now = Round(args, model, folder)
        now.measure_parts()
        names = [name for name in TARGETS if not args.targets or any(name.startswith(word) for word in args.targets.split(","))]
        forecasts = {name: now.forecast_s(TARGETS[name]) for name in names}
        return {name: (forecasts[name], now.measured_s(TARGETS[name])) for name in names}


def judged(found):
    """Prints the medians over rounds; returns whether they reach the targets."""
    fine = True
    for name in found[0]:
        ratios = [one[name][0] / one[name][1] for one in found]
        fine &= abs(paired.median(ratios) - 1) <= 0.15
        print(f"  {name:<20} {paired.median([one[name][1] for one in found]) * 1e3:>9.1f} ms   forecast / measured {paired.shown(ratios)}")
    caps = [name for name in found[0] if name.startswith("cap")]
    if len(caps) > 1:
        middle = {name: [paired.median([one[name][side] for one in found]) for side in (0, 1)] for name in caps}
        advised = min(caps, key=lambda name: middle[name][0])
        longer = middle[advised][1] / min(measured for _, measured in middle.values())
        fine &= longer <= 1.03
        print(f"  advised: {advised}, {longer:.3f} of the best")
    return fine


def main():
    parser = paired.parser(__doc__, rounds=6)
    parser.add_argument("--models", default="mnist-cnn,wide-mlp")
    parser.add_argument("--rates", default="1gbit,300mbit")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--calls", type=int, default=8, help="of a message size")
    parser.add_argument("--largest", default="40M", help="message; a quarter of all gradients at least")
    parser.add_argument("--width", type=int, default=1, help="of the models: 4 makes wide-mlp a sixteenth")
    parser.add_argument("--targets", help="beginnings of their names (default: all)")
    parser.add_argument("--scratch", type=pathlib.Path, default="/var/tmp", help="not under /tmp, which each host hides behind its own")
    args = parser.parse_args()
    state = pathlib.Path(tempfile.mkdtemp(prefix="predict-", dir=args.scratch)) / "hosts"
    args.env = paired.environment(args.threads) | {"SLURM_CONF": str(state / "slurm.conf")}
    if subprocess.run([TWO_HOSTS, "up", state], check=False).returncode != 0:
        shutil.rmtree(state.parent, ignore_errors=True)
        return 5
    fine, answer = True, []
    try:
        for rate in args.rates.split(","):
            subprocess.run([TWO_HOSTS, "shape", state, rate], check=True)
            for model in args.models.split(","):
                print(f"{model} at {rate}, load {os.getloadavg()[0]:.2f}", flush=True)
                found = [one_round(args, model) for _ in range(args.rounds)]
                fine &= judged(found)
                answer.append({"model": model, "rate": rate, "rounds": found})
    finally:
        subprocess.run([TWO_HOSTS, "down", state], check=False)
        shutil.rmtree(state.parent, ignore_errors=True)
    paired.write_json(args.json, {"benchmark": "predict_two_hosts", "cases": answer})
    return 0 if fine else 4


if __name__ == "__main__":
    raise SystemExit(main())
