// Is what the replicas compute together what one model computes?
#pragma once

#include <string>

#include "train/precision.hpp"
#include "train/replicas.hpp"

namespace ranklab::train {

struct ReplicaCheck {
    /// |replicas' gradient - reference| / |reference|, Euclidean over all parameters.
    double difference = 0;
    double bound = 0;  ///< at most that, by the type that computes
    double norm = 0;   ///< |reference| of the loss as it is, not multiplied by gate_scale
    bool passed = false;
    std::string detail{};  ///< a sentence with the numbers, or with what is wrong and what to do
};

/// Compares the replicas' gradient for `batch` with a reference: their parts processed one after
/// another by the model alone, in this thread, with the same random numbers. Leaves the model's
/// parameters and buffers and all generators as they were, and no gradients: it may be called
/// before a run, and its steps are then those of a run without it. `batch` must not be empty;
/// `precision` is the models': it determines the rounding and the factor of both losses
/// (gate_scale).
ReplicaCheck check_replicas(DataParallel& replicas, const TensorBatch& batch,
                            Precision precision = Precision::fp32);

}  // namespace ranklab::train
