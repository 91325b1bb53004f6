// What a list of runs says of each: enough to find the one that is meant.
#pragma once

#include <cstddef>
#include <vector>

#include "report/frame/frame.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// A row for each of the last `most` runs: its id, what ran ("train mnist-cnn ddp on 2 x 1": model or
/// strategy, mode, ranks x threads), its command's first rate, its label. Of a run that cannot be read the
/// header alone is told.
Frame list_runs(const results::ResultFile& file, const std::vector<results::RunHeader>& headers,
                std::size_t most);

}  // namespace ranklab::report::model
