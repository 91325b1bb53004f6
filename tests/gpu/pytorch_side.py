"""PyTorch's side of the table: training steps of one network on one batch that stays on the device, as `ranklab train --input synthetic`.

Reads jobs, one line of JSON each, and answers each with a line: {"step_s": [...], "first_loss": x, "last_loss": x, "peak_bytes": n}, or {"error": "why", "types":
[type of the exception, then of each wrapped one]}. One process serves all jobs, since its start takes seconds. --ahead FILE makes a few steps of each job in
that file, which fills torch.compile's cache on disk for the table. --lacking DEVICE prints what torch.compile needs for that device and lacks here, as a list.
"""

import contextlib
import gc
import importlib.util
import json
import os
import pathlib
import shutil
import sys
import sysconfig
import time

import torch

import batches
import networks

SIXTEEN_BITS = {"bf16": torch.bfloat16, "fp16": torch.float16}
STEPS_BEFORE_CAPTURE = 11  # as ranklab: until allocator and cuDNN have settled


class Training:
    """Makes steps one by one; reads each loss and synchronises the device, as ranklab does."""

    def __init__(self, job):
        self.device = torch.device(job["device"])
        self.precision = job["precision"]
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = self.precision == "tf32"
        batch = batches.first_batch(job["model"], job["batch"], job.get("edge"))
        self.network, self.loss_of, make_optimizer = networks.made(job["model"], job.get("width", 1), edge=job.get("edge"))
        layout = {}
        if job.get("channels_last"):
            layout = {"memory_format": torch.channels_last_3d if batch[0].dim() == 5 else torch.channels_last}
        self.network = self.network.to(self.device, **layout).train()
        self.inputs, self.targets = batch[0].to(self.device, **layout), batch[1].to(self.device)
        self.optimizer = make_optimizer(self.network.parameters())
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=self.precision == "fp16" and self.device.type == "cuda")
        self.run = torch.compile(self.network) if job["way"] == "compile" else self.network
        self.captures = job["way"] == "graph"
        self.graph, self.loss, self.made = None, None, 0

    def autocast(self):
        type_ = SIXTEEN_BITS.get(self.precision)
        return torch.autocast(self.device.type, dtype=type_) if type_ else contextlib.nullcontext()

    def forward_backward(self):
        with self.autocast():
            self.loss = self.loss_of(self.run(self.inputs), self.targets)
        self.scaler.scale(self.loss).backward()

    def capture(self):
        self.optimizer.zero_grad()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=torch.cuda.current_stream()):
            self.forward_backward()

    def step(self):
        if self.captures and self.graph is None and self.made >= STEPS_BEFORE_CAPTURE:
            self.capture()
        if self.graph is None:
            self.optimizer.zero_grad()
            self.forward_backward()
        else:
            self.graph.replay()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.made += 1
        value = self.loss.item()
        if self.device.type == "cuda":
            torch.cuda.synchronize()
        return value


def measured(job):
    on_gpu = job["device"].startswith("cuda")
    # A graph cannot be captured on the default stream.
    with torch.cuda.stream(torch.cuda.Stream()) if on_gpu else contextlib.nullcontext():
        training = Training(job)
        if on_gpu:
            torch.cuda.reset_peak_memory_stats()
        times, losses = [], []
        for _ in range(job["warmup"] + job["steps"]):
            start = time.perf_counter()
            losses.append(training.step())
            times.append(time.perf_counter() - start)
    peak = torch.cuda.max_memory_allocated() if on_gpu else None
    return {"step_s": times[job["warmup"] :], "first_loss": losses[0], "last_loss": losses[-1], "peak_bytes": peak}


def tidy(job):
    gc.collect()
    if job["way"] == "compile":
        torch._dynamo.reset()
    if job["device"].startswith("cuda"):
        torch.cuda.empty_cache()


def types_of(error):
    """Returns the exception's type, then the types of wrapped exceptions: torch.compile wraps its compiler's."""
    names = []
    while error is not None and len(names) < 10:
        names.append(type(error).__name__)
        error = getattr(error, "inner_exception", None) or error.__cause__
    return names


def answer(job):
    try:
        return measured(job)
    except Exception as error:  # any exception is this job's answer; the next job continues
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:400], "types": types_of(error)}
    finally:
        tidy(job)


def lacking(device):
    """Returns the names of the parts that torch.compile needs and this machine lacks: wheels may be installed without dependencies."""
    on_gpu = device.startswith("cuda")
    modules = ["filelock", "jinja2", "networkx", "sympy", *(["triton"] if on_gpu else [])]
    found = [f"the package {name}" for name in modules if importlib.util.find_spec(name) is None]
    # Triton compiles its launchers in C, and for a CPU torch.compile writes C++.
    compilers = [os.environ["CC"]] if on_gpu and os.environ.get("CC") else ["gcc", "clang"] if on_gpu else [os.environ.get("CXX", "g++")]
    if not any(shutil.which(name) for name in compilers):
        found.append(f"a {'C' if on_gpu else 'C++'} compiler ({' or '.join(compilers)})")
    if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").is_file():
        found.append("Python's headers (Python.h)")
    return found


def main():
    if sys.argv[1:2] == ["--lacking"]:
        print(json.dumps(lacking(sys.argv[2])))
        return
    torch.set_num_threads(1)
    if sys.argv[1:2] == ["--ahead"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            for line in file:
                job = json.loads(line) | {"warmup": 1, "steps": 1}
                start = time.perf_counter()
                print(job["model"], job["precision"], answer(job).get("error", "compiled"), f"{time.perf_counter() - start:.0f} s", flush=True)
        return
    answers = sys.stdout
    sys.stdout = sys.stderr  # keeps output of libraries out of the answers
    print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "gpus": torch.cuda.device_count(),
                      "gpu": torch.cuda.get_device_name(0) if torch.cuda.is_available() else None}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
