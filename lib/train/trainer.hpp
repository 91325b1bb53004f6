// One training step, with its phases marked, and the evaluation.
#pragma once

#include <functional>
#include <memory>
#include <string>
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

/// The interface for a step of one or more micro-batches (Trainer, DataParallel).
class Stepper {
  public:
    virtual ~Stepper() = default;

    /// Makes forward and backward on this rank's micro-batch, which may be empty. `weight` is its
    /// share of the global batch: it scales the loss, so that the gradients' sum over ranks and
    /// micro-batches is the gradient of the mean over all samples. `last`: the step's last one,
    /// with which gradients are summed. Returns the unscaled mean loss; undefined if empty.
    virtual torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) = 0;
    /// To be called after the last micro-batch: waits for the gradients and updates the parameters.
    /// False where the step was skipped because gradients were not finite (GradScaler).
    virtual bool update() = 0;
    /// The phases that its steps mark, in order. Others are not reported.
    virtual std::vector<base::Phase> phases() const = 0;

    /// A step of one micro-batch. Returns the loss; 0 for an empty batch.
    double train_step(const TensorBatch& batch, double weight) {
        const torch::Tensor loss = accumulate(batch, weight, true);
        update();
        return loss.defined() ? loss.item<double>() : 0.0;
    }
};

class Trainer : public Stepper {
  public:
    /// Keeps references: all must outlive it. Attaches `sync` to the model's trained parameters.
    /// `buffers` is null where none are broadcast, `scaler` where the loss is not scaled.
    Trainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer, base::PhaseSink& phases,
            BufferSync* buffers = nullptr, GradScaler* scaler = nullptr);

    torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) override;
    bool update() override;
    std::vector<base::Phase> phases() const override;

  protected:
    /// Rank 0's, before a step's first micro-batch.
    void broadcast_buffers(bool last_of_step);

    nn::Model& model_;
    GradientSync& sync_;
    base::PhaseSink& phases_;
    GradScaler* scaler_;
    std::vector<torch::Tensor> parameters_;

  private:
    Optimizer& optimizer_;
    BufferSync* buffers_;
    bool first_of_step_ = true;
};

/// The parameters that require gradients, each once, in the order of registration.
std::vector<torch::Tensor> trained_parameters(const nn::Model& model);
/// Their names in the model, in the same order.
std::vector<std::string> trained_parameter_names(const nn::Model& model);

/// Sums over this rank's samples; add them over ranks before dividing.
struct EvaluationSums {
    double loss = 0;
    double correct = 0;  ///< samples, where the targets are classes; a share of one with several
    std::int64_t count = 0;
};

/// Makes the test pass (dropout off, no gradients) over samples [begin, end) of `source`, in
/// batches by `config`. `goes_on`, if given, is asked after each of `turns` batches (as many on all
/// ranks, so that they can agree); false ends the pass, and the sums are then useless.
EvaluationSums evaluate(nn::Model& model, const data::Source& source, base::Share part,
                        const data::Loader::Config& config, const InputConverter& convert,
                        const std::function<bool()>& goes_on = {}, std::int64_t turns = 0);

}  // namespace ranklab::train
