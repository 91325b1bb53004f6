"""The parts of the check except the table: each has a few commands and a judgement of their results."""

import dataclasses
import math
from collections.abc import Callable

from commands import Failed

FIRST_GRADIENT = "gradients summed correctly"
REPLICAS = "replicas' gradient equals one model's"
# Twenty steps of a small network with BatchNorm on one batch; each step is an epoch, so that the run stores its loss. A recorded graph replays from step 12 on.
ANY_OPTIMIZER = ["train", "--model", "bn-cnn", "--data", "synthetic", "--train-samples", 16, "--validation-samples", 16, "--batch-size", 16, "--epochs", 20,
                 "--warmup", 0, "--shuffle", "off", "--dropout", "off", "--lr-schedule", "none", "--evaluate", "off", "--threads", 1,
                 "--memory-format", "contiguous", "--output", "none", "--json"]
SMALL = [*ANY_OPTIMIZER, "--optimizer", "sgd", "--lr", 0.05]
ON_GPU, SYNTHETIC = ["--device", "cuda"], ["--input", "synthetic"]


@dataclasses.dataclass
class Command:
    words: list  # the program's name first
    judge: Callable  # judge(Done, results of the part's commands by name); throws Failed
    name: str = ""  # name for later commands
    on_cpu: bool = False  # a reference, which runs without a GPU
    code: int = 0  # expected exit code
    refused_everywhere: bool = False  # expected exit code with and without a GPU


@dataclasses.dataclass
class Part:
    name: str
    limit: float
    does: str
    commands: list


def losses_of(done):
    return done.run()["tables"]["epochs"]["train_loss"]


def need_verified(run, checks):
    verdicts = dict(zip(run["tables"]["verification"]["check"], run["tables"]["verification"]["result"]))
    for check in (*checks, "loss is a number"):
        if verdicts.get(check) != "passed":
            raise Failed(f"{check}: {verdicts.get(check, 'not there')}")


def verified(*checks):
    def judge(done, _):
        need_verified(done.run(), checks)
    return judge


def as_reference(name, bound, check=FIRST_GRADIENT):
    """Checks that each step's loss equals the loss of the command `name`."""
    def judge(done, left):
        need_verified(done.run(), [check])
        ours, theirs = losses_of(done), losses_of(left[name])
        apart = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs, strict=True))
        if not apart <= bound:
            raise Failed(f"the losses are up to {apart:.1e} apart from those of {name}, allowed {bound:.0e}")
    return judge


def learns(check=FIRST_GRADIENT):
    def judge(done, _):
        need_verified(done.run(), [check])
        losses = losses_of(done)
        if not all(map(math.isfinite, losses)) or not sum(losses[-3:]) < sum(losses[:3]):
            raise Failed(f"it does not learn: {losses}")
    return judge


def nothing(done, _):
    pass


def says(*words):
    def judge(done, _):
        for word in words:
            if word not in done.out + done.err:
                raise Failed(f"it does not say '{word}': {done.last_words()}")
    return judge


def copies(done, left):
    """Checks that batches of the loader's threads go through pinned memory."""
    as_reference("cpu", 1e-3)(done, left)
    phases = dict(zip(done.run()["tables"]["phases"]["phase"], done.run()["tables"]["phases"]["time_s"]))
    if not phases["copy"] > 0:
        raise Failed("the phase copy took no time")


def phases_fit(done, _):
    """Checks times by CUDA events: every phase took time, and their sum is most of the step and not more."""
    table = done.run()["tables"]["phases"]
    seconds = dict(zip(table["phase"], table["time_s"]))
    for phase in ("forward", "backward", "optimizer"):
        if not seconds[phase] > 0:
            raise Failed(f"the phase {phase} took no time")
    together = sum(value for phase, value in seconds.items() if phase not in ("step", "other"))
    if not 0.5 * seconds["step"] <= together <= 1.01 * seconds["step"]:
        raise Failed(f"the phases are {together / seconds['step']:.2f} of the step")


def reduces(name):
    def judge(done, left):
        as_reference(name, 1e-3)(done, left)
        count = {m["name"]: m for m in done.run()["measurements"]}["collectives_per_step"]["median"]
        if not count >= 1:
            raise Failed("no collective was made")
    return judge


def small(words, judge, **more):
    return Command([*SMALL, *SYNTHETIC, *ON_GPU, *words], judge, **more)


def cpu_reference(name, *words):
    return Command([*SMALL, "--device", "cpu", *words], verified(FIRST_GRADIENT), name=name, on_cpu=True)


def optimizer(*words):
    """Compares steps in double precision on the CPU and on the GPU."""
    run, name = [*ANY_OPTIMIZER, *SYNTHETIC, "--precision", "fp64", "--optimizer", *words], " ".join(map(str, words))
    return [Command([*run, "--device", "cpu"], verified(FIRST_GRADIENT), name=name, on_cpu=True), Command([*run, *ON_GPU], as_reference(name, 1e-8))]


def test(program, *words):
    return Command([program, *words], nothing)


def all_parts():
    cpu, exact = cpu_reference("cpu", *SYNTHETIC), cpu_reference("cpu fp64", *SYNTHETIC, "--precision", "fp64")
    dp = ["--mode", "dp"]
    return [
        Part("doctor", 30, "what the programs find here", [Command(["ranklab-doctor"], nothing, on_cpu=True)]),
        Part("device", 40, "streams, events, memory", [test("gpu_test", "--expect-ranks=1", "--gtest_filter=OnGpu.*")]),
        Part("replicas", 60, "DataParallel over the GPUs of one process", [test("gpu_test", "--expect-ranks=1", "--gtest_filter=OnGpus.*")]),
        Part("nccl-contract", 60, "the contract of the backend nccl at one rank", [test("mpi_test", "--expect-ranks=1", "--gtest_filter=*/nccl")]),
        Part("precisions", 90, "every precision computes what it should",
             [cpu, exact, small(["--precision", "fp64"], as_reference("cpu fp64", 1e-8)), small([], as_reference("cpu", 1e-3)),
              *(small(["--precision", p], learns()) for p in ("tf32", "bf16", "fp16")), small(["--memory-format", "channels-last"], as_reference("cpu", 1e-3))]),
        Part("optimizers", 40, "each optimizer's step on the GPU is the CPU's",
             [*optimizer("adadelta"), *optimizer("adam"), *optimizer("adamw"), *optimizer("sgd", "--lr", 0.05, "--momentum", 0.9)]),
        Part("graph", 50, "forward and backward as a recorded CUDA graph",
             [cpu, small(["--cuda-graph"], as_reference("cpu", 1e-3)), small(["--cuda-graph", "--precision", "fp16"], learns())]),
        Part("pinned", 40, "batches of a loader's threads, copied from pinned memory",
             [cpu_reference("cpu", "--input", "real", "--workers", 2),
              Command([*SMALL, *ON_GPU, "--input", "real", "--workers", 2], copies)]),
        Part("phases", 40, "phases timed by CUDA events",
             [Command(["train", "--model", "mnist-cnn", "--data", "synthetic", *SYNTHETIC, *ON_GPU, "--steps", 50, "--warmup", 10, "--evaluate", "off",
                       "--memory-format", "contiguous", "--threads", 1, "--output", "none", "--json"], phases_fit)]),
        Part("dp", 70, "--mode dp: one replica, one on each GPU, and what is refused",
             [cpu, small([*dp, "--replicas", 1], as_reference("cpu", 1e-3, REPLICAS)), small(dp, learns(REPLICAS)),
              small([*dp, "--replicas", 64], says("64 replicas need a GPU each"), code=5),
              small([*dp, "--cuda-graph"], says("--cuda-graph"), code=2, refused_everywhere=True),
              small([*dp, "--backend", "nccl"], says("--backend nccl"), code=2, refused_everywhere=True)]),
        Part("ddp", 70, "one rank of DDP over NCCL",
             [cpu, small(["--mode", "ddp", "--sync", "bucketed"], reduces("cpu")), small(["--mode", "ddp", "--sync", "flat", "--cuda-graph"], reduces("cpu")),
              small(["--mode", "ddp", "--sync", "per-parameter", "--precision", "fp16"], learns())]),
        Part("comm", 50, "collectives on GPU buffers at one rank",
             [Command(["comm", "--backend", "nccl", "--op", "all", "-b", 8, "-e", "64M", "-f", 8, "-n", 10, "-w", 2, "--output", "none"], nothing),
              Command(["comm", "--backend", "nccl", "-d", "all", "-o", "all", "-b", "1K", "-e", "1K", "-n", 10, "-w", 2, "--output", "none"], nothing)]),
    ]
