#include "train/tensor_view.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.hpp"

namespace ranklab::train {
namespace {

constexpr std::array<std::pair<comm::DType, torch::Dtype>, 7> kTypes{{{comm::DType::f32, torch::kFloat},
                                                                      {comm::DType::f64, torch::kDouble},
                                                                      {comm::DType::f16, torch::kHalf},
                                                                      {comm::DType::bf16, torch::kBFloat16},
                                                                      {comm::DType::i64, torch::kLong},
                                                                      {comm::DType::i32, torch::kInt},
                                                                      {comm::DType::u8, torch::kByte}}};

}  // namespace

comm::DType element_of(torch::Dtype dtype) {
    for (const auto& [element, type] : kTypes)
        if (type == dtype) return element;
    throw base::Error(fmt::format("a tensor of type {} cannot be communicated", c10::toString(dtype)));
}

torch::Dtype dtype_of(comm::DType element) {
    for (const auto& [known, type] : kTypes)
        if (known == element) return type;
    throw base::Error("internal: an element type that tensors do not have");
}

comm::BufferView view_of(const torch::Tensor& tensor) {
    if (!tensor.is_contiguous()) throw base::Error("internal: a strided tensor was given to a collective");
    return {.data = tensor.data_ptr(),
            .count = static_cast<std::size_t>(tensor.numel()),
            .dtype = element_of(tensor.scalar_type()),
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
