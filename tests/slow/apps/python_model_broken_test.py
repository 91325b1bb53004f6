"""Broken Python files of networks: each ends at 2 ranks in a sentence with the file's line, before or at the first step that shows it."""

import ranklab_cli as cli

cli.need_train()
(torch,) = cli.modules("torch")

HEAD = "import torch\nfrom torch import nn\n\n\n"  # the text below begins at line 5
NET = HEAD + "class Net(nn.Linear):\n    def forward(self, x):\n        {}\n\n\ndef model():\n    return Net(8, 5)\n"
LINEAR = "return nn.functional.linear(x, self.weight)"
OF_LAYER = HEAD + "def model():\n    return {}\n"
SHAPE = ("--input-shape", "8", "--classes", "5")
WHOLE = NET.format(LINEAR)

# name: text of the file, exit code, what the sentence says
FILES = {
    "syntax": ("def model(:\n    return None\n", 3, "syntax.py, line 1: SyntaxError"),
    "indentation": (HEAD + "def model():\n    a = 1\n      b = 2\n", 3, "line 7: IndentationError"),
    "nulls": ("a = 1\0\n", 3, "nulls.py"),
    "no_module": (HEAD + "import no_such_module\n", 3, "line 5, in <module>: ModuleNotFoundError: No module named 'no_such_module'"),
    "helper": ("import helper_of_it\n", 3, "helper_of_it.py, line 2, in <module>: ZeroDivisionError"),
    "name": (HEAD + "def model():\n    return Nett(8, 5)\n", 3, "line 6, in model: NameError: name 'Nett' is not defined"),
    "exits": (HEAD + "import sys\nsys.exit(0)\n", 3, "line 6, in <module>: SystemExit: 0"),
    "interrupts": ("raise KeyboardInterrupt\n", 3, "line 1, in <module>: KeyboardInterrupt"),
    "second_mpi": ("import mpi4py.MPI\n", 3, "line 1, in <module>: ImportError: mpi4py would start a second MPI"),
    "empty": ("", 3, "empty.py has no function model"),
    "module": (HEAD + "model = nn.Linear(8, 5)\n", 3, "has a Linear instead of a function model"),
    "number": ("model = 5\n", 3, "has a int instead of a function model"),
    "nothing": (HEAD + "def model():\n    nn.Linear(8, 5)\n", 3, "model in nothing.py returns a NoneType instead of a torch.nn.Module"),
    "argument": (HEAD + "def model(size):\n    return nn.Linear(size, 5)\n", 3, "argument.py: TypeError: model() missing 1 required positional argument"),
    "builder": (HEAD + "class Net(nn.Module):\n    def __init__(self):\n        self.a = nn.Linear(8, 5)\n\n\nmodel = Net\n", 3,
                "line 7, in __init__: AttributeError: cannot assign module before Module.__init__() call"),
    "recursion": (HEAD + "def model():\n    return model()\n", 3, "line 6, in model: RecursionError"),
    "shape": (NET.format("x = x.flatten(1)\n        return self.bias + x @ torch.ones(7, 5)"), 2, "line 8, in forward: RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x8 and 7x5)"),
    "raises": (NET.format("raise ValueError('no such\\nbatch')"), 2, "line 7, in forward: ValueError: no such [raise ValueError("),
    "pair": (NET.format("return x, x"), 2, "Net.forward in pair.py returns a tuple instead of one tensor"),
    "none": (NET.format("nn.functional.linear(x, self.weight)"), 2, "Net.forward in none.py returns a NoneType"),
    "detached": (NET.format(LINEAR + ".detach()"), 2, "depends on no trainable parameter"),
    "unnamed": (OF_LAYER.format("nn.Flatten()"), 2, "has no trainable parameters"),
    "lazy": (OF_LAYER.format("(__import__('warnings').simplefilter('ignore'), nn.LazyLinear(5))[1]"), 3, "'weight' in lazy.py has no shape yet"),
    "meta": (OF_LAYER.format("nn.Linear(8, 5, device='meta')"), 3, "'weight' in meta.py is on meta"),
    "complex": (OF_LAYER.format("nn.Linear(8, 5, dtype=torch.complex64)"), 2, "'weight' is sparse or complex"),
    "overwrites": (NET.format("y = nn.functional.linear(x, self.weight)\n        return y.exp_() * y.exp_()"), 2, "the model cannot be trained", "inplace operation"),
    "classes": (OF_LAYER.format("nn.Linear(8, 6)"), 2, "classes.py maps a batch of 2 to 2x6, but the target needs 2x5"),
    "loss_number": (WHOLE + "\n\nloss = 3\n", 3, "loss in loss_number.py is a int, not a function"),
    "loss_vector": (WHOLE + "\n\ndef loss(output, target):\n    return output.sum(1)\n", 3, "returns a tensor of shape [2] instead of one number"),
    "loss_float": (WHOLE + "\n\ndef loss(output, target):\n    return 0.5\n", 3, "loss in loss_float.py returns a float instead of a tensor of one number"),
    "loss_raises": (WHOLE + "\n\ndef loss(output, target):\n    return output.no_such()\n", 3, "line 15, in loss: AttributeError: 'Tensor' object has no attribute 'no_such'"),
    "inputs": (WHOLE + "\n\ninputs = 8.5\n", 3, "inputs in inputs.py is a float; give sizes"),
    "train": (WHOLE.replace("def forward", "def train(self, mode):\n        raise RuntimeError('stays')\n\n    def forward"), 3, "line 7, in train: RuntimeError: stays"),
    "evaluation": (NET.format("assert self.training\n        " + LINEAR), 3, "line 7, in forward: AssertionError"),
    "third": ("import os\n" + NET.format(f"self.calls = getattr(self, 'calls', 0) + 1\n        assert self.calls < 5 or os.environ['{cli.LAUNCHER.rank_variable}'] == '0'\n        " + LINEAR), 3,
              "rank 1", "line 9, in forward: AssertionError"),
    "one_rank": (f"import os\nassert os.environ['{cli.LAUNCHER.rank_variable}'] == '0'\n" + WHOLE, 3, "one_rank.py, line 2, in <module>: AssertionError"),
    "differs": (f"import os\nsize = 8 + int(os.environ['{cli.LAUNCHER.rank_variable}'])\n" + OF_LAYER.format("nn.Sequential(nn.Linear(8, size), nn.Linear(size, 5))"), 3, "different files"),
}


class BrokenPython(cli.Case):
    def refused(self, name):
        text, code, *says = FILES[name]
        (self.folder / f"{name}.py").write_text(text)
        words = ("--model", f"{name}.py", *(SHAPE if name != "inputs" else SHAPE[2:]))
        result = cli.ranklab("train", *words, "--steps", 4, "--warmup", 0, "--batch-size", 2, "--threads", 1, "--evaluate", "end", "--output", "none", ranks=2, cwd=self.folder, timeout=120)
        return name, code, says, result

    def test_each_is_a_sentence_with_its_line(self):
        (self.folder / "helper_of_it.py").write_text("\n1 / 0\n")
        for name, code, says, result in cli.several(self.refused, FILES):
            with self.subTest(name):
                # Of a rank that fails alone in a step, a second sentence says that the job was aborted.
                result.stderr = "\n".join(line for line in result.stderr.splitlines() if name != "third" or not line.endswith("job aborted"))
                self.assertSays(result, code, *says)

    def test_files_that_are_none(self):
        (self.folder / "folder.py").mkdir()
        (self.folder / "net.py").write_text(WHOLE)
        for name, code, says in (("missing.py", 3, "missing.py cannot be read"), ("folder.py", 3, "folder.py cannot be read"), ("net.py:small", 3, "has no function small"),
                                 ("net.py:nn", 3, "has a module instead of a function nn")):
            with self.subTest(name):
                self.assertSays(cli.ranklab("train", "--model", name, *SHAPE, "--output", "none", ranks=2, cwd=self.folder), code, says)
        for words, says in (((), "needs --input-shape"), (("--input-shape", 8), "needs --classes"), ((*SHAPE, "--mode", "dp"), "--mode ddp")):
            with self.subTest(words):
                self.assertSays(cli.ranklab("train", "--model", "net.py", *words, "--output", "none", cwd=self.folder), 2, says)


if __name__ == "__main__":
    cli.main()
