// The check before timing: a strategy's gradient is the one that a plain sum over ranks gives.
#pragma once

#include <string>

#include "nn/model.hpp"
#include "train/gradient_sync.hpp"
#include "train/input.hpp"

namespace ranklab::train {

struct GateResult {
    bool passed = false;
    double worst =
        0;  ///< largest difference / largest magnitude of that parameter's gradient, over all ranks
    double bound = 0;   ///< what the element type (and compression) allows
    std::string where;  ///< the parameter with the worst one
    double norm = 0;    ///< the gradient's, over all parameters: far above 1 nothing can be learned
};

/// The relative difference that may come from another order of summation, or from travelling in fewer bits.
double gradient_bound(torch::Dtype dtype, Compression compression);

/// Collective. Makes the first step's gradient twice from the same random numbers: by `sync`, and from
/// torch::autograd::grad and one blocking allreduce over `data` (what --sync flat does). Leaves parameters,
/// buffers and the generator as they were; the gradients are left to the next begin_step(). `sync` must be
/// attached to trained_parameters(model).
GateResult check_first_gradient(nn::Model& model, GradientSync& sync, const TensorBatch& batch, double weight,
                                comm::Communicator& data, comm::Communicator& control, double bound);

}  // namespace ranklab::train
