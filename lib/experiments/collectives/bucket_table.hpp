// The gradient buckets that a training step of a model reduces: a table shipped with ranklab, or
// one written by `ranklab train --dry-run --buckets FILE`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/element.hpp"

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

}  // namespace ranklab::experiments
