// The reduction of data parallelism within a process: the replicas' gradients into the first one's.
#pragma once

#include <torch/types.h>

#include <vector>

#include "train/replica_threads.hpp"

namespace ranklab::train {

/// parameters[r] are replica r's, in the same order and of the same shapes. Afterwards the gradient of each
/// parameter of replica 0 is the sum over replicas, added in their order, so that the bits do not depend on
/// the threads; a gradient that no replica has stays undefined. Every replica's thread adds its slice of the
/// elements, whatever parameters these lie in.
void sum_gradients(const std::vector<std::vector<torch::Tensor>>& parameters, ReplicaThreads& threads);

}  // namespace ranklab::train
