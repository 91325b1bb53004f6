// The divisor of a model's inner channels, for small models of the same depth.
#pragma once

#include <cstdint>
#include <string>

namespace ranklab::nn {

/// OptionError unless `width` divides `channels`, the fewest inner channels of `model` (the others are
/// multiples of them).
void require_width(std::int64_t width, std::int64_t channels, const std::string& model);

}  // namespace ranklab::nn
