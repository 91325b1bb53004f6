// What a training loop drives: a step of one or more micro-batches, whatever makes it (Trainer,
// DataParallel).
#pragma once

#include <torch/types.h>

#include <vector>

#include "base/phase.hpp"
#include "train/input.hpp"

namespace ranklab::train {

class Stepper {
  public:
    virtual ~Stepper() = default;

    /// forward and backward on this rank's micro-batch, which may be empty. `weight` is its share of the
    /// global batch (its samples / all samples of the step): the loss is scaled by it, so that the sum of
    /// gradients over ranks and micro-batches is the gradient of the mean over all samples. `last`: the
    /// step's last micro-batch, with which gradients are summed over ranks. Returns the local mean loss,
    /// unscaled; undefined if empty.
    virtual torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) = 0;
    /// After the last micro-batch: waits for the gradients and updates the parameters. False where the step
    /// was skipped, the gradients not being finite (GradScaler).
    virtual bool update() = 0;
    /// Those that its steps mark, in the order of a step. A phase that is not among them is not reported.
    virtual std::vector<base::Phase> phases() const = 0;

    /// A step of one micro-batch. Returns the loss; 0 for an empty batch.
    double train_step(const TensorBatch& batch, double weight) {
        const torch::Tensor loss = accumulate(batch, weight, true);
        update();
        return loss.defined() ? loss.item<double>() : 0.0;
    }
};

}  // namespace ranklab::train
