// What an exception means to whoever started the program: a sentence and an exit code. Libraries throw their
// own kinds; the ones that mean "no memory" or "no thread" are the surroundings' fault, not the program's.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ranklab::base {

struct Failure {
    std::string sentence;
    ExitCode code = ExitCode::internal;
    Settings settings = {};  ///< that mend it
};

/// What whoever started this program can do, in clauses ("use a smaller --batch-size"); the process's own, as
/// the log's rank is.
struct Remedies {
    std::vector<std::string> memory;
    std::vector<std::string> threads;
};
/// Once, when the program's options are known.
void set_remedies(Remedies remedies);
/// Once, when it is known how many ranks share this node: above 1 fewer of them are a remedy too.
void set_ranks_on_node(int ranks);

Failure describe_failure(const std::exception& error);

}  // namespace ranklab::base
