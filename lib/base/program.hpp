// Other programs: those beside this one, and what they print.
#pragma once

#include <filesystem>
#include <string>

namespace ranklab::base {

/// The program of that name in the folder of this one, where all of a build or installation lie, whether it
/// is there or not.
std::filesystem::path program_beside(const std::string& name);

struct ProgramOutput {
    int code = -1;     ///< its exit code; -1 where a signal ended it, or it was not started
    std::string text;  ///< on stdout
};

/// Runs a line of the shell to its end.
ProgramOutput output_of(const std::string& line);

}  // namespace ranklab::base
