// A training step with its phases, and the evaluation.
#pragma once

#include <functional>
#include <vector>

#include "base/numbers.hpp"
#include "base/phase.hpp"
#include "nn/model.hpp"
#include "train/equal_state.hpp"
#include "train/gradient_sync.hpp"
#include "train/input.hpp"
#include "train/optimizer.hpp"
#include "train/precision.hpp"

namespace ranklab::train {

/// A training step of one or more micro-batches, made by Trainer or DataParallel.
class Stepper {
  public:
    virtual ~Stepper() = default;

    /// Makes forward and backward of this rank's micro-batch, which may be empty. `weight`, its
    /// share of the global batch, scales the loss, so that the gradients' sum over ranks and
    /// micro-batches is the gradient of the mean over all samples. `last`: the step's last
    /// micro-batch, which sums gradients over ranks. Returns the unscaled mean loss; undefined if
    /// the batch is empty.
    virtual torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) = 0;
    /// Called after the last micro-batch: waits for the gradients and updates the parameters.
    /// Returns false if a GradScaler skipped the step because gradients were not finite.
    virtual bool update() = 0;
    /// The phases of a step, in order.
    virtual std::vector<base::Phase> phases() const = 0;

    /// Makes a step of one micro-batch. Returns the loss; 0 for an empty batch.
    double train_step(const TensorBatch& batch, double weight) {
        const torch::Tensor loss = accumulate(batch, weight, true);
        update();
        return loss.defined() ? loss.item<double>() : 0.0;
    }
};

class Trainer : public Stepper {
  public:
    /// Keeps references to its arguments. Attaches `sync` to the model's trained parameters.
    /// `branches`, for a model with control flow: the ranks that agree on the parameters reached in
    /// a step; the optimizer skips other parameters, as with PyTorch's find_unused_parameters.
    Trainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer, base::PhaseSink& phases,
            BufferSync* buffers = nullptr, GradScaler* scaler = nullptr,
            comm::Communicator* branches = nullptr);

    torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) override;
    bool update() override;
    std::vector<base::Phase> phases() const override;

  protected:
    /// Broadcasts rank 0's buffers before a step's first micro-batch.
    void broadcast_buffers(bool last_of_step);

    nn::Model& model_;
    GradientSync& sync_;
    base::PhaseSink& phases_;
    GradScaler* scaler_;
    std::vector<torch::Tensor> parameters_;

  private:
    Owned owned_;
    Optimizer& optimizer_;
    BufferSync* buffers_;
    bool first_of_step_ = true;
    comm::Communicator* branches_;
    std::vector<std::uint8_t> reached_;  // by parameter: 1 if this step's backward reached it
    std::unique_ptr<GradientHooks> hooks_;
};

/// Sums over this rank's samples, to be added over ranks before dividing by `count`.
struct EvaluationSums {
    double loss = 0;
    double correct = 0;  ///< correctly classified samples; with several targets, their fraction
    std::int64_t count = 0;
};

/// Evaluates the samples `part` in batches of config.batch. Calls `goes_on`, if given, `turns`
/// times (equal on all ranks). If `goes_on` returns false, stops with incomplete sums.
EvaluationSums evaluate(nn::Model& model, const data::Source& source, base::Share part,
                        const data::Loader::Config& config, const InputConverter& convert,
                        const std::function<bool()>& goes_on = {}, std::int64_t turns = 0);

}  // namespace ranklab::train
