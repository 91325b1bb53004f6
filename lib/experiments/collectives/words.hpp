// How operations, element types and reductions are called on the command line and in tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comm/operation.hpp"

namespace ranklab::experiments {

/// sum, min, max; avg is a sum that is divided by the number of ranks.
struct Reduction {
    comm::ReduceOp op = comm::ReduceOp::sum;
    bool average = false;
};

using base::word_of;  // of an element type
std::string_view word_of(const Reduction& reduction);

/// The words of all of them, for --list and errors.
std::vector<std::string> operation_words();
std::vector<std::string> type_words();
std::vector<std::string> reduction_words();

/// What an operation does, for --list.
std::string_view summary_of(comm::Operation operation);

/// What an option (--op, --datatype, --redop) names, in the order of the tables above, each once; nccl-tests'
/// words for types, too. OptionError for an unknown word, which says what it is where another option takes
/// it.
std::vector<comm::Operation> chosen_operations(const std::string& words);
std::vector<comm::DType> chosen_types(const std::string& words);
std::vector<Reduction> chosen_reductions(const std::string& words);

}  // namespace ranklab::experiments
