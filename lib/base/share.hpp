// How things in a row are shared out to ranks: contiguous parts whose lengths differ by one at most.
#pragma once

#include <cstdint>

namespace ranklab::base {

struct Share {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::int64_t end() const { return first + count; }
};

/// The part of rank `rank`; the first `total % ranks` parts are one longer. Empty where there are more ranks.
inline Share share_of(std::int64_t total, int rank, int ranks) {
    const std::int64_t each = total / ranks;
    const std::int64_t longer = total % ranks;
    const std::int64_t r = rank;
    return {r * each + (r < longer ? r : longer), each + (r < longer ? 1 : 0)};
}

}  // namespace ranklab::base
