// What a run's own settings and tables say against its numbers, whatever experiment made it.
#pragma once

#include "results/run.hpp"

namespace ranklab::experiments {

/// A warning: a batch that the data set cannot fill.
void add_doubts(results::Run& run);

}  // namespace ranklab::experiments
