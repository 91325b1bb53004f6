// Tensors as buffers: views for the comm room, and many tensors in few large pieces.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "comm/buffer.hpp"

namespace ranklab::train {

/// The type of a tensor's elements, and the way back. Error for a type that cannot be communicated.
comm::DType element_of(torch::Dtype dtype);
torch::Dtype dtype_of(comm::DType element);

/// The storage of a contiguous tensor. Throws Error for a type that cannot be communicated.
comm::BufferView view_of(const torch::Tensor& tensor);

/// A dense tensor's elements in one dimension, in their memory order (channels-last ones too);
/// shares their storage. For use between tensors of the same strides.
torch::Tensor in_memory_order(const torch::Tensor& tensor);

/// A view of `flat`, of as many elements, with the sizes and strides of `like`: in_memory_order()
/// of the result gives `flat`.
torch::Tensor viewed_as(const torch::Tensor& flat, const torch::Tensor& like);

/// `tensor` with the strides of `like`: itself where it has them, else a copy.
torch::Tensor laid_out_as(const torch::Tensor& like, const torch::Tensor& tensor);

/// The size of a message of PyTorch's DataParallel.
inline constexpr std::int64_t kPieceBytes = std::int64_t{10} << 20;

/// Dense tensors on one device, one after another in their order, in pieces of one element type
/// that close once they hold `piece_bytes`.
std::vector<torch::Tensor> flattened_pieces(const std::vector<torch::Tensor>& tensors,
                                            std::int64_t piece_bytes = kPieceBytes);

/// Copies the values of `pieces` into `tensors` (copy), or adds them (add). flattened_pieces made
/// the pieces of tensors with the same types, sizes and strides and the same `piece_bytes`.
void copy_pieces(const std::vector<torch::Tensor>& pieces,
                 const std::vector<torch::Tensor>& tensors, std::int64_t piece_bytes = kPieceBytes);
void add_pieces(const std::vector<torch::Tensor>& pieces, const std::vector<torch::Tensor>& tensors,
                std::int64_t piece_bytes = kPieceBytes);

/// The reduction of data parallelism within a process. parameters[r] are replica r's, in the same
/// order and of the same shapes. Afterwards the gradient of each parameter of replica 0 is the sum
/// over replicas, added in their order; a gradient that no replica has stays undefined.
/// `piece_bytes` 0: tensor by tensor.
void sum_gradients(const std::vector<std::vector<torch::Tensor>>& parameters,
                   std::int64_t piece_bytes = 0);

}  // namespace ranklab::train
