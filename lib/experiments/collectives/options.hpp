// The settled options of `ranklab comm`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiments/collectives/bucket_table.hpp"
#include "experiments/collectives/buffers.hpp"
#include "experiments/collectives/calls.hpp"
#include "experiments/collectives/message.hpp"
#include "experiments/collectives/nonblocking.hpp"
#include "options/options.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// The options of a run, and what follows from them.
struct CollectivesOptions {
    vocabulary::CollectivesSettings settings;
    vocabulary::CommonSettings common;

    Policy policy;
    BufferPlan buffers;
    MemoryNeed memory;                       ///< of the largest messages
    std::vector<std::uint64_t> sizes;        ///< bytes, before rounding to whole elements
    std::optional<BucketTable> model;        ///< --from-model
    std::optional<MpiProgress> nonblocking;  ///< --mpi-progress with --nonblocking; otherwise none
    Fault fault;
};

/// Settles the options that depend neither on backend nor hosts. Throws OptionError if two
/// conflict.
CollectivesOptions settle_collectives(const options::Options& given,
                                      const vocabulary::CommonSettings& common, int world_size);

/// Settles the backend and the memory of the buffers. Throws OptionError or EnvironmentError on all
/// ranks if they cannot be used. Collective.
comm::BackendEntry settle_backend(CollectivesOptions& settled, comm::Communicator& control);

/// The messages of all forms and sizes. Throws OptionError if there are none.
std::vector<Message> planned_messages(const CollectivesOptions& options,
                                      const comm::BackendEntry& backend, int ranks);

/// Throws OptionError on all ranks if the ranks of a host need more memory than it has free.
/// `each`: bytes that this rank needs. Collective.
void check_memory(std::uint64_t each, comm::Communicator& control);

}  // namespace ranklab::experiments
