// Tensors that travel between devices in few large pieces instead of one by one: a copy between two GPUs
// costs microseconds, whatever its size.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace ranklab::train {

/// What PyTorch's DataParallel puts into one message.
inline constexpr std::int64_t kPieceBytes = std::int64_t{10} << 20;

/// Dense tensors on one device, one after another in their order, in pieces of one element type that close
/// once they hold `piece_bytes`.
std::vector<torch::Tensor> flattened_pieces(const std::vector<torch::Tensor>& tensors,
                                            std::int64_t piece_bytes = kPieceBytes);

/// Of pieces that flattened_pieces made of tensors with the same types, sizes and strides, anywhere, with the
/// same `piece_bytes`: their values go into `tensors` (copy), or are added to them (add).
void copy_pieces(const std::vector<torch::Tensor>& pieces, const std::vector<torch::Tensor>& tensors,
                 std::int64_t piece_bytes = kPieceBytes);
void add_pieces(const std::vector<torch::Tensor>& pieces, const std::vector<torch::Tensor>& tensors,
                std::int64_t piece_bytes = kPieceBytes);

/// The reduction of data parallelism within a process. parameters[r] are replica r's, in the same order and
/// of the same shapes. Afterwards the gradient of each parameter of replica 0 is the sum over replicas, added
/// in their order; a gradient that no replica has stays undefined. `piece_bytes` 0: tensor by tensor.
void sum_gradients(const std::vector<std::vector<torch::Tensor>>& parameters, std::int64_t piece_bytes = 0);

}  // namespace ranklab::train
