// Data parallelism within one process, as torch.nn.DataParallel does it: the batch is scattered,
// the parameters are replicated in every step, each replica computes in its own thread, the outputs
// are gathered on replica 0, the gradients are summed there, and one optimizer steps. On the CPU
// the replicas share the process's memory; on GPUs each has a GPU, and batches, parameters, outputs
// and gradients are copied between them.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/numbers.hpp"
#include "nn/model.hpp"
#include "train/optimizer.hpp"
#include "train/precision.hpp"
#include "train/replica_places.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {

/// Divides as torch.chunk: parts of ceil(count / replicas) samples, the last one smaller; the parts
/// of the remaining replicas are empty.
std::vector<base::Share> chunks_of(std::int64_t count, std::size_t replicas);

struct ReplicaSetup {
    /// The devices, one per replica and of one kind; the first is the model's.
    std::vector<torch::Device> devices;
    /// Makes a further model of the same kind, type and dropout on that device; its parameters do
    /// not matter.
    std::function<std::shared_ptr<nn::Model>(torch::Device)> make;
    /// Replica r > 0 draws from seed + r, as rank r does in ddp.
    std::uint64_t seed = 1;
    int threads = 1;  ///< in all
    /// This process's cores, each as the numbers of its hardware threads.
    std::vector<std::vector<int>> cores;
    /// Parameters and gradients go in large pieces, on the CPU too.
    bool coalesces = false;
};

class DataParallel final : public Stepper {
  public:
    /// Keeps references: all must outlive it. Makes the replicas, and leaves the default generators
    /// as they were, but for those of the further replicas' GPUs, which get their seeds. Replica 0
    /// is `model` itself, so its running statistics are the ones that stay, as DataParallel's.
    /// `scaler` is null where the loss is not scaled.
    DataParallel(nn::Model& model, const ReplicaSetup& setup, Optimizer& optimizer,
                 base::PhaseSink& phases, GradScaler* scaler = nullptr);

    /// A step has one micro-batch: the gradients of an earlier one are not kept.
    torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) override;
    bool update() override;
    std::vector<base::Phase> phases() const override;

    /// A step without its optimizer: the gradient of weight x the mean loss is then in the model's
    /// parameters, multiplied by the scale of `scaler` where there is one. Returns the mean loss.
    double compute_gradient(const TensorBatch& batch, double weight,
                            const GradScaler* scaler = nullptr);

    std::size_t count() const { return replicas_.size(); }
    /// 0: the model itself.
    nn::Model& model(std::size_t replica) { return *replicas_[replica].model; }
    /// The replica's generator: on the CPU its own, but torch's default one for replica 0; on a GPU
    /// the default one of that GPU.
    const at::Generator& generator(std::size_t replica) const {
        return replicas_[replica].generator;
    }
    const ReplicaThreads& threads() const { return threads_; }
    const ReplicaPlaces& places() const { return places_; }

  private:
    struct Replica {
        nn::Model* model = nullptr;
        std::shared_ptr<nn::Model> own{};  // but for replica 0
        torch::Device device;
        at::Generator generator;
        std::vector<torch::Tensor> state{};  // parameters, then buffers
        torch::Tensor input{};               // undefined where there are no samples
        torch::Tensor output{};
        torch::Tensor output_gradient{};
    };

    void scatter(const TensorBatch& batch, const std::vector<base::Share>& parts);
    void replicate();
    void take_state(Replica& replica, const std::vector<torch::Tensor>& pieces) const;
    void forward();
    torch::Tensor gather() const;
    void hand_back(const torch::Tensor& gradient, const std::vector<base::Share>& parts);
    void backward();
    void reduce();

    Optimizer& optimizer_;
    base::PhaseSink& phases_;
    GradScaler* scaler_;
    ReplicaPlaces places_;
    bool coalesces_;
    std::vector<Replica> replicas_;
    std::vector<std::vector<torch::Tensor>> parameters_;  // of each replica
    ReplicaThreads threads_;
};

}  // namespace ranklab::train
