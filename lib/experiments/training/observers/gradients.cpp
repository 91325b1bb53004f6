// The gate: before the first step, the first gradient is compared with a reference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/training/checks.hpp"
#include "experiments/training/observer.hpp"
#include "train/replica_check.hpp"

namespace ranklab::experiments {
namespace {

CheckResult checked_sum(ObservedRun& observed, const train::TensorBatch& batch) {
    const std::string check = "gradients summed correctly";
    auto& steps = observed.steps;
    if (steps.trains_alone()) return {check, CheckOutcome::not_verified, "sync none sums nothing"};
    const auto& parts = steps.parts();
    const auto& speed = observed.options.speed;
    const double scale = train::gate_scale(speed.precision);
    const double weight = base::real(batch.count()) / base::real(parts.sampler.global_count(0));
    const auto bound_of = [&](train::Compression compression) {
        return std::max(gradient_bound(speed.parameter_type(), compression),
                        train::rounding_bound(speed.precision, parts.device.type()));
    };
    const auto gate = check_first_gradient(
        observed.model, steps.sync(), batch, scale * weight, parts.data_plane, observed.control,
        bound_of(observed.options.compression), 0.1 * bound_of(train::Compression::none));
    const std::string detail = fmt::format(
        "largest relative difference {:.1e} ({}), allowed {:.0e}; the gradient's norm is {:.3g}",
        gate.worst, gate.where, gate.bound, gate.norm / scale);
    if (gate.passed) return {check, CheckOutcome::passed, detail};
    if (!std::isfinite(gate.norm))
        return {check, CheckOutcome::failed,
                fmt::format("the first gradient's norm is {}: check data and --precision; nothing "
                            "was timed",
                            gate.norm)};
    return {check, CheckOutcome::failed,
            fmt::format(
                "the first gradient of --sync {} is not the sum over ranks: {}; nothing was timed",
                *observed.options.settings.sync, detail)};
}

CheckResult checked_replicas(ObservedRun& observed, const train::TensorBatch& batch) {
    const auto result =
        train::check_replicas(*observed.steps.replicas(), batch, observed.options.speed.precision);
    return {"replicas' gradient equals one model's",
            result.passed ? CheckOutcome::passed : CheckOutcome::failed, result.detail};
}

CheckResult checked(ObservedRun& observed) {
    if (observed.options.input.kind == Input::io_only)
        return {"gradients summed correctly", CheckOutcome::not_verified,
                "--input io-only computes nothing"};
    observed.around.progress.activity("checking the first gradient");
    const auto& schedule = observed.schedule;
    const auto batch = observed.steps.first_batch(schedule.epoch_of(schedule.first));
    return observed.steps.replicas() == nullptr ? checked_sum(observed, batch)
                                                : checked_replicas(observed, batch);
}

class Gradients final : public StepObserver {
  public:
    explicit Gradients(ObservedRun& observed) : StepObserver(observed), result_(checked(observed)) {
        if (result_.outcome == CheckOutcome::failed) observed.end.failed = true;
    }
    std::optional<CheckResult> check() const override { return result_; }

  private:
    CheckResult result_;
};

}  // namespace

ObserverEntry gradients_entry() {
    return {.make = make_observer<Gradients>, .in_trials = true};
}

}  // namespace ranklab::experiments
