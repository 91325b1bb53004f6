#include "train/gradient_sync.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::train {
namespace {

std::string described(const torch::Tensor& parameter) {
    return fmt::format("[{}] {}", fmt::join(parameter.sizes().vec(), "x"),
                       c10::toString(parameter.scalar_type()));
}

std::string difference(const std::string& first, const std::string& other, std::size_t rank) {
    const auto a = base::split(first, '\n');
    const auto b = base::split(other, '\n');
    if (a.size() != b.size())
        return fmt::format("rank {} has {} trained parameters, rank 0 has {}", rank, b.size(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i])
            return fmt::format("parameter {} is {} on rank {} and {} on rank 0", i, b[i], rank, a[i]);
    }
    return "";
}

}  // namespace

void drop_gradients(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters) parameter.mutable_grad().reset();
}

void define_gradients(const std::vector<torch::Tensor>& parameters) {
    for (const auto& parameter : parameters) {
        if (!parameter.grad().defined()) parameter.mutable_grad() = torch::zeros_like(parameter);
    }
}

void agree_on_parameters(const std::vector<torch::Tensor>& parameters, comm::Communicator& control) {
    std::vector<std::string> mine;
    for (const auto& parameter : parameters) mine.push_back(described(parameter));
    const auto all = comm::gather_texts(control, base::join(mine, "\n"));
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank] == all.front()) continue;
        throw base::VerificationError(
            fmt::format("the ranks do not train the same model: {}; start all ranks with the same options",
                        difference(all.front(), all[rank], rank)));
    }
}

}  // namespace ranklab::train
