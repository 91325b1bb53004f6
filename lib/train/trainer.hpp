// One training step, with its phases marked.
#pragma once

#include <memory>
#include <vector>

#include "base/phase.hpp"
#include "nn/model.hpp"
#include "train/buffer_sync.hpp"
#include "train/gradient_sync.hpp"
#include "train/input.hpp"
#include "train/optimizer.hpp"

namespace ranklab::train {

class Trainer {
  public:
    /// Keeps references: all must outlive it. Attaches `sync` to the model's trained parameters. `buffers` is
    /// null where none are broadcast.
    Trainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer, base::PhaseSink& phases,
            BufferSync* buffers = nullptr);

    /// forward and backward on this rank's micro-batch, which may be empty. `weight` is its share of the
    /// global batch (its samples / all samples of the step): the loss is scaled by it, so that the sum of
    /// gradients over ranks and micro-batches is the gradient of the mean over all samples. Gradients are
    /// summed over ranks with the step's last micro-batch. Returns the local mean loss, unscaled; undefined
    /// if empty.
    torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last);
    /// After the last micro-batch: waits for the gradients and updates the parameters.
    void update();
    /// Both, for a step of one micro-batch. Returns the loss; 0 for an empty batch.
    double train_step(const TensorBatch& batch, double weight);

  private:
    nn::Model& model_;
    GradientSync& sync_;
    Optimizer& optimizer_;
    base::PhaseSink& phases_;
    BufferSync* buffers_;
    bool first_of_step_ = true;
};

/// The parameters that require gradients, each once although modules may share it, in the order of
/// registration.
std::vector<torch::Tensor> trained_parameters(const nn::Model& model);

/// Sums over this rank's samples; add them over ranks before dividing.
struct EvaluationSums {
    double loss = 0;
    std::int64_t correct = 0;
    std::int64_t count = 0;
};

/// The test pass (dropout off, no gradients) over samples [begin, end) of `set`.
EvaluationSums evaluate(nn::Model& model, const data::ImageSet& set, data::Part part, std::int64_t batch_size,
                        const Normalizer& normalize);

/// 64 bits over the bytes of all parameters (FNV-1a): equal models have equal hashes.
std::uint64_t parameter_hash(const nn::Model& model);

/// Rank 0's parameters and buffers, on every rank.
void broadcast_parameters(nn::Model& model, comm::Communicator& comm);

}  // namespace ranklab::train
