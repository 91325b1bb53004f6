#include "train/gradient_sum.hpp"

#include <ATen/Parallel.h>

#include <algorithm>

#include "train/tensor_view.hpp"

namespace ranklab::train {
namespace {

// A block of the sum stays in the cache while the replicas' blocks are added to it.
constexpr std::int64_t kBlock = 1 << 14;

// One parameter's gradients as rows of elements; `begin` counts the elements of the parameters before it.
struct Term {
    std::int64_t begin = 0;
    torch::Tensor sum;
    std::vector<torch::Tensor> parts;
};

std::vector<Term> terms_of(const std::vector<std::vector<torch::Tensor>>& parameters) {
    std::vector<Term> terms;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < parameters.front().size(); ++i) {
        const torch::Tensor& sum = parameters.front()[i];
        Term term{begin, {}, {}};
        for (std::size_t replica = 1; replica < parameters.size(); ++replica) {
            const torch::Tensor part = parameters[replica][i].grad();
            if (!part.defined()) continue;
            if (!sum.grad().defined()) sum.mutable_grad() = torch::zeros_like(sum);
            term.parts.push_back(in_memory_order(laid_out_as(sum.grad(), part)));
        }
        if (term.parts.empty()) continue;
        term.sum = in_memory_order(sum.grad());
        begin += term.sum.numel();
        terms.push_back(std::move(term));
    }
    return terms;
}

void add_range(std::vector<Term>& terms, std::int64_t begin, std::int64_t end) {
    auto term = std::upper_bound(terms.begin(), terms.end(), begin,
                                 [](std::int64_t element, const Term& t) { return element < t.begin; }) -
                1;
    while (begin < end) {
        const std::int64_t at = begin - term->begin;
        const std::int64_t count = std::min({term->sum.numel() - at, end - begin, kBlock});
        torch::Tensor block = term->sum.narrow(0, at, count);
        for (const auto& part : term->parts) block.add_(part.narrow(0, at, count));
        begin += count;
        if (begin == term->begin + term->sum.numel()) ++term;
    }
}

}  // namespace

void sum_gradients(const std::vector<std::vector<torch::Tensor>>& parameters, ReplicaThreads& threads) {
    const torch::NoGradGuard no_gradients;
    auto terms = terms_of(parameters);
    if (terms.empty()) return;
    const std::int64_t total = terms.back().begin + terms.back().sum.numel();
    const auto slices = static_cast<std::int64_t>(threads.count());
    threads.run([&](std::size_t replica) {
        const auto slice = static_cast<std::int64_t>(replica);
        at::parallel_for(total * slice / slices, total * (slice + 1) / slices, kBlock,
                         [&](std::int64_t begin, std::int64_t end) { add_range(terms, begin, end); });
    });
}

}  // namespace ranklab::train
