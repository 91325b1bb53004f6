"""No code compares the name of a catalogue entry outside the entry's own file.

What an entry can do is a property of the entry, and a fact of the run. `python3 catalogues_test.py --count` lists the
comparisons that are left and prints their number.
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
MOST_COMPARISONS = 0

# The option that chooses from each catalogue.
SETTINGS = {"backends": "backend", "sources": "data", "strategies": "strategy", "models": "model",
            "gradient_syncs": "sync", "optimizers": "optimizer"}
# These words mean other things, too: they count only where the catalogue's option is compared with them.
AMBIGUOUS = {"none", "self", "mpi", "hdf5", "npy", "binary", "synthetic", "flat"}
# Literals that are no comparisons: {file: (names, reason)}.
ALLOWED = {
    "lib/experiments/training/options.cpp": ({"bucketed"}, "the default of --sync"),
    "lib/app/run_predict.cpp": ({"bucketed"}, "the values that predict --sync takes"),
    "lib/vocabulary/settings.hpp": ({"mnist-cnn"}, "the default of --model"),
    "lib/nn/models/bn_cnn.cpp": ({"fashion-mnist", "sgd"}, "the model's defaults"),
    "lib/nn/models/mnist_cnn.cpp": ({"fashion-mnist", "adadelta"}, "the model's defaults"),
    "lib/nn/models/template_softmax.cpp": ({"sgd"}, "the model's default"),
    "lib/nn/models/unet3d.cpp": ({"cosmology", "adam"}, "the model's defaults"),
    "lib/nn/models/wide_mlp.cpp": ({"sgd"}, "the model's default"),
    "lib/nn/models/resnet.cpp": ({"cifar100", "sgd"}, "defaults of the ResNet entries"),
    "lib/nn/own_model.cpp": ({"sgd"}, "the default of a user's own model"),
    "lib/experiments/data_sets/data_sets.cpp": ({"cifar100", "mnist"}, "the makers of ranklab data, which have the sets' names"),
}

CATALOGUE = re.compile(r"ranklab_add_catalogue\(([^)]*)\)")
COMMENT = re.compile(r"//[^\n]*")
LITERAL = re.compile(r'"([a-z][a-z0-9-]*)"')
PREFIX = re.compile(r'\b(?:starts_with|ends_with|contains|find)\("([a-z][a-z0-9-]*)"\)')


def catalogues_of(root):
    """{function: {name: file}}, from the CMake lists."""
    found = {}
    for cmake in sorted((root / "lib").glob("*/CMakeLists.txt")):
        for call in CATALOGUE.findall(cmake.read_text()):
            words = call.split()
            value = {key: words[words.index(key) + 1] for key in ("ROOM", "FUNCTION", "FOLDER")}
            entries = words[words.index("ENTRIES") + 1:]
            found[value["FUNCTION"]] = {
                entry.replace("_", "-"): f"lib/{value['ROOM']}/{value['FOLDER']}/{entry}.cpp" for entry in entries}
    return found


def patterns_of(function):
    """Of the catalogue's option, and of a comparison of it with a literal."""
    option = rf"\b(?:{SETTINGS[function]}|k{SETTINGS[function].capitalize()})\b"  # "sync", or setting::kSync
    return re.compile(option), re.compile(rf'{option}["\])]*\s*[!=]=\s*"([a-z][a-z0-9-]*)"')


PATTERNS = {function: patterns_of(function) for function in SETTINGS}


def names_in(line, catalogues, file):
    """(catalogue, name) of each comparison in a line without comments."""
    literals, prefixes = set(LITERAL.findall(line)), PREFIX.findall(line)
    for function, entries in catalogues.items():
        option, compared = PATTERNS[function]
        own = {name for name, at in entries.items() if at == file}
        for word in literals & (set(entries) - own):
            if word not in AMBIGUOUS or word in compared.findall(line):
                yield function, word
        for prefix in prefixes:
            begins = any(name.startswith(prefix) and name != prefix for name in entries)
            if begins and not own and (prefix.endswith("-") or option.search(line)):
                yield function, prefix


def comparisons(root):
    """(file, line, catalogue, name) of each comparison with an entry's name."""
    catalogues = catalogues_of(root)
    found = []
    for top in ("lib", "apps"):
        for path in sorted((root / top).rglob("*.[ch]pp")):
            file = str(path.relative_to(root))
            allowed, _ = ALLOWED.get(file, (set(), ""))
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if '"' not in line:
                    continue
                for function, name in names_in(COMMENT.sub("", line), catalogues, file):
                    if name not in allowed:
                        found.append((file, number, function, name))
    return found


def report(found):
    return "\n".join(f"{file}:{line}: '{name}' of {function}" for file, line, function, name in found)


class NamesOfEntries(unittest.TestCase):
    def test_are_compared_in_their_own_files_alone(self):
        found = comparisons(SOURCE)
        self.assertLessEqual(len(found), MOST_COMPARISONS, "\n" + report(found))

    def test_all_catalogues_have_an_option(self):
        self.assertEqual(set(catalogues_of(SOURCE)), set(SETTINGS))

    def test_allowed_names_are_there(self):
        for file, (names, _) in ALLOWED.items():
            for name in names:
                self.assertIn(f'"{name}"', (SOURCE / file).read_text())


class Facts(unittest.TestCase):
    def test_are_compared_as_words_of_one_table(self):
        """Run::says, not the text of a fact: vocabulary/facts.cpp has the table that writes and reads the words."""
        compared = re.compile(r"""\bfact\([^()]*\)\s*(?:[!=]=\s*"[a-z]|\.(?:starts_with|find|substr)\()""", re.I)
        for path in sorted((SOURCE / "lib").rglob("*.[ch]pp")):
            for line in path.read_text().splitlines(): self.assertNotRegex(COMMENT.sub("", line), compared, path)


class AFault(unittest.TestCase):
    def found_in(self, code, file="lib/report/model.cpp"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for room in ("train", "io", "apps"):
                (root / "lib" / room).mkdir(parents=True)
            (root / "lib/train/CMakeLists.txt").write_text(
                "ranklab_add_catalogue(ROOM train TYPE T HEADER h FUNCTION gradient_syncs FOLDER sync ENTRIES none\n  per_parameter)\n")
            (root / "lib/io/CMakeLists.txt").write_text(
                "ranklab_add_catalogue(ROOM io TYPE T HEADER h FUNCTION strategies FOLDER strategies ENTRIES mpi_send)\n")
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(code)
            return [name for *_, name in comparisons(root)]

    def test_is_found(self):
        self.assertEqual(self.found_in('return run.setting("sync") == "per-parameter";\n'), ["per-parameter"])
        self.assertEqual(self.found_in('if (settings.sync != "none") return;\n'), ["none"])
        self.assertEqual(self.found_in('return name.starts_with("mpi-");\n'), ["mpi-"])
        self.assertEqual(self.found_in('constexpr std::array kAlone{"mpi-send"};\n'), ["mpi-send"])

    def test_is_no_other_word(self):
        self.assertEqual(self.found_in('if (output == "none") return;  // "mpi-send"\n'), [])
        self.assertEqual(self.found_in('help("such as mpi-send");\n'), [])

    def test_is_not_in_the_entrys_file(self):
        self.assertEqual(self.found_in('return {.name = "mpi-send"};\n', "lib/io/strategies/mpi_send.cpp"), [])


if __name__ == "__main__":
    if "--count" in sys.argv:
        left = comparisons(SOURCE)
        print(report(left))
        print(len(left))
    else:
        unittest.main()
