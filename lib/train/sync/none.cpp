#include "train/blocking_sync.hpp"

namespace ranklab::train {
namespace {

// No communication: for one rank, or to time a step's compute.
class NoSync final : public BlockingSync {
  public:
    BucketPlan buckets() const override { return {}; }

  private:
    void reduce() override {}
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
