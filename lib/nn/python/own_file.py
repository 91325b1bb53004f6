"""Runs a user's file of networks. nn/python_module.cpp starts this text; every error becomes one
sentence, with the file's line as Python shows it."""

import importlib.util
import os
import sys
import traceback
import types


class Said(Exception):
    """One sentence."""


class NoMpi:
    """Refuses a second MPI beside ranklab's."""

    def find_spec(self, name, path=None, target=None):
        if name == "mpi4py":
            raise ImportError("mpi4py would start a second MPI in this process")


def wrong_torch(version, library):
    """Why this Python's torch is not the LibTorch `library`; "" if it is. Imports no torch."""
    built = f"ranklab runs on LibTorch {version} of {os.path.dirname(library)}"
    python = f"Python {sys.version_info[0]}.{sys.version_info[1]} of {sys.prefix}"
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return f"{python} has no torch, but {built}"
    folder = os.path.dirname(spec.origin)
    its = os.path.join(folder, "lib", os.path.basename(library))
    if os.path.exists(its) and os.path.samefile(its, library):
        return ""
    found = {}
    try:
        with open(os.path.join(folder, "version.py")) as file:
            exec(file.read(), found)
        its_version = str(found["__version__"])
        same = its_version.split("+")[0] == version
        if same and os.path.getsize(its) == os.path.getsize(library):
            return ""
    except (OSError, KeyError, SyntaxError) as error:
        its_version = f"of an unknown version ({error})"
    return f"{python} has torch {its_version} in {folder}, but {built}"


def start(version, library):
    """Imports torch. Call it once, before the other functions."""
    global torch
    sys.stdout = sys.stderr  # what a network prints must not mix with JSON on stdout
    sys.meta_path.insert(0, NoMpi())
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # torch.compile starts no processes
    why = wrong_torch(version, library)
    if why:
        raise Said(why)
    try:
        import torch
    except BaseException as error:
        why = f"{type(error).__name__}: {first_line(error)}"
        raise Said(f"torch of {sys.prefix} cannot be imported: {why}") from None


def first_line(error):
    return str(error).strip().split("\n")[0]


def is_of_user(filename, path):
    below = os.path.abspath(filename).startswith(os.path.dirname(os.path.abspath(path)) + os.sep)
    return below and "site-packages" not in filename and os.path.exists(filename)


def sentence(error, path):
    """The user's last line that the error passed, and the error."""
    what = f"{type(error).__name__}: {first_line(error)}".removesuffix(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in frames if is_of_user(frame.filename, path)]
    if not frames:
        return f"{path}: {what}"
    last = frames[-1]
    return f"{last.filename}, line {last.lineno}, in {last.name}: {what} [{last.line}]"


def in_sentences(path, function, *arguments):
    """Calls the function; whatever it raises, also SystemExit, becomes one sentence."""
    try:
        return function(*arguments)
    except Said:
        raise
    except BaseException as error:
        raise Said(sentence(error, path)) from None


class File:
    """A user's file, which is run once."""

    def __init__(self, path, name):
        self.path, self.name = path, name
        self.module = types.ModuleType("ranklab_own_file")
        self.module.__file__ = path
        sys.modules[self.module.__name__] = self.module
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        with open(path, "rb") as file:
            self.source = file.read()
        in_sentences(path, self.run)
        self.loss = getattr(self.module, "loss", None)
        if self.loss is not None and not callable(self.loss):
            kind = type(self.loss).__name__
            raise Said(f"loss in {path} is a {kind}, not a function loss(output, target)")

    def run(self):
        exec(compile(self.source, self.path, "exec"), self.module.__dict__)

    def code(self):
        return self.source.decode(errors="replace")

    def has_loss(self):
        return self.loss is not None

    def options(self):
        """Returns the options that the file sets, as a user types them."""

        def sizes(shape):
            return shape if isinstance(shape, str) else "x".join(map(str, shape))

        def shapes(given):
            one = isinstance(given, str) or all(isinstance(size, int) for size in given)
            return sizes(given) if one else ",".join(map(sizes, given))

        words = {}
        for name, option, text in (
            ("inputs", "input-shape", shapes),
            ("classes", "classes", str),
            ("target", "target-shape", sizes),
        ):
            value = getattr(self.module, name, None)
            if value is None or isinstance(value, types.FunctionType):
                continue
            try:
                words[option] = text(value)
            except TypeError:
                kind = type(value).__name__
                raise Said(
                    f"{name} in {self.path} is a {kind}; give sizes, as in (3, 32, 32)"
                ) from None
        return words

    def make(self):
        function = getattr(self.module, self.name, None)
        if not callable(function) or isinstance(function, torch.nn.Module):
            kind = type(function).__name__
            there = "has no" if function is None else f"has a {kind} instead of a"
            raise Said(f"{self.path} {there} function {self.name} that returns a torch.nn.Module")
        module = in_sentences(self.path, function)
        if not isinstance(module, torch.nn.Module):
            kind = type(module).__name__
            raise Said(f"{self.name} in {self.path} returns a {kind} instead of a torch.nn.Module")
        return Network(self.path, module, self.loss)


class Network:
    def __init__(self, path, module, loss):
        self.path, self.module, self.its_loss = path, module, loss

    def tensors(self):
        """Returns (name, tensor, whether it is a parameter), a module's before its children's."""
        found = list(self.tensors_of(self.module, ""))
        for name, tensor, _ in found:
            if torch.nn.parameter.is_lazy(tensor):
                raise Said(
                    f"'{name}' in {self.path} has no shape yet; use layers with given sizes "
                    "instead of lazy ones"
                )
            if tensor.device.type != "cpu":
                raise Said(
                    f"'{name}' in {self.path} is on {tensor.device}; make the network on the CPU, "
                    "ranklab moves it"
                )
        return found

    def tensors_of(self, module, above):
        for tensors, are_parameters in ((module._parameters, True), (module._buffers, False)):
            for name, tensor in tensors.items():
                if tensor is not None:
                    yield above + name, tensor, are_parameters
        for name, child in module._modules.items():
            if child is not None:
                yield from self.tensors_of(child, f"{above}{name}.")

    def tensor(self, function, arguments, what, instead):
        output = in_sentences(self.path, function, *arguments)
        if not isinstance(output, torch.Tensor):
            kind = type(output).__name__
            raise Said(f"{what} in {self.path} returns a {kind} instead of {instead}")
        return output

    def forward(self, *inputs):
        what = f"{type(self.module).__name__}.forward"
        return self.tensor(self.module, inputs, what, "one tensor, such as its scores")

    def loss(self, *output_and_target):
        loss = self.tensor(self.its_loss, output_and_target, "loss", "a tensor of one number")
        if loss.numel() != 1:
            raise Said(
                f"loss in {self.path} returns a tensor of shape {list(loss.shape)} instead of one "
                "number, such as the mean"
            )
        return loss.reshape(())

    def train(self, on):
        in_sentences(self.path, self.module.train, on)
