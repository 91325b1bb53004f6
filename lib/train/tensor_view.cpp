#include "train/tensor_view.hpp"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <array>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace ranklab::train {
namespace {

constexpr std::array<std::pair<comm::DType, torch::Dtype>, 8> kTypes{
    {{comm::DType::f32, torch::kFloat},
     {comm::DType::f64, torch::kDouble},
     {comm::DType::f16, torch::kHalf},
     {comm::DType::bf16, torch::kBFloat16},
     {comm::DType::i64, torch::kLong},
     {comm::DType::i32, torch::kInt},
     {comm::DType::u8, torch::kByte},
     {comm::DType::u8, torch::kBool}}};

}  // namespace

comm::DType element_of(torch::Dtype dtype) {
    for (const auto& [element, type] : kTypes)
        if (type == dtype) return element;
    throw base::OptionError(
        fmt::format("ranklab cannot send tensors of type {}", c10::toString(dtype)), {"model"});
}

torch::Dtype dtype_of(comm::DType element) {
    for (const auto& [known, type] : kTypes)
        if (known == element) return type;
    throw base::Error("internal: no tensor has this element type");
}

comm::BufferView view_of(const torch::Tensor& tensor) {
    if (!tensor.is_contiguous())
        throw base::Error("internal: a strided tensor was given to a collective");
    return {.data = tensor.data_ptr(),
            .count = static_cast<std::size_t>(tensor.numel()),
            .dtype = element_of(tensor.scalar_type()),
            .memory = tensor.is_cuda() ? comm::Memory::device : comm::Memory::host};
}

torch::Tensor in_memory_order(const torch::Tensor& tensor) {
    if (!tensor.is_non_overlapping_and_dense())
        throw base::Error("internal: this tensor is not dense");
    return tensor.as_strided({tensor.numel()}, {1});
}

torch::Tensor viewed_as(const torch::Tensor& flat, const torch::Tensor& like) {
    if (!like.is_non_overlapping_and_dense())
        throw base::Error("internal: this tensor is not dense");
    return flat.as_strided(like.sizes(), like.strides());
}

torch::Tensor laid_out_as(const torch::Tensor& like, const torch::Tensor& tensor) {
    if (tensor.strides() == like.strides()) return tensor;
    return torch::empty_strided(like.sizes(), like.strides(), tensor.options()).copy_(tensor);
}

std::int64_t bytes_of(const std::vector<torch::Tensor>& tensors) {
    std::int64_t bytes = 0;
    for (const auto& tensor : tensors)
        if (tensor.defined()) bytes += static_cast<std::int64_t>(tensor.nbytes());
    return bytes;
}

std::vector<GradientSize> sizes_of(const std::vector<torch::Tensor>& tensors) {
    std::vector<GradientSize> sizes;
    for (const auto& tensor : tensors)
        sizes.push_back(
            {static_cast<std::int64_t>(tensor.nbytes()), static_cast<int>(tensor.scalar_type())});
    return sizes;
}

namespace {

BucketPlan plan_of(const std::vector<torch::Tensor>& tensors, std::int64_t piece_bytes) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), 0);
    return plan_buckets(sizes_of(tensors), order, piece_bytes, piece_bytes);
}

// Calls work(parts of a piece, the tensors that they belong to) once per piece.
template <class Work>
void for_each_piece(const std::vector<torch::Tensor>& pieces,
                    const std::vector<torch::Tensor>& tensors, std::int64_t piece_bytes,
                    const Work& work) {
    const torch::NoGradGuard no_gradients;
    const auto plan = plan_of(tensors, piece_bytes);
    for (std::size_t p = 0; p < plan.size(); ++p) {
        std::vector<torch::Tensor> targets;
        for (const std::size_t i : plan[p]) targets.push_back(tensors[i]);
        const auto piece = pieces[p].to(targets.front().device());
        std::vector<torch::Tensor> parts;
        std::int64_t begin = 0;
        for (const auto& target : targets) {
            parts.push_back(viewed_as(piece.narrow(0, begin, target.numel()), target));
            begin += target.numel();
        }
        work(parts, targets);
    }
}

}  // namespace

std::vector<torch::Tensor> flattened_pieces(const std::vector<torch::Tensor>& tensors,
                                            std::int64_t piece_bytes) {
    const torch::NoGradGuard no_gradients;
    std::vector<torch::Tensor> pieces;
    for (const auto& members : plan_of(tensors, piece_bytes)) {
        std::vector<torch::Tensor> rows;
        for (const std::size_t i : members) rows.push_back(in_memory_order(tensors[i].detach()));
        pieces.push_back(at::cat(rows));
    }
    return pieces;
}

void copy_pieces(const std::vector<torch::Tensor>& pieces,
                 const std::vector<torch::Tensor>& tensors, std::int64_t piece_bytes) {
    for_each_piece(pieces, tensors, piece_bytes,
                   [](const auto& parts, auto& targets) { at::_foreach_copy_(targets, parts); });
}

void add_pieces(const std::vector<torch::Tensor>& pieces, const std::vector<torch::Tensor>& tensors,
                std::int64_t piece_bytes) {
    for_each_piece(pieces, tensors, piece_bytes,
                   [](const auto& parts, auto& targets) { at::_foreach_add_(targets, parts); });
}

void sum_gradients(const std::vector<std::vector<torch::Tensor>>& parameters,
                   std::int64_t piece_bytes) {
    const torch::NoGradGuard no_gradients;
    const auto& first = parameters.front();
    for (std::size_t replica = 1; replica < parameters.size(); ++replica) {
        std::vector<torch::Tensor> sums;
        std::vector<torch::Tensor> parts;
        for (std::size_t i = 0; i < first.size(); ++i) {
            const torch::Tensor part = parameters[replica][i].grad();
            if (!part.defined()) continue;
            if (!first[i].grad().defined()) first[i].mutable_grad() = torch::zeros_like(first[i]);
            sums.push_back(first[i].grad());
            if (piece_bytes == 0)
                sums.back().add_(part);
            else
                parts.push_back(laid_out_as(sums.back(), part));
        }
        if (!parts.empty()) add_pieces(flattened_pieces(parts, piece_bytes), sums, piece_bytes);
    }
}

}  // namespace ranklab::train
