// The gradient buckets of a model, which a training step reduces: from the tables shipped with
// ranklab or from one that `ranklab train --dry-run --buckets FILE` wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/element.hpp"

namespace ranklab::experiments {

struct BucketRow {
    std::int64_t parameters = 0;  ///< tensors that share the bucket
    std::int64_t elements = 0;
    base::Element dtype = base::Element::f32;  ///< as it travels
    std::int64_t bytes = 0;
};

/// At least one row, in the order in which a step reduces them.
struct BucketTable {
    std::string model;
    std::vector<BucketRow> rows;
};

std::vector<std::string> shipped_models();

/// The table of a shipped model, or of a file where the name has a '/' or ends in .csv. OptionError
/// where there is no model of that name; DataError where the file is missing, not such a table, or
/// only a part of one.
BucketTable bucket_table(const std::string& name_or_file);

BucketTable parse_bucket_table(const std::string& text);

}  // namespace ranklab::experiments
