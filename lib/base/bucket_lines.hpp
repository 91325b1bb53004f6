// The lines that make a CSV a table of gradient buckets: for the room that writes it and the one that reads
// it.
#pragma once

#include <string_view>

namespace ranklab::base {

inline constexpr std::string_view kBucketTitle =
    "# ranklab: the gradient buckets that a training step reduces, in their order";
inline constexpr std::string_view kBucketHeader = "bucket,parameters,elements,dtype,bytes";

}  // namespace ranklab::base
