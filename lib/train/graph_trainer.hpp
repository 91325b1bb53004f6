// Training steps with forward and backward as one CUDA graph (--cuda-graph).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "train/torch_cuda.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {

/// The steps before the capture, in which the allocator, cuDNN's choice of algorithms and the
/// buckets may still change. PyTorch requires 11 before it captures a distributed step.
inline constexpr std::int64_t kStepsBeforeCapture = 11;

/// A Trainer that captures forward and backward after kStepsBeforeCapture steps and replays them
/// from then on. Replays the graph for batches of the first batch's size; Trainer computes batches
/// of other sizes. The graph holds no communication: finish() sums the gradients after the replay,
/// without overlap. Works with every sync except c10d, which reduces host memory only.
class GraphTrainer final : public Trainer {
  public:
    /// Calls `make_graph` once, at the capture.
    GraphTrainer(nn::Model& model, GradientSync& sync, Optimizer& optimizer,
                 base::PhaseSink& phases, BufferSync* buffers, GradScaler* scaler,
                 std::function<std::unique_ptr<StepGraph>()> make_graph)
        : Trainer(model, sync, optimizer, phases, buffers, scaler),
          make_graph_(std::move(make_graph)) {}

    torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) override;
    bool update() override;
    /// Lacks `forward`: one launch starts forward and backward, and counts as `backward`.
    std::vector<base::Phase> phases() const override;

  private:
    void capture(const TensorBatch& batch);
    void compute();
    void restore_gradients();

    std::function<std::unique_ptr<StepGraph>()> make_graph_;
    std::unique_ptr<StepGraph> graph_;
    std::vector<torch::Tensor> gradients_;  // written by the graph
    TensorBatch input_;                     // read by the graph
    torch::Tensor factor_;                  // multiplies the loss
    torch::Tensor loss_;
    std::int64_t batch_size_ = 0;
    std::int64_t steps_ = 0;
};

}  // namespace ranklab::train
