#include "train/input.hpp"

#include <ATen/Parallel.h>

namespace ranklab::train {
namespace {

template <class T>
void look_up(const torch::Tensor& table, const std::vector<std::uint8_t>& bytes, torch::Tensor& out) {
    const T* const values = table.const_data_ptr<T>();
    T* const to = out.mutable_data_ptr<T>();
    const std::uint8_t* const from = bytes.data();
    at::parallel_for(0, static_cast<std::int64_t>(bytes.size()), 1 << 15,
                     [=](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t i = begin; i < end; ++i) to[i] = values[from[i]];
                     });
}

}  // namespace

Normalizer::Normalizer(double mean, double std, torch::Dtype dtype) {
    table_ = torch::arange(256, torch::TensorOptions().dtype(dtype)).div_(255).sub_(mean).div_(std);
}

TensorBatch Normalizer::operator()(const data::Batch& batch, const data::ImageShape& shape) const {
    TensorBatch tensors;
    tensors.images =
        torch::empty({batch.count(), shape.channels, shape.height, shape.width}, table_.options());
    if (table_.scalar_type() == torch::kDouble) {
        look_up<double>(table_, batch.images, tensors.images);
    } else {
        look_up<float>(table_, batch.images, tensors.images);
    }
    tensors.targets = torch::empty({batch.count()}, torch::kLong);
    std::copy(batch.labels.begin(), batch.labels.end(), tensors.targets.mutable_data_ptr<std::int64_t>());
    return tensors;
}

}  // namespace ranklab::train
