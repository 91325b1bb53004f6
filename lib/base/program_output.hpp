// What another program prints.
#pragma once

#include <string>

namespace ranklab::base {

struct ProgramOutput {
    bool started = false;
    int code = -1;     ///< its exit code; -1 where a signal ended it, or it was not started
    std::string text;  ///< on stdout
};

/// Runs a line of the shell to its end.
ProgramOutput output_of(const std::string& line);

}  // namespace ranklab::base
