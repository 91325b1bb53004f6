#include "data/batch.hpp"

#include <cstring>

namespace ranklab::data {

void gather_batch(const ImageSet& set, std::span<const std::int64_t> indices, Batch& batch) {
    const auto bytes = static_cast<std::size_t>(set.shape.bytes());
    batch.images.resize(indices.size() * bytes);
    batch.labels.resize(indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const auto sample = static_cast<std::size_t>(indices[i]);
        std::memcpy(&batch.images[i * bytes], &set.images[sample * bytes], bytes);
        batch.labels[i] = set.labels[sample];
    }
}

Part part_of(std::int64_t samples, std::int64_t rank, std::int64_t world_size) {
    return {samples * rank / world_size, samples * (rank + 1) / world_size};
}

}  // namespace ranklab::data
