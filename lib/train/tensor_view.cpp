#include "train/tensor_view.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace ranklab::train {
namespace {

comm::DType dtype_of(const torch::Tensor& tensor) {
    switch (tensor.scalar_type()) {
        case torch::kFloat:
            return comm::DType::f32;
        case torch::kDouble:
            return comm::DType::f64;
        case torch::kHalf:
            return comm::DType::f16;
        case torch::kBFloat16:
            return comm::DType::bf16;
        case torch::kLong:
            return comm::DType::i64;
        case torch::kInt:
            return comm::DType::i32;
        case torch::kByte:
            return comm::DType::u8;
        default:
            throw base::Error(fmt::format("a tensor of type {} cannot be communicated",
                                          c10::toString(tensor.scalar_type())));
    }
}

}  // namespace

comm::BufferView view_of(const torch::Tensor& tensor) {
    if (!tensor.is_contiguous()) throw base::Error("internal: a strided tensor was given to a collective");
    return {.data = tensor.data_ptr(),
            .count = static_cast<std::size_t>(tensor.numel()),
            .dtype = dtype_of(tensor),
            .memory = tensor.is_cuda() ? comm::Memory::device : comm::Memory::host};
}

torch::Tensor in_memory_order(const torch::Tensor& tensor) {
    if (!tensor.is_non_overlapping_and_dense())
        throw base::Error("internal: a tensor with gaps was taken for a dense one");
    return tensor.as_strided({tensor.numel()}, {1});
}

torch::Tensor viewed_as(const torch::Tensor& flat, const torch::Tensor& like) {
    if (!like.is_non_overlapping_and_dense())
        throw base::Error("internal: a tensor with gaps was taken for a dense one");
    return flat.as_strided(like.sizes(), like.strides());
}

torch::Tensor laid_out_as(const torch::Tensor& like, const torch::Tensor& tensor) {
    const bool same = tensor.strides() == like.strides() && tensor.device() == like.device();
    return same ? tensor : torch::empty_like(like, like.options().requires_grad(false)).copy_(tensor);
}

}  // namespace ranklab::train
