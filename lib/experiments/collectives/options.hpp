// The settled options of `ranklab comm`, and the gradient buckets that a training step of a model
// reduces: a table shipped with ranklab, or one written by `ranklab train --dry-run --buckets
// FILE`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/element.hpp"
#include "experiments/collectives/calls.hpp"
#include "experiments/collectives/message.hpp"
#include "options/options.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

struct BucketRow {
    std::int64_t parameters = 0;  ///< tensors in the bucket
    std::int64_t elements = 0;
    base::Element dtype = base::Element::f32;  ///< element type of transfers
    std::int64_t bytes = 0;
};

/// Has at least one row. The rows have the order in which a step reduces the buckets.
struct BucketTable {
    std::string model;
    std::vector<BucketRow> rows;
};

std::vector<std::string> shipped_models();

/// Returns the table of a shipped model, or of a file if the name has a '/' or ends in .csv. Throws
/// OptionError for an unknown model, DataError if the file is missing, truncated or no such table.
BucketTable bucket_table(const std::string& name_or_file);

BucketTable parse_bucket_table(const std::string& text);

struct CollectivesOptions {
    vocabulary::CollectivesSettings settings;
    vocabulary::CommonSettings common;

    comm::BackendEntry backend;
    CallSync between = CallSync::barrier;
    RankReduction over_ranks = RankReduction::longest;
    int warmup = 5, calls = 50;
    Fault fault;
    BufferPlan buffers;
    std::uint64_t buffer_bytes = 0;    ///< of the largest message, or of all buckets
    std::vector<std::uint64_t> sizes;  ///< bytes, before rounding to whole elements
    std::optional<BucketTable> model;  ///< --from-model
    std::vector<int> pair_members;     ///< ranks to be paired by --op pairs; empty: another --op
};

/// Settles the options that depend neither on backend nor hosts. Throws OptionError if two
/// conflict.
CollectivesOptions settle_collectives(const options::Options& given,
                                      const vocabulary::CommonSettings& common, int world_size);

/// Settles backend, buffer memory and, for --op pairs, ranks and rounds. Throws OptionError or
/// EnvironmentError on all ranks if backend or memory cannot be used. Collective.
void settle_backend(CollectivesOptions& settled, comm::Communicator& control);

/// Returns the messages of all forms and sizes. Throws OptionError if there are none.
std::vector<Message> planned_messages(const CollectivesOptions& options, int ranks);

}  // namespace ranklab::experiments
