"""The table: the work that is compared, the values on which sides must agree, and Markdown of the measured cells."""

import dataclasses
import math
import pathlib
import statistics
import sys

BEGIN, END = "<!-- gpu table: begin -->", "<!-- gpu table: end -->"

# The documents' batches. (batch, warm-up, counted steps); a recorded graph begins after eleven steps.
WORK = {"mnist-cnn": (64, 20, 200), "resnet50": (64, 13, 20), "resnet152": (64, 13, 20), "unet3d": (32, 13, 20), "gpt2-124m": (12, 13, 20)}
# The networks in a rehearsal on a CPU: (batch, warm-up, counted steps, edge, width).
TINY = {"mnist-cnn": (8, 1, 3, 28, 1), "resnet50": (4, 1, 2, 32, 8), "resnet152": (4, 1, 2, 32, 16), "unet3d": (1, 1, 2, 64, 16), "gpt2-124m": (2, 1, 2, 16, 12)}
VARIANTS = ("fp32", "bf16", "bf16 channels-last", "tf32", "fp16", "bf16 graph")
REHEARSED = ("fp32", "bf16 channels-last")
EDGES = {"unet3d": "--crop-edge", "gpt2-124m": "--sequence-length"}  # the option of an edge, if not --image-size

# Largest relative difference of the first losses: weights, batch and dropout seed are equal, the arithmetic is not.
BOUNDS = {"fp32": 1e-3, "tf32": 5e-3, "fp16": 1e-2, "bf16": 3e-2}
# torch.compile uses other dropout masks.
BOUND_OF_OTHER_MASKS = 0.1
HAS_DROPOUT = ("mnist-cnn",)


@dataclasses.dataclass
class Row:
    model: str
    variant: str
    batch: int
    warmup: int
    steps: int
    edge: int | None = None
    width: int = 1
    sides: dict = dataclasses.field(default_factory=dict)  # name -> a side of side_of(), or {"error"}

    @property
    def precision(self):
        return self.variant.split()[0]

    @property
    def channels_last(self):
        return "channels-last" in self.variant

    @property
    def graph(self):
        return "graph" in self.variant

    def names(self):
        """The names of the sides in the order of measurement."""
        return ["ranklab", "eager", *(["graph"] if self.graph else []), "compile"]

    def ranklab_words(self, device):
        """An epoch has one batch, so that the run stores each step's loss."""
        words = ["train", "--model", self.model, "--device", device, "--mode", "single", "--data", "synthetic", "--input", "synthetic", "--shuffle", "off"]
        words += ["--train-samples", self.batch, "--validation-samples", 2, "--batch-size", self.batch, "--epochs", self.warmup + self.steps]
        words += ["--warmup", self.warmup, "--evaluate", "off", "--lr-schedule", "none", "--lr-scaling", "none", "--ops", "libtorch", "--threads", 1, "--json"]
        words += ["--precision", self.precision, "--memory-format", "channels-last" if self.channels_last else "contiguous"]
        if self.width != 1:
            words += ["--width", self.width]
        if self.edge and self.model != "mnist-cnn":
            words += [EDGES.get(self.model, "--image-size"), self.edge]
        return words + (["--cuda-graph"] if self.graph else [])

    def pytorch_job(self, way, device):
        return {"model": self.model, "batch": self.batch, "edge": self.edge, "width": self.width, "precision": self.precision, "channels_last": self.channels_last,
                "way": way, "warmup": self.warmup, "steps": self.steps, "device": device}

    def disagreement(self, side):
        """Returns how that side's work differs from ranklab's, or ""."""
        ours, theirs = self.sides["ranklab"]["first_loss"], self.sides[side]["first_loss"]
        bound = BOUND_OF_OTHER_MASKS if side == "compile" and self.model in HAS_DROPOUT else BOUNDS[self.precision]
        apart = abs(ours - theirs) / abs(ours)
        if apart <= bound:  # written so that NaN fails
            return ""
        return f"the first loss of {side} is {theirs:.6g}, ranklab's {ours:.6g}: {apart:.1e} apart, allowed {bound:.0e}"

    def measured(self, side):
        return "median_s" in self.sides.get(side, {})


def variants_of(model, rehearsal):
    if model == "gpt2-124m":  # as language models are trained
        return ("bf16",)
    return VARIANTS if not rehearsal else REHEARSED[:1] if model == "resnet152" else REHEARSED


def planned(rehearsal):
    return [Row(model, variant, *work) for variant in VARIANTS for model, work in (TINY if rehearsal else WORK).items() if variant in variants_of(model, rehearsal)]


def agenda(rows):
    """Returns (row, side) in the order of measurement: fast starts of all variants first, torch.compile last, should time run out."""
    def of(variants, names):
        return [(row, name) for variant in variants for row in rows if row.variant == variant for name in row.names() if name in names]
    first, fast = ("fp32", "bf16"), ("ranklab", "eager", "graph")
    later = [variant for variant in VARIANTS if variant not in first]
    return of(first, fast) + of(later, fast) + of(["bf16", *(v for v in VARIANTS if v != "bf16")], ["compile"])


def side_of(median_s, steps, first_loss, last_loss, peak_bytes):
    """The numbers kept of a measured side, ranklab's or PyTorch's: the median of `steps` step times, the losses of the first and last
    step, and the most that tensors took on the GPU (None on a CPU)."""
    return {"median_s": median_s, "steps": steps, "first_loss": first_loss, "last_loss": last_loss, "peak_bytes": peak_bytes}


def pytorch_side(answer):
    """Returns the answer of pytorch_side.py as a side or an error."""
    if "error" in answer:
        return {"error": answer["error"]}
    times = answer["step_s"]
    return side_of(statistics.median(times), len(times), answer["first_loss"], answer["last_loss"], answer["peak_bytes"])


def ranklab_side(run):
    """Returns a run's JSON as a side, or an error if the run is invalid."""
    verdicts = dict(zip(run["tables"]["verification"]["check"], run["tables"]["verification"]["result"]))
    wanted = {"gradients summed correctly": "passed", "loss is a number": "passed"}
    not_so = [f"{check}: {verdicts.get(check, 'not there')}" for check, result in wanted.items() if verdicts.get(check) != result]
    if not run["valid"] or not_so:
        return {"error": "the run is not verified: " + "; ".join(not_so or ["marked as not valid"])}
    measurements = {m["name"]: m for m in run["measurements"]}
    losses = run["tables"]["epochs"]["train_loss"]
    peak = measurements.get("peak_gpu_bytes")
    times = measurements["step_time_s"]
    return side_of(times["median"], times["n"], losses[0], losses[-1], peak and peak["median"])


def rate(row, side):
    if not row.measured(side):
        return "n/a"
    value = row.batch / row.sides[side]["median_s"]
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def ratio(row, side):
    """Returns ranklab's speedup, or n/a if a side is missing."""
    if not (row.measured("ranklab") and row.measured(side)):
        return "n/a"
    return f"{row.sides[side]['median_s'] / row.sides['ranklab']['median_s']:.2f}"


def memory(row, side):
    peak = row.sides.get(side, {}).get("peak_bytes")
    return f"{peak / 2**30:.2f}" if peak and math.isfinite(peak) else "n/a"


def markdown(rows, facts, rehearsal):
    """Rows without any measurement are left out; notes name the missing cells."""
    shown = [row for row in rows if any(row.measured(side) for side in row.names())]
    lines = []
    if rehearsal:
        lines += ["**A rehearsal on a CPU with tiny networks: no figure here is of a GPU.**", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()] + [""]
    lines += ["samples/s (of gpt2-124m 1,024 tokens each); a ratio above 1: ranklab is faster; GiB: the most that tensors took.", ""]
    lines += ["| model | batch | variant | ranklab | eager | graph | compile | over eager | over graph | over compile | GiB | GiB eager |",
              "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in shown:
        cells = [row.model, row.batch, row.variant, *(rate(row, side) for side in ("ranklab", "eager", "graph", "compile")),
                 *(ratio(row, side) for side in ("eager", "graph", "compile")), memory(row, "ranklab"), memory(row, "eager")]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    missing = missing_lines(rows)
    return "\n".join(lines + ([""] + missing if missing else [])) + "\n"


def missing_lines(rows):
    """One line per reason, with its cells."""
    reasons, late = {}, 0
    for row in rows:
        for side in row.names():
            if side not in row.sides:
                late += 1
            elif not row.measured(side):
                reasons.setdefault(row.sides[side]["error"], []).append(f"{row.model} {row.variant} {side}")
    lines = [f"- not measured: {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return lines + ([f"- not measured: {late} more cells, for which no time was left"] if late else [])


def put_between_markers(document, table):
    """Returns `document` with the text between the markers replaced; ValueError without markers."""
    if document.count(BEGIN) != 1 or document.count(END) != 1 or document.index(BEGIN) > document.index(END):
        raise ValueError(f"the document has not one line {BEGIN} and, behind it, one line {END}")
    before, rest = document.split(BEGIN)
    return f"{before}{BEGIN}\n{table}{END}{rest.split(END)[1]}"


def main():
    """table.py GPU_MD DOCUMENT: inserts the check's table from another machine into a document."""
    source, document = (pathlib.Path(word) for word in sys.argv[1:3])
    text = source.read_text(encoding="utf-8")
    inner = text.split(BEGIN + "\n")[1].split(END)[0]
    document.write_text(put_between_markers(document.read_text(encoding="utf-8"), inner), encoding="utf-8")


if __name__ == "__main__":
    main()
