// What a run's own settings and tables say against its numbers, whatever experiment made it.
#pragma once

#include "results/run.hpp"

namespace ranklab::experiments {

/// Warnings: a batch that the data set cannot fill, and a validation of a model that has not seen its data.
void add_doubts(results::Run& run);

}  // namespace ranklab::experiments
