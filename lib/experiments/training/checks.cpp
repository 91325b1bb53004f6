#include "experiments/training/checks.hpp"

#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "train/equal_state.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::experiments {
namespace {

using train::Compression;
using train::GradientSync;
using train::TensorBatch;

torch::Tensor weighted_loss(nn::Model& model, const TensorBatch& batch, double weight) {
    return model.loss(model.forward(batch.input), batch.targets) * weight;
}

// One tensor of all gradients; an undefined gradient counts as zeros.
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
                        const TensorBatch& batch, double weight, comm::Communicator& data) {
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

void run_strategy(nn::Model& model, GradientSync& sync, const TensorBatch& batch, double weight) {
    const torch::Tensor loss =
        batch.count() > 0 ? weighted_loss(model, batch, weight) : torch::Tensor();
    sync.begin_step(loss.defined() ? std::vector{loss} : std::vector<torch::Tensor>(), true);
    if (loss.defined()) loss.backward();
    sync.finish();
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

// Relative to the parameter's own largest number. Differences within the rounding of the largest
// number of all count as 0: the gradient of a bias before BatchNorm is rounding alone.
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
        // NaN would pass every comparison.
        worst.push_back(std::isfinite(difference) ? (scale > 0 ? difference / scale : difference)
                                                  : std::numeric_limits<double>::infinity());
        begin += parameter.numel();
    }
    return worst;
}

}  // namespace

double gradient_bound(torch::Dtype dtype, Compression compression) {
    // fp16 has 11 bits, rounded at both ends and in the sum.
    if (compression == Compression::fp16) return 4e-3;
    if (compression == Compression::bf16) return 3e-2;  // 8 bits
    return dtype == torch::kDouble ? 1e-12 : 1e-5;
}

GateResult check_first_gradient(nn::Model& model, GradientSync& sync, const TensorBatch& batch,
                                double weight, comm::Communicator& data,
                                comm::Communicator& control, double bound, double rounding) {
    const auto parameters = train::trained_parameters(model);
    train::StateSnapshot rewind(model, train::default_generators(batch.input.device()));
    const torch::Tensor wanted = reference(model, parameters, batch, weight, data);
    rewind();
    run_strategy(model, sync, batch, weight);
    rewind();
    auto worst = differences(wanted, parameters, rounding);
    control.allreduce(comm::view(std::span(worst)), comm::ReduceOp::max);
    const auto names = train::trained_parameter_names(model);
    GateResult result{
        .passed = true, .worst = 0, .bound = bound, .where = "", .norm = norm_of(wanted)};
    for (std::size_t i = 0; i < worst.size(); ++i) {
        if (worst[i] < result.worst) continue;
        result.worst = worst[i];
        result.where = names[i];
    }
    result.passed = result.worst <= bound;
    return result;
}

namespace {

struct NamedTensor {
    std::string name;
    torch::Tensor tensor;
};

std::vector<NamedTensor> compared_tensors(const nn::Model& model, Compared what) {
    std::vector<NamedTensor> tensors;
    for (const auto& item : model.named_parameters()) tensors.push_back({item.key(), item.value()});
    if (what == Compared::parameters) return tensors;
    for (const auto& item : model.named_buffers()) tensors.push_back({item.key(), item.value()});
    return tensors;
}

std::string times_text(std::int64_t count) {
    return count == 1 ? "once" : fmt::format("{} times", count);
}

}  // namespace

void RankEquality::compare(const std::string& when, Compared what) {
    ++comparisons_;
    if (what == Compared::parameters_and_buffers) ++buffer_comparisons_;
    std::vector<torch::Tensor> tensors;
    for (const auto& one : compared_tensors(model_, what)) tensors.push_back(one.tensor);
    const auto hash = static_cast<std::int64_t>(train::hash_of(tensors));
    // The minimum of the complement is the complement of the maximum.
    std::int64_t extremes[] = {hash, ~hash};
    control_.allreduce(comm::view(std::span(extremes)), comm::ReduceOp::min);
    if (extremes[0] != ~extremes[1] && holds()) difference_ = difference(when, what);
}

// Compares tensor by tensor. Returns "they differ after step 3: 'fc1.bias', ... on rank 1 ...".
std::string RankEquality::difference(const std::string& when, Compared what) const {
    const auto ranks = static_cast<std::size_t>(control_.world_size());
    for (const auto& [name, tensor] : compared_tensors(model_, what)) {
        const auto mine = static_cast<std::int64_t>(train::hash_of({tensor}));
        std::vector<std::int64_t> all(ranks);
        control_.allgather(comm::view(std::span(&mine, 1)), comm::view(std::span(all)));
        std::vector<int> others;
        for (std::size_t rank = 1; rank < ranks; ++rank)
            if (all[rank] != all[0]) others.push_back(static_cast<int>(rank));
        if (others.empty()) continue;
        return fmt::format("they differ {}: '{}', the first that does, on {} {} from rank 0's",
                           when, name, others.size() == 1 ? "rank" : "ranks",
                           base::few_ranges(others));
    }
    return fmt::format("they differ {}", when);
}

CheckResult RankEquality::verdict(const std::string& drift) const {
    const std::string check = "parameters equal on all ranks";
    if (control_.world_size() == 1)
        return {check, CheckOutcome::does_not_apply, "there is one rank"};
    if (!holds()) return {check, CheckOutcome::failed, difference_};
    if (!drift.empty()) return {check, CheckOutcome::not_verified, drift};
    const bool with_buffers = buffer_comparisons_ > 0 && !model_.buffers().empty();
    return {
        check, CheckOutcome::passed,
        fmt::format("bit by bit, {}{}", times_text(comparisons_),
                    with_buffers ? fmt::format("; buffers {}, where rank 0's were handed to all",
                                               times_text(buffer_comparisons_))
                                 : "")};
}

}  // namespace ranklab::experiments
