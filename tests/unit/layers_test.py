"""The rooms of lib/ keep to their order and to themselves.

`violations(root)` looks at sources and CMake lists; the tests run it on this checkout, and on small trees with one
fault each, so that a rule that has stopped working is seen too. A last test asks ldd what the programs load.
"""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("RANKLAB_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BIN = pathlib.Path(os.environ.get("RANKLAB_BIN", SOURCE / "build" / "release" / "bin"))

# Patterns of headers, and the only rooms that may include them.
EXCLUSIVE = [
    (("mpi.h", "mpi-ext.h", "nccl.h"), {"comm"}),
    (("hdf5.h", "H5*.h", "hdf5_hl.h"), {"hdf5"}),
    (("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h"), {"device"}),
    (("boost/algorithm/*", "boost/locale/*"), {"base"}),
    (("boost/program_options*", "boost/math/*", "boost/crc*"), {"options", "results", "stats"}),
    (("torch/*", "c10/*", "ATen/*"), {"nn", "train", "experiments/training"}),
]
MAY_PRINT = {"app"}
PRINTING = [
    (re.compile(r"\bstd::cout\b"), "std::cout"),
    (re.compile(r"(?<![\w])(?:std::)?printf\s*\("), "printf"),
    (re.compile(r"(?<![\w])(?:std::)?(?:puts|putchar)\s*\("), "puts"),
    (re.compile(r"(?:\bfmt|\bstd)::print(?:ln)?\s*\((?!\s*stderr\b)"), "fmt::print without stderr"),
    (re.compile(r"\bstdout\b"), "stdout"),
]
LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
# Ours, that is: advice may name those of launchers.
NAMED_OPTION = re.compile(r"--(?!cpus-per-task|map-by|bind-to|bind packed|cpu-bind|depth |cores-per-task|cpu_per_rs|mpi=|ntasks=|gpus-per-task|gpu-bind|cpu-freq|cpu-list|exclusive|export=)[a-z{]")
# An option is a member of a program's struct: outside options/ nobody asks for it by its name.
OPTION_LOOKUP = re.compile(r'\b(?:options|given|asked|parsed|effective|settled)_?(?:\(\))?(?:\.|->)(?:texts?|integer|real|bytes|flag|is|has|is_set|find|value)(?:_or)?\(\s*"'
                           r'|\b(?:schema|rows)_?(?:\(\))?(?:\.|->)(?:find|at)\(\s*"'
                           r'|\bfind(?:_in)?\(\s*\w*(?:settings|options)\w*,\s*"')
# The few interfaces that everything hangs on stay small enough to read.
SMALL_HEADERS = {"communicator.hpp", "gradient_sync.hpp", "trainer.hpp"}
MOST_LINES = 90

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
NAMESPACE = re.compile(r"(?:inline )?namespace(?: ([\w:]+))? \{$")
TYPE = re.compile(r"(?:struct|class|union|enum class|enum) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: :[^;]*)?(?: \{.*)?$")
ROOM_CALL = re.compile(r"ranklab_add_room\s*\(\s*(\w+)([^)]*)\)")
KEYWORDS = {"SOURCES", "ALONE", "DEPENDS", "LINK", "TORCH", "SEPARATE"}


def levels_of(root):
    """{room: level}, the lowest 0."""
    text = (root / "lib" / "layers.txt").read_text()
    lines = [line.split("#")[0].split() for line in text.splitlines()]
    return {room: level for level, rooms in enumerate(filter(None, lines)) for room in rooms}


def room_of(path, levels):
    """The room of a path below lib/: A/B where that is one, otherwise A."""
    parts = pathlib.PurePath(path).parts
    return "/".join(parts[:2]) if "/".join(parts[:2]) in levels else parts[0]


def sources_of(root):
    """(room, file); the mains in apps/ stand above all rooms."""
    levels = levels_of(root)
    for top in ("lib", "apps"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix in (".hpp", ".cpp", ".h", ".in", ".cu"):
                yield ("apps" if top == "apps" else room_of(file.relative_to(root / "lib"), levels)), file


def may_use(room, other, levels):
    return room == other or room == "apps" or levels.get(other, 99) < levels.get(room, -1)


def include_faults(room, text, levels):
    for form, header in INCLUDE.findall(COMMENT.sub("", text)):
        for patterns, rooms in EXCLUSIVE:
            if any(fnmatch.fnmatchcase(header, pattern) for pattern in patterns) and room not in rooms:
                yield f"includes {header}, which belongs to {', '.join(sorted(rooms))} alone"
        other = room_of(header, levels)
        if other in levels and "/" in header:
            if not may_use(room, other, levels):
                yield f"includes {header}, but {other} is not below {room} in layers.txt"
        elif form == '"':
            yield f'includes "{header}", which does not begin with a room'


def printing_faults(room, text):
    if room in MAY_PRINT:
        return
    code = COMMENT_OR_STRING.sub('""', text)
    for pattern, name in PRINTING:
        if pattern.search(code):
            yield f"prints ({name}); only app does"


def header_faults(file, text):
    if file.suffix != ".hpp":
        return
    if not text.lstrip().startswith(("//", "/*")):
        yield "has no comment at the top that says what it is for"
    if file.name in SMALL_HEADERS and text.count("\n") > MOST_LINES:
        yield f"has {text.count(chr(10))} lines; this interface stays within {MOST_LINES}"


def options_named(text):
    """String literals that name an option: rooms that know no command line say what is wrong, and not how it is typed."""
    return [literal for literal in LITERAL.findall(COMMENT.sub("", text)) if NAMED_OPTION.search(literal)]


def naming_faults(root):
    """None in a room below the experiments; campaign and report write what a user types next, and so do the remedies of findings."""
    levels = levels_of(root)
    for room, file in sources_of(root):
        below = levels.get(room, 99) < levels.get("experiments/shared", -1)
        if below and room not in ("options", "campaign", "vocabulary") and not room.startswith("report") and file.name != "findings.cpp":
            for text in options_named(file.read_text()):
                yield file, f"names an option in \"{text}\": say the fact, let the experiment or app add the option"


def option_faults(root):
    for room, file in sources_of(root):
        if room != "options":
            for use in OPTION_LOOKUP.findall(COMMENT.sub("", file.read_text())):
                yield file, f"looks an option up by its name, {use}: read the member of the program's struct"


def definitions(text):
    """(namespace, name) of the types that other files can see; clang-format has put each at a line's beginning."""
    spaces = []
    for line in text.splitlines():
        if space := NAMESPACE.match(line):
            spaces.append(space.group(1) or "")
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif (named := TYPE.match(line)) and "" not in spaces:
            yield "::".join(spaces), named.group(1)


def definition_faults(root):
    """Two types must not share a name: the linker takes the functions of either for both."""
    seen = {}
    for _, file in sources_of(root):
        for one in definitions(file.read_text()):
            first = seen.setdefault(one, file)
            if first is not file:
                yield file, f"{'::'.join(one)} is defined in {first.relative_to(root)}, too"


def keyword_values(words, keyword):
    """The values that follow a keyword of a CMake call."""
    values = []
    taking = False
    for word in words:
        if word in KEYWORDS:
            taking = word == keyword
        elif taking:
            values.append(word)
    return values


def cmake_faults(root, levels):
    """A room's DEPENDS and LINK obey the order too: what is linked can be included."""
    calls = []
    for file in sorted((root / "lib").rglob("CMakeLists.txt")):
        folder = room_of(file.relative_to(root / "lib"), levels)
        text = re.sub(r"#[^\n]*", "", file.read_text())
        calls += [(file, folder, target, body.split()) for target, body in ROOM_CALL.findall(text)]
    folder_of = {target: folder for _, folder, target, _ in calls}
    for file, folder, target, words in calls:
        linked = [word.removeprefix("ranklab::") for word in keyword_values(words, "LINK") if word.startswith("ranklab::")]
        linked = [name for name in linked if name in folder_of or name in levels]
        for other in keyword_values(words, "DEPENDS") + linked:
            if not may_use(folder, folder_of.get(other, other), levels) or other == target:
                yield file, f"{target} depends on {other}, which is not below {folder} in layers.txt"
        if "TORCH" in words and folder not in EXCLUSIVE[-1][1]:
            yield file, f"{target} asks for TORCH, which belongs to {', '.join(sorted(EXCLUSIVE[-1][1]))} alone"


def homeless(root, levels):
    """Folders that are cut into rooms, and have files that are in none of these."""
    whole = {room.split("/")[0] for room in levels} - set(levels)
    return sorted(whole & {room for room, _ in sources_of(root)})


def naming_faults_of(root):
    return [f"{file.relative_to(root / 'lib')} {fault}" for file, fault in naming_faults(root)]


def violations(root):
    levels = levels_of(root)
    found = []
    for folder in sorted(path.name for path in (root / "lib").iterdir() if path.is_dir()):
        if folder != "cmake" and folder not in {room.split("/")[0] for room in levels}:
            found.append(f"lib/{folder} is not in layers.txt")
    found += [f"lib/{room} has files, but only its parts are in layers.txt" for room in homeless(root, levels)]
    for room, file in sources_of(root):
        text = file.read_text()
        faults = [*include_faults(room, text, levels), *printing_faults(room, text), *header_faults(file, text)]
        found += [f"{file.relative_to(root)} {fault}" for fault in faults]
    for file, fault in (*cmake_faults(root, levels), *definition_faults(root), *naming_faults(root), *option_faults(root)):
        found.append(f"{file.relative_to(root)}: {fault}")
    return found


class ThisCheckout(unittest.TestCase):
    maxDiff = None

    def test_has_no_violation(self):
        self.assertEqual(violations(SOURCE), [])

    def test_the_checker_sees_all_of_it(self):
        rooms = {room for room, _ in sources_of(SOURCE)}
        self.assertTrue({"base", "comm", "train", "app", "apps"} <= rooms, rooms)
        self.assertGreater(sum(1 for _ in sources_of(SOURCE)), 100)
        types = {one for _, file in sources_of(SOURCE) for one in definitions(file.read_text())}
        self.assertGreater(len(types), 300)
        self.assertIn(("ranklab::report::model", "Groups"), types)
        names = {file.name for _, file in sources_of(SOURCE)}
        self.assertLessEqual(SMALL_HEADERS, names, "an interface header was renamed: name it here too")


class TheChecker(unittest.TestCase):
    """On a small tree: base < comm hdf5 < train < app."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="ranklab-layers-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.write("lib/layers.txt", "# a comment\nbase\ncomm hdf5 options device\n\ntrain\napp report\n")
        self.write("lib/cmake/Rooms.cmake", "")
        self.write("lib/base/text.hpp", "// Text.\n#pragma once\n#include <string>\n")
        self.write("lib/comm/communicator.hpp", '// Ranks.\n#pragma once\n#include "base/text.hpp"\n')
        self.write("lib/comm/mpi.cpp", '#include <mpi.h>\n#include "comm/communicator.hpp"\n')
        self.write("lib/train/trainer.cpp", '#include <torch/torch.h>\n#include "comm/communicator.hpp"\n')
        self.write("lib/train/CMakeLists.txt", "ranklab_add_room(train SOURCES trainer.cpp DEPENDS base comm TORCH)\n")
        self.write("lib/app/run.cpp", '#include <iostream>\n#include "train/trainer.hpp"\nvoid f() { std::cout << 1; }\n')
        self.write("apps/train.cpp", '#include "app/run.hpp"\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect(self, *parts):
        found = violations(self.root)
        self.assertEqual(len(found), 1, found)
        for part in parts:
            self.assertIn(part, found[0])

    def test_a_good_tree(self):
        self.assertEqual(violations(self.root), [])

    def test_two_types_of_one_name(self):
        space = "// A.\nnamespace ranklab::comm {{\n{}}}  // namespace ranklab::comm\n"
        hidden = "namespace {\nstruct Group {};\n}  // namespace\n"
        self.write("lib/comm/one.hpp", space.format("struct Other;\nstruct Group {\n    int a;\n};\n"))
        self.write("lib/comm/two.hpp", space.format("class Other : Group {};\nclass Group;\n" + hidden))
        self.write("lib/hdf5/group.hpp", space.replace("comm", "hdf5").format("class Group final : public Object {};\n"))
        self.assertEqual(violations(self.root), [])
        self.write("lib/comm/two.hpp", space.format("struct Group {\n    double b;\n};\n"))
        self.expect("lib/comm/two.hpp", "ranklab::comm::Group is defined in lib/comm/one.hpp, too")

    def test_a_room_above(self):
        self.write("lib/base/bad.cpp", '#include "comm/communicator.hpp"\n')
        self.expect("lib/base/bad.cpp", "comm is not below base")

    def test_a_room_above_in_angle_brackets(self):
        self.write("lib/base/bad.cpp", "  #  include <train/trainer.hpp>\n")
        self.expect("train is not below base")

    def test_rooms_of_a_room(self):
        self.write("lib/layers.txt", "base\nhouse/low\nhouse/left house/right\ntrain\ncomm app report\n")
        self.write("lib/comm/mpi.cpp", "")
        self.write("lib/train/trainer.cpp", '#include "house/left/a.hpp"\n#include "house/low/b.hpp"\n')
        self.write("lib/train/CMakeLists.txt", "")
        self.write("lib/house/right/x.cpp", '#include "base/text.hpp"\n#include "house/low/b.hpp"\n')
        self.write("lib/house/low/CMakeLists.txt", "ranklab_add_room(house_low SOURCES b.cpp DEPENDS base)\n")
        self.write("lib/house/left/CMakeLists.txt", "ranklab_add_room(house_left SOURCES a.cpp DEPENDS house_low)\n")
        self.assertEqual(violations(self.root), [])
        self.write("lib/house/low/CMakeLists.txt", "ranklab_add_room(house_low SOURCES b.cpp DEPENDS house_left)\n")
        self.expect("lib/house/low/CMakeLists.txt", "house_low depends on house_left")
        self.write("lib/house/low/CMakeLists.txt", "ranklab_add_room(house_low SOURCES b.cpp DEPENDS base)\n")
        self.write("lib/house/right/x.cpp", '#include "house/left/a.hpp"\n')
        self.expect("lib/house/right/x.cpp", "house/left is not below house/right")
        self.write("lib/house/right/x.cpp", "")
        self.write("lib/house/y.cpp", "")
        self.expect("lib/house has files")

    def test_a_room_on_the_same_line(self):
        self.write("lib/comm/bad.cpp", '#include "hdf5/file.hpp"\n')
        self.expect("hdf5 is not below comm")

    def test_a_header_without_its_room(self):
        self.write("lib/comm/bad.cpp", '#include "communicator.hpp"\n')
        self.expect("does not begin with a room")

    def test_a_way_around_by_dots(self):
        self.write("lib/base/bad.cpp", '#include "../train/trainer.hpp"\n')
        self.expect("does not begin with a room")

    def test_an_include_in_a_comment_is_none(self):
        self.write("lib/base/good.cpp", '// #include "train/trainer.hpp"\n/*\n#include <mpi.h>\n*/\n')
        self.assertEqual(violations(self.root), [])

    def test_headers_that_belong_to_another_room(self):
        for header in ("mpi.h", "nccl.h", "hdf5.h", "H5Dpublic.h", "cuda_runtime.h", "boost/program_options.hpp", "torch/torch.h",
                       "c10/util/Half.h", "ATen/Parallel.h"):
            with self.subTest(header=header):
                self.write("lib/base/bad.cpp", f"#include <{header}>\n")
                self.expect("lib/base/bad.cpp", f"includes {header}, which belongs to")

    def test_no_exclusive_header_in_a_main(self):
        self.write("apps/bad.cpp", "#include <mpi.h>\n")
        self.expect("apps/bad.cpp", "mpi.h")

    def test_printing(self):
        for statement in ("std::cout << 1;", 'std::printf("x");', 'printf ("x");', 'puts("x");', 'fmt::print("x");', "fmt::println(x);",
                          'std::fprintf(stdout, "x");', "std::fflush(stdout);"):
            with self.subTest(statement=statement):
                self.write("lib/train/bad.cpp", f"void f() {{ {statement} }}\n")
                found = violations(self.root)
                self.assertTrue(found and all("lib/train/bad.cpp prints" in line for line in found), found)

    def test_what_is_no_printing(self):
        self.write("lib/train/good.cpp", 'void f() { fmt::print(stderr, "x"); snprintf(b, 1, "std::cout"); std::fprintf(stderr, "x"); }  // printf(1)\n')
        self.assertEqual(violations(self.root), [])

    def test_a_room_that_is_not_in_the_list(self):
        self.write("lib/attic/x.cpp", "")
        self.expect("lib/attic is not in layers.txt")

    def test_a_header_without_a_comment(self):
        self.write("lib/base/bad.hpp", "#pragma once\n// too late\n")
        self.expect("lib/base/bad.hpp", "no comment at the top")

    def test_an_interface_that_grows(self):
        self.write("lib/comm/communicator.hpp", "// Ranks.\n" + "int x;\n" * MOST_LINES)
        self.expect("communicator.hpp", "91 lines")

    def test_a_room_that_names_an_option(self):
        self.write("lib/layers.txt", "base\ncomm options\ntrain\nexperiments/shared\nexperiments/training\napp report\n")
        for file in ("lib/options/good.cpp", "lib/experiments/training/good.cpp", "lib/app/good.cpp", "apps/good.cpp"):
            self.write(file, 'auto a = "use --jit";\n')
        self.write("lib/train/good.cpp", '// --jit\nauto a = "jit", *b = "a -- b", *c = "----";\n')
        self.assertEqual(naming_faults_of(self.root), [])
        self.write("lib/train/bad.cpp", 'auto a = "leave --jit out";\n')
        (fault,) = naming_faults_of(self.root)
        self.assertIn('train/bad.cpp names an option in "leave --jit out"', fault)

    def test_an_option_that_is_looked_up_by_its_name(self):
        good = 'rows.section("A").integer("steps", 1).choice(\n  "sync", {}); given.fields<Settings>(); schema.take(rows, {"seed"}); // given.text("x")\n'
        self.write("lib/app/good.cpp", good)
        self.write("lib/options/good.cpp", 'schema_.find("steps");\n')
        self.assertEqual(violations(self.root), [])
        for use in ('given.text("steps");', 'options_->is_set("steps");', 'schema.find("steps");', 'find(settings, "steps");', 'around.options.flag(\n"jit");'):
            with self.subTest(use=use):
                self.write("lib/train/bad.cpp", use)
                self.expect("lib/train/bad.cpp: looks an option up by its name")

    def test_a_dependency_on_a_room_above(self):
        self.write("lib/comm/CMakeLists.txt", "ranklab_add_room(comm SOURCES mpi.cpp\n  DEPENDS base train LINK ranklab::mpi_c)\n")
        self.expect("lib/comm/CMakeLists.txt", "comm depends on train")

    def test_a_dependency_on_a_neighbour_and_by_link(self):
        self.write("lib/comm/CMakeLists.txt", "ranklab_add_room(comm SOURCES mpi.cpp DEPENDS base LINK ranklab::hdf5)\n")
        self.expect("comm depends on hdf5")

    def test_a_target_of_another_name_counts_as_its_folder(self):
        self.write("lib/train/CMakeLists.txt", "ranklab_add_room(deep SOURCES a.cpp DEPENDS base)\n")
        self.write("lib/comm/CMakeLists.txt", "ranklab_add_room(comm SOURCES mpi.cpp DEPENDS deep)\n")
        self.expect("comm depends on deep")

    def test_torch_below_its_rooms(self):
        self.write("lib/comm/CMakeLists.txt", "ranklab_add_room(comm SOURCES mpi.cpp DEPENDS base TORCH)\n")
        self.expect("asks for TORCH")


@unittest.skipIf(shutil.which("ldd") is None, "there is no ldd")
class WhatTheProgramsLoad(unittest.TestCase):
    def libraries(self, program, names):
        if not (BIN / program).exists():
            self.skipTest(f"{BIN / program} is not built")
        done = subprocess.run(["ldd", str(BIN / program)], capture_output=True, text=True, check=True)
        self.assertIn("libc.so", done.stdout, "ldd saw a dynamic program")
        return [line.split()[0] for line in done.stdout.splitlines() if re.match(rf"\s*lib({names})", line)]

    def torch_libraries(self, program):
        return self.libraries(program, "torch|c10")

    def test_none_links_nccl(self):
        for program in ("ranklab-comm", "ranklab-data", "ranklab-doctor", "ranklab-report", "ranklab-train"):  # ADR 0005
            with self.subTest(program=program):
                self.assertEqual(self.libraries(program, "nccl"), [])

    def test_only_training_loads_libtorch(self):
        for program in ("ranklab", "ranklab-sweep", "ranklab-campaign", "ranklab-comm", "ranklab-data", "ranklab-report", "ranklab-compare", "ranklab-doctor"):
            with self.subTest(program=program):
                self.assertEqual(self.torch_libraries(program), [])

    def test_what_runs_on_a_login_node_loads_no_mpi(self):
        for program in ("ranklab", "ranklab-sweep", "ranklab-campaign", "ranklab-compare", "ranklab-report", "ranklab-results"):
            with self.subTest(program=program):
                self.assertEqual(self.libraries(program, "mpi|open-"), [])

    def test_the_worker_of_io_loads_little(self):  # it is started by the dozen, and must be there in milliseconds
        self.assertEqual(self.libraries("ranklab-io-worker", "mpi|open-|hdf5|torch|c10|boost|cuda|nccl"), [])

    def test_programs_of_the_login_node_load_neither_mpi_nor_a_gpu(self):  # ADR 0016
        if os.environ.get("RANKLAB_HAS_HDF5_WITHOUT_MPI", "") != "TRUE":
            self.skipTest("built without a serial HDF5 of the parallel one's version")
        for program in ("ranklab", "ranklab-report", "ranklab-compare", "ranklab-results"):
            with self.subTest(program=program):
                self.assertEqual(self.libraries(program, "mpi|open-|hdf5_(?!serial)|cud"), [])
        self.assertNotEqual(self.libraries("ranklab-io", "mpi"), [])

    def test_training_does(self):
        if os.environ.get("RANKLAB_HAS_TORCH", "") in ("", "OFF", "0", "FALSE"):
            self.skipTest("built without LibTorch")
        self.assertIn("libtorch_cpu.so", self.torch_libraries("ranklab-train"))


if __name__ == "__main__":
    unittest.main()
