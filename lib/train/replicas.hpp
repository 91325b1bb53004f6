// Data parallelism within one process (--mode dp), as in torch.nn.DataParallel. Each step scatters
// the batch, replicates the parameters, computes each replica in its own thread, gathers the
// outputs and sums the gradients on replica 0, whose parameters one optimizer updates. On GPUs the
// batch's parts, parameters, outputs and gradients are copied between devices.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "nn/model.hpp"
#include "train/optimizer.hpp"
#include "train/precision.hpp"
#include "train/replica_places.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {

/// Divides as torch.chunk: parts of ceil(count / replicas) samples, a smaller last one, then empty
/// parts.
std::vector<base::Share> chunks_of(std::int64_t count, std::size_t replicas);

struct ReplicaSetup {
    /// One device per replica, all of one kind; the first is the model's.
    std::vector<torch::Device> devices;
    /// Makes another model of the same kind, type and dropout on a device. DataParallel overwrites
    /// its parameters.
    std::function<std::shared_ptr<nn::Model>(torch::Device)> make;
    /// Replica r > 0 draws random numbers from seed + r, as rank r does in mode ddp.
    std::uint64_t seed = 1;
    int threads = 1;  ///< total over replicas
    /// This process's cores, each a list of its hardware threads.
    std::vector<std::vector<int>> cores;
    /// Copies parameters and gradients in large pieces on the CPU, too. On GPUs always in effect.
    bool coalesces = false;
};

class DataParallel final : public Stepper {
  public:
    /// Keeps references to its arguments. Makes replicas 1, 2, ... and seeds the default generators
    /// of their GPUs; other default generators keep their state. Replica 0 is `model` itself, whose
    /// running statistics are kept, as in torch.nn.DataParallel. `scaler` is null without loss
    /// scaling.
    DataParallel(nn::Model& model, const ReplicaSetup& setup, Optimizer& optimizer,
                 base::PhaseSink& phases, GradScaler* scaler = nullptr);

    /// For steps of one micro-batch: overwrites the gradients of earlier micro-batches.
    torch::Tensor accumulate(const TensorBatch& batch, double weight, bool last) override;
    bool update() override;
    std::vector<base::Phase> phases() const override;

    /// Makes a step without the optimizer. Leaves the gradient of weight x mean loss, times the
    /// scale of `scaler` if given, in the model's parameters. Returns the mean loss.
    double compute_gradient(const TensorBatch& batch, double weight,
                            const GradScaler* scaler = nullptr);

    std::size_t count() const { return replicas_.size(); }
    nn::Model& model(std::size_t replica) { return *replicas_[replica].model; }
    /// The generator that a replica draws from: on the CPU torch's default one for replica 0,
    /// separate ones for other replicas; on a GPU that GPU's default one.
    const at::Generator& generator(std::size_t replica) const {
        return replicas_[replica].generator;
    }
    const ReplicaThreads& threads() const { return threads_; }
    const ReplicaPlaces& places() const { return places_; }

  private:
    struct Replica {
        nn::Model* model = nullptr;
        std::shared_ptr<nn::Model> own{};  // null for replica 0
        torch::Device device;
        at::Generator generator;
        std::vector<torch::Tensor> state{};  // parameters, then buffers
        torch::Tensor input{};               // undefined without samples
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
    std::vector<std::vector<torch::Tensor>> parameters_;  // by replica
    ReplicaThreads threads_;
};

struct ReplicaCheck {
    bool passed = false;
    std::string detail;  ///< a sentence with the numbers; on failure also what to do
};

/// Compares the replicas' gradient for `batch`, which must not be empty, with a reference, by the
/// Euclidean norm of their difference over all parameters. For the reference the model alone
/// computes the replicas' parts one after another, in this thread, with the same random numbers.
/// Restores parameters, buffers and generators and leaves no gradients, so that a later run is not
/// affected. `precision` sets the bound and the factor of both losses (gate_scale).
ReplicaCheck check_replicas(DataParallel& replicas, const TensorBatch& batch,
                            Precision precision = Precision::fp32);

}  // namespace ranklab::train
