// The memory of a rank's tensors: parameters, their gradients, and what a step takes besides.
#pragma once

#include <algorithm>
#include <cstdint>

#include "nn/model.hpp"
#include "train/input.hpp"

namespace ranklab::train {

/// Bytes that n samples take: fixed + per_sample x n.
struct BatchBytes {
    std::int64_t fixed = 0, per_sample = 0;
    std::int64_t at(std::int64_t samples) const { return fixed + per_sample * samples; }
};

/// Bytes of one rank; all but those of a batch are the same at every number of ranks.
struct MemoryEstimate {
    std::int64_t weights = 0, gradients = 0, optimizer = 0, buckets = 0;
    /// The reference of the first gradient's check, gone before the optimizer's state is there.
    std::int64_t check = 0;
    /// `activations` is kept for backward, `backward` is what it adds at most.
    BatchBytes activations, backward;

    /// local_batch: the samples that a rank computes at once, of a micro-batch.
    std::int64_t bytes_at(std::int64_t local_batch) const {
        return weights + gradients + std::max(optimizer, check) + buckets +
               activations.at(local_batch) + backward.at(local_batch);
    }
};

struct StepMemory {
    BatchBytes saved;  ///< after forward: batch, output and what autograd keeps
    BatchBytes peak;   ///< the most, until the end of backward
};

/// Makes forward and backward of an empty `batch` on the CPU, which computes nothing, and looks
/// after each operation which storages are alive: each counts once, by the other dimensions of its
/// largest view where one is of 0 samples. `samples`: where the peak is sought. Not seen: copies
/// within one operation (oneDNN's, cuDNN's) and gaps in the heap.
StepMemory step_memory(nn::Model& model, const TensorBatch& batch, std::int64_t samples);

}  // namespace ranklab::train
