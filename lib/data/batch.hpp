// One batch, gathered from memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace ranklab::data {

/// images: count x shape.bytes(), as stored; labels: count. The buffers are reused from batch to batch.
struct Batch {
    std::vector<std::uint8_t> images;
    std::vector<std::int64_t> labels;
    std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Copies the named samples, one memcpy each: nothing is decoded per sample.
void gather_batch(const ImageSet& set, std::span<const std::int64_t> indices, Batch& batch);

/// The contiguous part [begin, end) of `samples` that this rank evaluates: parts differ by at most one, and
/// together they cover each sample exactly once.
struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};
Part part_of(std::int64_t samples, std::int64_t rank, std::int64_t world_size);

}  // namespace ranklab::data
