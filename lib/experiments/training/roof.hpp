// The most that this machine can do: measured, or by the vendor's data sheet.
#pragma once

#include <torch/types.h>

#include <string>

#include "comm/communicator.hpp"
#include "train/precision.hpp"

namespace ranklab::experiments {

struct Roof {
    double flops_per_s = 0;
    double bytes_per_s = 0;
};

/// Collective: measures all ranks at once, for numbers of the type and device, and returns this
/// rank's. FLOP/s are those of a matrix product or a convolution, whichever is faster; B/s those of
/// McCalpin's triad, a = b + 2 c.
Roof measured_roof(torch::TensorOptions type, comm::Communicator& control);

struct Peak {
    double flops_per_s = 0;  ///< of a GPU, or of a rank's CPU threads; 0: unknown
    std::string source;
};

/// The dense peak of a GPU by its vendor's data sheet, without sparsity.
Peak peak_of_gpu(const std::string& name, train::Precision precision);

}  // namespace ranklab::experiments
