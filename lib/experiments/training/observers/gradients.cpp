// Before the first step, compares the first gradient with a reference.
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/training/observer.hpp"
#include "train/equal_state.hpp"
#include "train/replicas.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::experiments {
namespace {

torch::Tensor weighted_loss(nn::Model& model, const train::TensorBatch& batch, double weight) {
    return model.loss(model.forward(batch.input), batch.targets) * weight;
}

// Joins all gradients in one tensor; an undefined gradient gives zeros.
torch::Tensor flattened(const std::vector<torch::Tensor>& gradients,
                        const std::vector<torch::Tensor>& parameters) {
    std::vector<torch::Tensor> rows;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const bool defined = i < gradients.size() && gradients[i].defined();
        rows.push_back(
            (defined ? gradients[i] : torch::zeros_like(parameters[i])).detach().reshape({-1}));
    }
    return torch::cat(rows).contiguous();
}

torch::Tensor reference(nn::Model& model, const std::vector<torch::Tensor>& parameters,
                        const train::TensorBatch& batch, double weight, comm::Communicator& data) {
    std::vector<torch::Tensor> gradients;
    if (batch.count() > 0) {
        gradients = torch::autograd::grad({weighted_loss(model, batch, weight)}, parameters, {},
                                          std::nullopt, false, /*allow_unused=*/true);
    }
    torch::Tensor flat = flattened(gradients, parameters);
    // At one rank there is nothing to sum, and its data plane may not carry GPU memory.
    if (data.world_size() > 1) data.allreduce(train::view_of(flat), comm::ReduceOp::sum);
    return flat;
}

void run_strategy(nn::Model& model, TrainingSteps& steps, const train::TensorBatch& batch,
                  double weight) {
    auto& sync = steps.sync();
    measure::PhaseRecorder unread;
    sync.begin_forward(unread);
    const torch::Tensor loss =
        batch.count() > 0 ? weighted_loss(model, batch, weight) : torch::Tensor();
    sync.begin_step(loss.defined() ? std::vector{loss} : std::vector<torch::Tensor>(), true);
    if (loss.defined()) loss.backward();
    sync.finish();
    sync.complete_gradients();
}

double largest(const torch::Tensor& numbers) {
    const auto [low, high] = torch::aminmax(numbers);
    return std::max(high.item<double>(), -low.item<double>());
}

// Sums in double, in pieces that keep the check's memory small.
double norm_of(const torch::Tensor& numbers) {
    constexpr std::int64_t kPiece = 1 << 20;
    double sum = 0;
    for (const auto& piece : numbers.split(kPiece))
        sum += piece.to(torch::kDouble).square().sum().item<double>();
    return std::sqrt(sum);
}

// Returns the largest difference of each parameter's gradient, relative to that gradient's largest
// magnitude. Differences within the rounding of the largest of all gradients count as 0: the
// gradient of a bias before BatchNorm, for example, is nothing but rounding.
std::vector<double> differences(const torch::Tensor& expected,
                                const std::vector<torch::Tensor>& parameters, double rounding) {
    std::vector<double> worst;
    std::int64_t begin = 0;
    const double allowed = rounding * largest(expected);
    for (const auto& parameter : parameters) {
        const auto wanted = expected.narrow(0, begin, parameter.numel());
        const auto& given = parameter.grad();  // undefined for an unused parameter
        const double scale = largest(wanted);
        const double most =
            given.defined() ? largest(given.detach().reshape({-1}) - wanted) : scale;
        const double difference = most <= allowed ? 0.0 : most;
        // Infinity instead of NaN, which the maxima over ranks and parameters could lose.
        worst.push_back(std::isfinite(difference) ? (scale > 0 ? difference / scale : difference)
                                                  : std::numeric_limits<double>::infinity());
        begin += parameter.numel();
    }
    return worst;
}

// Returns the relative difference that another order of summation or a compression may cause.
double gradient_bound(torch::Dtype dtype, train::Compression compression) {
    // fp16 has 11 significant bits: rounded once when compressed, again in the sum.
    if (compression == train::Compression::fp16) return 4e-3;
    if (compression == train::Compression::bf16) return 3e-2;  // 8 bits
    return dtype == torch::kDouble ? 1e-12 : 1e-5;
}

// Largest difference divided by largest magnitude of a parameter's gradient; maximum over
// parameters and ranks.
struct GradientDifference {
    double worst = 0;
    std::string where;  // the parameter
    double norm = 0;    // Euclidean, of the whole gradient; far above 1: training diverges
};

// Collective. Computes the first step's gradient twice from the same random numbers: by the sync,
// and by torch::autograd::grad and one blocking allreduce. Leaves parameters, buffers and
// generators as they were; the next begin_step() drops the gradients.
GradientDifference first_difference(ObservedRun& observed, const train::TensorBatch& batch,
                                    double weight, double rounding) {
    auto& model = observed.model;
    const auto parameters = train::trained_parameters(model);
    train::StateSnapshot rewind(model, train::default_generators(batch.input.device()));
    const torch::Tensor wanted =
        reference(model, parameters, batch, weight, observed.steps.parts().data_plane);
    rewind();
    run_strategy(model, observed.steps, batch, weight);
    rewind();
    auto worst = differences(wanted, parameters, rounding);
    observed.control.allreduce(comm::view(std::span(worst)), comm::ReduceOp::max);
    const auto largest = std::ranges::max_element(worst);
    return {*largest, train::trained_parameter_names(model)[largest - worst.begin()],
            norm_of(wanted)};
}

CheckResult checked_sum(ObservedRun& observed, const train::TensorBatch& batch) {
    const std::string check = "gradients summed correctly";
    auto& steps = observed.steps;
    if (steps.trains_alone()) return {check, CheckOutcome::not_verified, "sync none sums nothing"};
    const auto& parts = steps.parts();
    const auto precision = observed.options.precision();
    const double scale = train::gate_scale(precision);
    const double weight = base::real(batch.count()) / base::real(parts.sampler.global_count(0));
    const auto bound_of = [&](train::Compression compression) {
        return std::max(gradient_bound(observed.options.parameter_type(), compression),
                        train::rounding_bound(precision, parts.device.type()));
    };
    const double allowed = bound_of(observed.options.compression);
    const auto found =
        first_difference(observed, batch, scale * weight, 0.1 * bound_of(train::Compression::none));
    const std::string detail = fmt::format(
        "largest relative difference {:.1e} ({}), allowed {:.0e}; the gradient's norm is {:.3g}",
        found.worst, found.where, allowed, found.norm / scale);
    if (found.worst <= allowed) return {check, CheckOutcome::passed, detail};
    if (!std::isfinite(found.norm))
        return {check, CheckOutcome::failed,
                fmt::format("the first gradient's norm is {}: check data and --precision; nothing "
                            "was timed",
                            found.norm)};
    return {check, CheckOutcome::failed,
            fmt::format(
                "the first gradient of --sync {} is not the sum over ranks: {}; nothing was timed",
                *observed.options.settings.sync, detail)};
}

CheckResult checked_replicas(ObservedRun& observed, const train::TensorBatch& batch) {
    const auto result =
        train::check_replicas(*observed.steps.replicas(), batch, observed.options.precision());
    return {"replicas' gradient equals one model's",
            result.passed ? CheckOutcome::passed : CheckOutcome::failed, result.detail};
}

CheckResult checked(ObservedRun& observed) {
    if (observed.options.input == Input::io_only)
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
