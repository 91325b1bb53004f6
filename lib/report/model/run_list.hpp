// What a list of runs says of each: enough to find the one that is meant.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/result_file.hpp"

namespace ranklab::report::model {

struct ListedRun : results::RunHeader {
    ListedRun(const results::RunHeader& header) : RunHeader(header) {}  // NOLINT(google-explicit-constructor)

    std::string what;       ///< "train mnist-cnn ddp on 2 x 1": model or strategy, mode, ranks x threads
    std::string cut_short;  ///< Run::cut_short
    std::string rate;  ///< its command's first rate, "494.2 samples/s"; "" where it has none or is invalid
};

/// Of a run read with its measurements.
ListedRun listed(const results::Run& run);

/// Reads the last `most` of them; of the others, and of a run that cannot be read, the header alone is told.
std::vector<ListedRun> list_runs(const results::ResultFile& file,
                                 const std::vector<results::RunHeader>& headers, std::size_t most);

}  // namespace ranklab::report::model
