// How samples are shared among ranks that each take a contiguous part.
#pragma once

#include <cstdint>

namespace ranklab::data {

/// The contiguous part [begin, end) of `samples` that this rank evaluates: parts differ by at most one, and
/// together they cover each sample exactly once.
struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t size() const { return end - begin; }
};
Part part_of(std::int64_t samples, std::int64_t rank, std::int64_t world_size);

}  // namespace ranklab::data
