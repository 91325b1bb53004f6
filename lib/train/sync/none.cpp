#include "train/gradient_sync.hpp"

namespace ranklab::train {
namespace {

// No communication: for one rank, or to time a step's compute.
class NoSync final : public GradientSync {
  public:
    void attach(std::vector<torch::Tensor> parameters) override {
        parameters_ = std::move(parameters);
    }
    void begin_step(const std::vector<torch::Tensor>&, bool) override {
        if (fresh_) drop_gradients(parameters_);
        fresh_ = false;
    }
    void finish() override { fresh_ = true; }
    const std::vector<ReductionStamp>& stamps() const override { return none_; }
    BucketPlan buckets() const override { return {}; }

  private:
    std::vector<torch::Tensor> parameters_;
    std::vector<ReductionStamp> none_;
    bool fresh_ = true;
};

}  // namespace

SyncEntry none_entry() {
    return {.name = "none",
            .summary = "no communication: each rank trains its own model",
            .keeps_ranks_equal = false,
            .make = [](const SyncSetup&) -> std::unique_ptr<GradientSync> {
                return std::make_unique<NoSync>();
            }};
}

}  // namespace ranklab::train
