// One training step, with its phases marked.
#pragma once

#include <memory>
#include <vector>

#include "base/phase.hpp"
#include "nn/model.hpp"
#include "train/gradient_sync.hpp"
#include "train/input.hpp"
#include "train/optimizer.hpp"
#include "train/stepper.hpp"

namespace ranklab::train {

class Trainer final : public Stepper {
  public:
    /// Keeps references: all must outlive it. Attaches `sync` to the model's parameters.
    Trainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer, base::PhaseSink& phases);

    /// forward, backward, sync, optimizer on this rank's batch, which may be empty. `weight` is this rank's
    /// share of the global batch (its samples / all samples): the loss is scaled by it, so that the sum of
    /// gradients over ranks is the gradient of the mean over all samples. Returns the local mean loss,
    /// unscaled; 0 for an empty batch.
    double train_step(const TensorBatch& batch, double weight) override;
    std::vector<base::Phase> phases() const override;

  private:
    nn::Model& model_;
    GradientSync& sync_;
    Optimizer& optimizer_;
    base::PhaseSink& phases_;
};

/// Sums over this rank's samples; add them over ranks before dividing.
struct EvaluationSums {
    double loss = 0;
    std::int64_t correct = 0;
    std::int64_t count = 0;
};

/// The test pass (dropout off, no gradients) over samples [begin, end) of `set`.
EvaluationSums evaluate(nn::Model& model, const data::ImageSet& set, data::Part part, std::int64_t batch_size,
                        const Normalizer& normalize);

/// 64 bits over the bytes of all parameters and buffers (FNV-1a): equal models have equal hashes.
std::uint64_t parameter_hash(const nn::Model& model);

/// Rank 0's parameters and buffers, on every rank.
void broadcast_parameters(nn::Model& model, comm::Communicator& comm);

}  // namespace ranklab::train
