// What a training loop drives: one step on one batch, whatever makes it (Trainer, DataParallel).
#pragma once

#include <vector>

#include "base/phase.hpp"
#include "train/input.hpp"

namespace ranklab::train {

class Stepper {
  public:
    virtual ~Stepper() = default;

    /// From this rank's batch, which may be empty, to updated parameters. `weight` is this rank's share of
    /// the global batch (its samples / all samples): the loss is scaled by it. Returns the local mean loss,
    /// unscaled; 0 for an empty batch.
    virtual double train_step(const TensorBatch& batch, double weight) = 0;
    /// Those that its steps mark, in the order of a step. A phase that is not among them is not reported.
    virtual std::vector<base::Phase> phases() const = 0;
};

}  // namespace ranklab::train
