"""The target odr (lib/cmake/RanklabOdr.cmake) finds two types of one name: GCC's link-time optimiser compares the types of all object files.

The test compiles small programs with a planted fault. Compiling all of ranklab so takes 10 minutes on two cores and is by hand
(`cmake --preset odr && cmake --build --preset odr`); the test `layers` compares the names of all types of lib and apps in the text.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["RANKLAB_SOURCE"])
COMPILER = os.environ["RANKLAB_CXX"]

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(planted LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 20)
set(RANKLAB_ODR ON)
include("{module}")
add_library(room STATIC room.cpp)
add_executable(program program.cpp)
ranklab_add_odr_target()
"""
ROOM = """#include <string>
namespace ranklab {
struct Group {
    std::string name;
    int runs = 0;
};
int in_room() { return static_cast<int>(Group{}.name.size()); }
}  // namespace ranklab
"""
PROGRAM = ROOM.replace("in_room", "in_program") + "int main() { return ranklab::in_program(); }\n"


def run(*words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def compared(folder, *configure):
    """Configures and builds the target odr; returns the exit code and the output."""
    code, said = run("cmake", "-G", "Ninja", "-B", folder, f"-DCMAKE_CXX_COMPILER={COMPILER}", *configure)
    if code != 0:
        return code, said
    return run("cmake", "--build", folder, "--target", "odr")


@unittest.skipUnless(os.environ["RANKLAB_CXX_ID"] == "GNU", "only GCC has -Wodr")
class OneDefinition(unittest.TestCase):
    def planted(self, room, program):
        scratch = tempfile.TemporaryDirectory(prefix="ranklab-odr-")
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        (folder / "CMakeLists.txt").write_text(PROJECT.format(module=SOURCE / "lib/cmake/RanklabOdr.cmake"))
        (folder / "room.cpp").write_text(room)
        (folder / "program.cpp").write_text(program)
        return compared(folder / "build", "-S", folder)

    def test_finds_two_types_of_one_name(self):
        code, said = self.planted(ROOM, PROGRAM.replace("int runs", "double runs"))
        self.assertNotEqual(code, 0, said)
        for part in ("violates the C++ One Definition Rule", "room.cpp", "program.cpp"):
            self.assertIn(part, said)

    def test_takes_the_same_type_twice_and_a_hidden_one(self):
        hidden = PROGRAM.replace("namespace ranklab {", "namespace {").replace("ranklab::in_", "in_").replace("int runs", "double runs")
        for program in (PROGRAM, hidden):
            code, said = self.planted(ROOM, program)
            self.assertEqual(code, 0, said)


if __name__ == "__main__":
    unittest.main()
