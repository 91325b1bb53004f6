// The loss and the learning rate of each step. A loss that is not a number ends the run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "comm/exchange.hpp"
#include "experiments/training/observer.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class Loss final : public StepObserver {
  public:
    using StepObserver::StepObserver;

    void after(const MadeStep& made) override {
        if (!std::isfinite(made.loss_sum)) first_bad_step_ = std::min(first_bad_step_, made.step);
    }

    bool goes_on(const MadeStep&, bool) override {
        const auto first = comm::reduced(observed_.control, first_bad_step_, comm::ReduceOp::min);
        if (first == kNever) return true;
        const auto by_rank = comm::gather_values(observed_.control, first_bad_step_);
        failure_ = fmt::format(
            "the loss is not a number from step {} on (first on rank {}); lower --lr, or check the "
            "data",
            first + 1, std::ranges::find(by_rank, first) - by_rank.begin());
        observed_.end.failed = true;
        return false;
    }

    std::optional<CheckResult> check() const override {
        const std::string check = "loss is a number";
        if (!computes())
            return CheckResult{check, CheckOutcome::not_verified, "nothing was computed"};
        if (!failure_.empty()) return CheckResult{check, CheckOutcome::failed, failure_};
        const auto steps = observed_.made.size();
        if (steps == 0) return CheckResult{check, CheckOutcome::not_verified, "no step was made"};
        return CheckResult{check, CheckOutcome::passed, fmt::format("in {} steps", steps)};
    }

    void fill(results::Run&, RankMeasurements& of_ranks) override {
        if (!computes()) return;
        const auto& made = observed_.made;
        of_ranks.add_means(vocabulary::kLoss, "step", column_of(made, &MadeStep::loss_sum),
                           column_of(made, &MadeStep::global), observed_.warmup_rows());
        of_ranks.add_equal(vocabulary::kLearningRate, "step", made, &MadeStep::learning_rate,
                           "none", observed_.warmup_rows());
    }

  private:
    bool computes() const { return observed_.options.input != Input::io_only; }

    std::int64_t first_bad_step_ = kNever;  // on this rank
    std::string failure_;
};

}  // namespace

ObserverEntry loss_entry() {
    return {.make = make_observer<Loss>};
}

}  // namespace ranklab::experiments
