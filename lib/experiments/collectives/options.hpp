// The settled options of `ranklab comm`.
#pragma once

#include <optional>
#include <vector>

#include "experiments/collectives/bucket_table.hpp"
#include "experiments/collectives/buffers.hpp"
#include "experiments/collectives/calls.hpp"
#include "experiments/collectives/message.hpp"
#include "options/options.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// The options of a run, and what follows from them.
struct CollectivesOptions {
    vocabulary::CollectivesSettings settings;
    vocabulary::CommonSettings common;

    comm::BackendEntry backend;
    CallSync between = CallSync::barrier;
    RankReduction over_ranks = RankReduction::longest;
    int warmup = 5, calls = 50;
    MpiProgress progress = MpiProgress::none;
    Fault fault;
    BufferPlan buffers;
    std::uint64_t buffer_bytes = 0;    ///< of the largest message, or of all buckets
    std::vector<std::uint64_t> sizes;  ///< bytes, before rounding to whole elements
    std::optional<BucketTable> model;  ///< --from-model
};

/// Settles the options that depend neither on backend nor hosts. Throws OptionError if two
/// conflict.
CollectivesOptions settle_collectives(const options::Options& given,
                                      const vocabulary::CommonSettings& common, int world_size);

/// Settles the backend and the memory of the buffers. Throws OptionError or EnvironmentError on all
/// ranks if backend or memory cannot be used. Collective.
void settle_backend(CollectivesOptions& settled, comm::Communicator& control);

/// Returns the messages of all forms and sizes. Throws OptionError if there are none.
std::vector<Message> planned_messages(const CollectivesOptions& options, int ranks);

}  // namespace ranklab::experiments
