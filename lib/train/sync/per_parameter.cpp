#include "train/blocking_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

// The naive baseline: one blocking allreduce per parameter after backward.
class PerParameterSync final : public BlockingSync {
  public:
    explicit PerParameterSync(comm::Communicator& comm) : comm_(comm) {}

    BucketPlan buckets() const override {
        BucketPlan plan;
        for (std::size_t i = 0; i < parameters_.size(); ++i) plan.push_back({i});
        return plan;
    }

  private:
    void reduce() override {
        define_gradients(parameters_);
        for (const auto& parameter : parameters_) {
            // A gradient's strides may differ from its parameter's (a transposed view), even on one
            // rank only. A collective needs dense gradients in one memory order on all ranks.
            const torch::Tensor gradient = laid_out_as(parameter, parameter.grad());
            parameter.mutable_grad() = gradient;
            reduce_now(comm_, in_memory_order(gradient));
        }
    }

    comm::Communicator& comm_;
};

}  // namespace

SyncEntry per_parameter_entry() {
    return {.name = "per-parameter",
            .summary = "one blocking allreduce per parameter after backward (the naive baseline)",
            .make = [](const SyncSetup& setup) -> std::unique_ptr<GradientSync> {
                return std::make_unique<PerParameterSync>(setup.data);
            }};
}

}  // namespace ranklab::train
