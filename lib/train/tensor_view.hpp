// Views tensors as buffers of collectives, and packs many tensors into few large pieces.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "comm/operation.hpp"
#include "train/bucket_plan.hpp"

namespace ranklab::train {

/// Convert element types. Throw OptionError for a type that cannot be communicated.
comm::DType element_of(torch::Dtype dtype);
torch::Dtype dtype_of(comm::DType element);

/// A view of a contiguous tensor's storage. Throws OptionError for a type that cannot be
/// communicated.
comm::BufferView view_of(const torch::Tensor& tensor);

/// A one-dimensional view of a dense tensor in memory order, for any strides (channels-last, too).
/// Two tensors must have equal strides to be combined this way.
torch::Tensor in_memory_order(const torch::Tensor& tensor);

/// A view of `flat` with the sizes and strides of `like`: the inverse of in_memory_order().
torch::Tensor viewed_as(const torch::Tensor& flat, const torch::Tensor& like);

/// `tensor` itself if it has the strides of `like`, otherwise a copy with them.
torch::Tensor laid_out_as(const torch::Tensor& like, const torch::Tensor& tensor);

/// Sum over the tensors that are defined.
std::int64_t bytes_of(const std::vector<torch::Tensor>& tensors);

/// Returns the bytes and element types by which tensors are put into buckets.
std::vector<GradientSize> sizes_of(const std::vector<torch::Tensor>& tensors);

/// The message size of PyTorch's DataParallel.
inline constexpr std::int64_t kPieceBytes = std::int64_t{10} << 20;

/// Copies dense tensors of one device into pieces, in their order. A piece has one element type and
/// closes once it holds `piece_bytes`.
std::vector<torch::Tensor> flattened_pieces(const std::vector<torch::Tensor>& tensors,
                                            std::int64_t piece_bytes = kPieceBytes);

/// Copy or add the values of `pieces` to `tensors`. The pieces must be flattened_pieces() of
/// tensors with the same types, sizes and strides, with the same `piece_bytes`.
void copy_pieces(const std::vector<torch::Tensor>& pieces,
                 const std::vector<torch::Tensor>& tensors, std::int64_t piece_bytes = kPieceBytes);
void add_pieces(const std::vector<torch::Tensor>& pieces, const std::vector<torch::Tensor>& tensors,
                std::int64_t piece_bytes = kPieceBytes);

/// Sums gradients over replicas, in the replicas' order, into replica 0's. parameters[r] belong to
/// replica r, in equal order and shapes. A gradient that no replica has stays undefined.
/// `piece_bytes` 0: tensor by tensor.
void sum_gradients(const std::vector<std::vector<torch::Tensor>>& parameters,
                   std::int64_t piece_bytes = 0);

}  // namespace ranklab::train
