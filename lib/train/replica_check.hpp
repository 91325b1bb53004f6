// Checks that the replicas' gradient equals a single model's.
#pragma once

#include <string>

#include "train/precision.hpp"
#include "train/replicas.hpp"

namespace ranklab::train {

struct ReplicaCheck {
    bool passed = false;
    std::string detail;  ///< a sentence with the numbers; on failure also what to do
};

/// Compares the replicas' gradient for `batch`, which must not be empty, with a reference, by the
/// Euclidean norm of their difference over all parameters. For the reference the model alone
/// computes the replicas' parts one after another, in this thread, with the same random numbers.
/// Restores parameters, buffers and generators and leaves no gradients, so that a later run is not
/// affected. `precision` sets the bound and the factor of both losses (gate_scale).
ReplicaCheck check_replicas(DataParallel& replicas, const TensorBatch& batch,
                            Precision precision = Precision::fp32);

}  // namespace ranklab::train
