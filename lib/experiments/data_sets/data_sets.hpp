// `ranklab data`: makes, verifies and converts data sets, on one or many ranks.
#pragma once

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

Tool data_sets_tool();

}  // namespace ranklab::experiments
