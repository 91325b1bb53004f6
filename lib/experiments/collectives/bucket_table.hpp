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
    base::Element dtype = base::Element::f32;  ///< in transfers
    std::int64_t bytes = 0;
};

/// At least one row, in the order in which a step reduces them.
struct BucketTable {
    std::string model;
    std::vector<BucketRow> rows;
};

std::vector<std::string> shipped_models();

/// The table of a shipped model, or, if the name has a '/' or ends in .csv, of a file. Throws
/// OptionError for an unknown model, DataError for a file that is missing, truncated or no such
/// table.
BucketTable bucket_table(const std::string& name_or_file);

BucketTable parse_bucket_table(const std::string& text);

}  // namespace ranklab::experiments
