// Training steps whose forward and backward are launched as one recorded graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "train/torch_cuda.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {

/// PyTorch makes eleven steps before it captures a distributed one: by then the allocator, cuDNN's
/// choice of algorithms and the buckets have settled.
inline constexpr std::int64_t kStepsBeforeCapture = 11;

/// A Trainer whose forward and backward on batches of one size (the first one's) are captured after
/// kStepsBeforeCapture steps and replayed from then on; batches of other sizes are computed by the
/// Trainer. The graph has no sync: gradients are summed after the replay, in finish(), so that
/// nothing overlaps. It takes every sync whose gradients stay at their place, that is all but c10d.
class GraphTrainer final : public Trainer {
  public:
    /// `make_graph` is asked once.
    GraphTrainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer,
                 base::PhaseSink& phases, BufferSync* buffers, GradScaler* scaler,
                 std::function<std::unique_ptr<StepGraph>()> make_graph)
        : Trainer(model, sync, optimizer, phases, buffers, scaler),
          make_graph_(std::move(make_graph)) {}

    torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) override;
    bool update() override;
    /// Forward and backward are one launch, which is marked as backward; forward is not reported.
    std::vector<base::Phase> phases() const override;

  private:
    void capture(const TensorBatch& batch);
    void compute();
    void restore_gradients();

    std::function<std::unique_ptr<StepGraph>()> make_graph_;
    std::unique_ptr<StepGraph> graph_;
    std::vector<torch::Tensor> gradients_;  // the graph's
    TensorBatch input_;                     // the graph's
    torch::Tensor factor_;                  // what the loss is multiplied by
    torch::Tensor loss_;
    std::int64_t batch_size_ = 0;
    std::int64_t steps_ = 0;
};

}  // namespace ranklab::train
