#include "train/gradient_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

// The naive baseline: one blocking allreduce per parameter after backward.
class PerParameterSync final : public GradientSync {
  public:
    explicit PerParameterSync(comm::Communicator& comm) : comm_(comm) {}

    void attach(std::vector<torch::Tensor> parameters) override {
        parameters_ = std::move(parameters);
    }
    void begin_step(const std::vector<torch::Tensor>&, bool) override {
        if (fresh_) drop_gradients(parameters_);
        fresh_ = false;
    }
    void finish() override {
        define_gradients(parameters_);
        stamps_.clear();
        for (const auto& parameter : parameters_) {
            // A gradient's strides may differ from its parameter's (a transposed view), even on one
            // rank only. A collective needs dense gradients in one memory order on all ranks.
            const torch::Tensor gradient = laid_out_as(parameter, parameter.grad());
            parameter.mutable_grad() = gradient;
            reduce_now(comm_, in_memory_order(gradient), stamps_);
        }
        fresh_ = true;
    }
    const std::vector<ReductionStamp>& stamps() const override { return stamps_; }
    BucketPlan buckets() const override {
        BucketPlan plan;
        for (std::size_t i = 0; i < parameters_.size(); ++i) plan.push_back({i});
        return plan;
    }

  private:
    comm::Communicator& comm_;
    std::vector<torch::Tensor> parameters_;
    std::vector<ReductionStamp> stamps_;
    bool fresh_ = true;
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
