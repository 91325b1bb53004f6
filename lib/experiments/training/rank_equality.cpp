#include "experiments/training/rank_equality.hpp"

#include <fmt/format.h>
#include <torch/types.h>

#include "base/number_ranges.hpp"
#include "comm/exchange.hpp"
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

// Tensor by tensor.
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
        return fmt::format("they differ {}: '{}', the first that does, on {} {} from rank 0's", when, name,
                           others.size() == 1 ? "rank" : "ranks", base::few_ranges(others));
    }
    return fmt::format("they differ {}", when);
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
