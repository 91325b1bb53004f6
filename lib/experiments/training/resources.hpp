// What a training run takes of its machine, before it takes it.
#pragma once

#include "experiments/shared/experiment.hpp"
#include "experiments/training/options.hpp"

namespace ranklab::experiments {

int compute_threads(const TrainingOptions& options);

/// "made for 288 ranks" with what a smaller job needs; "" without --made-for-ranks.
std::string made_for_note(const TrainingOptions& options, int world_size);

/// How buckets are moved: as the user says it, or else by where the ranks are and whether a core is left
/// beside those that compute; the same on all ranks. Collective.
OverlapWay settle_overlap_way(TrainingOptions& options, comm::Communicator& control);

/// OptionError or EnvironmentError where ranks or memory will not do. Collective.
void check_resources(const TrainingOptions& options, const RunContext& around);

}  // namespace ranklab::experiments
