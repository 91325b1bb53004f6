// How buckets of gradients are moved.
#pragma once

#include "comm/communicator.hpp"
#include "experiments/training/options.hpp"
#include "options/options.hpp"

namespace ranklab::experiments {

/// As the user says it, or else by where the ranks are and whether a core is left beside `threads` that
/// compute; the same on all ranks. Collective.
OverlapWay settle_overlap_way(vocabulary::TrainingSettings& settings, comm::Communicator& control,
                              int threads);

}  // namespace ranklab::experiments
