#include "data/part.hpp"

namespace ranklab::data {

Part part_of(std::int64_t samples, std::int64_t rank, std::int64_t world_size) {
    return {samples * rank / world_size, samples * (rank + 1) / world_size};
}

}  // namespace ranklab::data
