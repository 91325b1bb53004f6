// The options of `ranklab comm`, and what they come to.
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

/// The settled options of a run, and what follows from several of them or is of another type.
struct CollectivesOptions {
    vocabulary::CollectivesSettings settings;
    vocabulary::CommonSettings common;

    Policy policy;
    BufferPlan buffers;
    MemoryNeed memory;                       ///< of the largest messages
    std::vector<std::uint64_t> sizes;        ///< bytes, as asked for
    std::optional<BucketTable> model;        ///< --from-model
    std::optional<MpiProgress> nonblocking;  ///< --nonblocking, with this --mpi-progress
    Fault fault;
};

/// Settles all options that need neither backend nor hosts. OptionError where two options conflict.
CollectivesOptions settle_collectives(const options::Options& given,
                                      const vocabulary::CommonSettings& common, int world_size);

/// Settles the backend and the memory of the buffers. Collective. OptionError or EnvironmentError
/// on all ranks where the chosen ones cannot be used.
comm::BackendEntry settle_backend(CollectivesOptions& settled, comm::Communicator& control);

/// Plans the messages of all forms, and finds the most memory that a rank needs for one.
/// OptionError where there is nothing to time.
std::vector<Message> planned_messages(const CollectivesOptions& options,
                                      const comm::BackendEntry& backend, int ranks);

/// Collective. OptionError on all ranks where the ranks of a host need more memory than it has
/// left, with the arithmetic. `each`: bytes that this rank needs.
void check_memory(std::uint64_t each, comm::Communicator& control);

}  // namespace ranklab::experiments
