// What an exception means to whoever started the program: a sentence and an exit code. Libraries throw their
// own kinds; the ones that mean "no memory" or "no thread" are the surroundings' fault, not the program's.
#pragma once

#include <exception>
#include <string>

#include "base/error.hpp"

namespace ranklab::base {

struct Failure {
    std::string sentence;
    ExitCode code = ExitCode::internal;
    Settings settings = {};  ///< that mend it
};

Failure describe_failure(const std::exception& error);

}  // namespace ranklab::base
