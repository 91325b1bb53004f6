// Checks that the replicas' gradient is the one of a single model.
#pragma once

#include <string>

#include "train/precision.hpp"
#include "train/replicas.hpp"

namespace ranklab::train {

struct ReplicaCheck {
    /// |replicas' gradient - reference| / |reference|, Euclidean over all parameters.
    double difference = 0;
    double bound = 0;  ///< the largest allowed difference, by the computing type
    double norm = 0;   ///< |reference| of the unscaled loss
    bool passed = false;
    std::string detail{};  ///< a sentence with the numbers; on failure also what to do
};

/// Compares the replicas' gradient for `batch`, which must not be empty, with a reference: the
/// model alone computes the replicas' parts one after another, in this thread, with the same random
/// numbers. Restores parameters, buffers and generators and leaves no gradients, so that a later
/// run is not affected. `precision` sets the bound and the factor of both losses (gate_scale).
ReplicaCheck check_replicas(DataParallel& replicas, const TensorBatch& batch,
                            Precision precision = Precision::fp32);

}  // namespace ranklab::train
