#include "nn/model.hpp"

namespace ranklab::nn {

std::int64_t parameter_count(const Model& model) {
    std::int64_t count = 0;
    for (const auto& parameter : model.parameters()) count += parameter.numel();
    return count;
}

}  // namespace ranklab::nn
