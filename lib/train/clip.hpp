// Clipping of gradients by their global norm.
#pragma once

#include <memory>
#include <vector>

#include "train/optimizer.hpp"

namespace ranklab::train {

/// Returns `optimizer` with a step() that first scales the gradients of all `parameters` in place
/// so that their common 2-norm is at most `max_norm`, as torch.nn.utils.clip_grad_norm_: by
/// max_norm / (norm + 1e-6), if that is below 1. Gradients must be summed over ranks already; no
/// value is read from the device.
std::unique_ptr<Optimizer> clipping(std::unique_ptr<Optimizer> optimizer,
                                    std::vector<torch::Tensor> parameters, double max_norm);

}  // namespace ranklab::train
