#include "train/gradient_sync.hpp"

namespace ranklab::train {
namespace {

// No communication: the step's compute alone, and the right choice for one rank.
class NoSync final : public GradientSync {
  public:
    void attach(std::vector<torch::Tensor> parameters) override { parameters_ = std::move(parameters); }
    void begin_step(bool sync) override {
        if (sync) drop_gradients(parameters_);
    }
    void finish() override {}

  private:
    std::vector<torch::Tensor> parameters_;
};

}  // namespace

SyncEntry none_entry() {
    return {.name = "none",
            .summary = "no communication: each rank trains alone (the compute part of a step)",
            .keeps_ranks_equal = false,
            .make = [](comm::Communicator&) -> std::unique_ptr<GradientSync> {
                return std::make_unique<NoSync>();
            }};
}

}  // namespace ranklab::train
