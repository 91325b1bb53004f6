#include "experiments/training/rank_equality.hpp"

#include <fmt/format.h>
#include <torch/types.h>

#include <algorithm>
#include <iterator>

#include "base/number_ranges.hpp"
#include "comm/exchange.hpp"
#include "train/tensor_view.hpp"
#include "train/trainer.hpp"

namespace ranklab::experiments {
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

std::vector<std::int64_t> hashes_of(const std::vector<NamedTensor>& tensors) {
    std::vector<std::int64_t> hashes;
    for (const auto& one : tensors) hashes.push_back(static_cast<std::int64_t>(train::hash_of({one.tensor})));
    return hashes;
}

// Of one tensor's hashes, which lie by rank.
std::vector<int> ranks_unlike_rank_0(const std::vector<std::int64_t>& all, std::size_t tensors,
                                     std::size_t tensor) {
    std::vector<int> others;
    for (std::size_t rank = 1; rank * tensors < all.size(); ++rank) {
        if (all[rank * tensors + tensor] != all[tensor]) others.push_back(static_cast<int>(rank));
    }
    return others;
}

std::string ranks_text(const std::vector<int>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", base::few_ranges(ranks));
}

std::string times_text(std::int64_t count) {
    return count == 1 ? "once" : fmt::format("{} times", count);
}

// Small whole numbers, whose sums are exact in every type and order: element i of rank r is (i mod 7 + 1)
// times (r mod 8 + 1).
torch::Tensor known_numbers(std::int64_t count, std::int64_t factor, const torch::Tensor& like) {
    return torch::arange(count, like.options().requires_grad(false).dtype(torch::kLong))
        .remainder(7)
        .add(1)
        .mul(factor)
        .to(like.scalar_type());
}

bool sum_is_right(comm::Communicator& data, std::int64_t count, const torch::Tensor& like) {
    std::int64_t total = 0;
    for (int rank = 0; rank < data.world_size(); ++rank) total += rank % 8 + 1;
    torch::Tensor sum = known_numbers(count, data.rank() % 8 + 1, like);
    data.allreduce(train::view_of(sum), comm::ReduceOp::sum);
    data.synchronize();
    return sum.equal(known_numbers(count, total, like));
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
    if (found_by_any(extremes[0] != ~extremes[1]) && holds()) difference_ = look_into(when, what);
}

bool RankEquality::found_by_any(bool mine) {
    const auto found = comm::gather_values(control_, mine ? 1.0 : 0.0);
    std::int64_t any = std::any_of(found.begin(), found.end(), [](double one) { return one != 0; }) ? 1 : 0;
    control_.broadcast(comm::view(std::span(&any, 1)), 0);
    return any != 0;
}

// Tensor by tensor, and by another collective than the one that found it.
std::string RankEquality::look_into(const std::string& when, Compared what) {
    const auto tensors = compared_tensors(model_, what);
    const auto mine = hashes_of(tensors);
    const auto ranks = static_cast<std::size_t>(control_.world_size());
    std::vector<std::int64_t> all(mine.size() * ranks);
    control_.allgather(comm::view(std::span(mine)), comm::view(std::span(all)));
    std::int64_t first = 0;  // tensor that differs
    std::vector<int> others;
    for (; first < std::ssize(mine); ++first) {
        others = ranks_unlike_rank_0(all, mine.size(), static_cast<std::size_t>(first));
        if (!others.empty()) break;
    }
    control_.broadcast(comm::view(std::span(&first, 1)), 0);
    if (first == std::ssize(mine))
        return fmt::format(
            "one comparison found them to differ {}, and a second one found them equal: one of the two is "
            "wrong, so no data from this MPI library can be trusted",
            when);
    const auto why = cause();
    return comm::broadcast_text(
        control_,
        fmt::format("they differ {}: '{}', the first that does, on {} from rank 0's; {}", when,
                    tensors[static_cast<std::size_t>(first)].name, ranks_text(others), why),
        0);
}

std::string RankEquality::cause() {
    const auto wrong = ranks_with_wrong_sums();
    if (wrong.empty())
        return "a second sum, of known numbers, was right on all ranks, so the cause is not known";
    return fmt::format(
        "a second sum, of known numbers, came out wrong on {}: the allreduce of --backend {}, the network or "
        "a node's memory is at fault",
        ranks_text(wrong), data_.backend());
}

// In one piece, as --sync flat does, then parameter by parameter from the last one on.
std::vector<int> RankEquality::ranks_with_wrong_sums() {
    const torch::NoGradGuard no_gradients;
    const auto parameters = train::trained_parameters(model_);
    if (parameters.empty()) return {};
    std::int64_t count = 0;
    for (const auto& parameter : parameters) count += parameter.numel();
    bool right = sum_is_right(data_, count, parameters.front());
    for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter)
        right = sum_is_right(data_, parameter->numel(), *parameter) && right;
    const auto verdicts = comm::gather_values(control_, right ? 1.0 : 0.0);
    std::vector<int> wrong;
    for (std::size_t rank = 0; rank < verdicts.size(); ++rank) {
        if (verdicts[rank] == 0) wrong.push_back(static_cast<int>(rank));
    }
    return wrong;
}

Verdict RankEquality::verdict(const std::string& drift) const {
    const std::string check = "parameters equal on all ranks";
    if (control_.world_size() == 1) return {check, kDoesNotApply, "there is one rank"};
    if (!holds()) return {check, "failed", difference_};
    if (!drift.empty()) return {check, "not verified", drift};
    const bool with_buffers = buffer_comparisons_ > 0 && !model_.buffers().empty();
    return {check, "passed",
            fmt::format("bit by bit, {}{}", times_text(comparisons_),
                        with_buffers ? fmt::format("; buffers {}, where rank 0's were handed to all",
                                                   times_text(buffer_comparisons_))
                                     : "")};
}

}  // namespace ranklab::experiments
