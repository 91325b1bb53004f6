// The memory of a step's tensors besides parameters and their gradients.
#pragma once

#include "forecast/memory.hpp"
#include "nn/model.hpp"
#include "train/input.hpp"

namespace ranklab::train {

struct StepMemory {
    forecast::BatchBytes saved;  ///< after forward: batch, output and what autograd keeps
    forecast::BatchBytes peak;   ///< the most, until the end of backward
};

/// Makes forward and backward of an empty `batch` on the CPU, which computes nothing, and looks
/// after each operation which storages are alive: each counts once, by the other dimensions of its
/// largest view where one is of 0 samples. `samples`: where the peak is sought. Not seen: copies
/// within one operation (oneDNN's, cuDNN's) and gaps in the heap.
StepMemory step_memory(nn::Model& model, const TensorBatch& batch, std::int64_t samples);

}  // namespace ranklab::train
