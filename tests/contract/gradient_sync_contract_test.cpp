// Every gradient sync does what train/gradient_sync.hpp says: after finish(), each gradient is the sum over
// ranks (or the rank's own, for a sync that lets the ranks drift apart).
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "comm/backend.hpp"
#include "contract_names.hpp"
#include "mpi_world.hpp"
#include "train/gradient_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

RANKLAB_PRINTED_BY_NAME(SyncEntry)

namespace {

using ranklab::testing::world;
using Tensors = std::vector<torch::Tensor>;

TEST(GradientSyncs, HaveGoodNames) {
    ranklab::testing::expect_good_names(gradient_syncs());
}

/// All ranks' copies of a tensor, in one tensor with the ranks in front.
torch::Tensor from_all_ranks(const torch::Tensor& mine) {
    std::vector<std::int64_t> sizes{world().world_size()};
    sizes.insert(sizes.end(), mine.sizes().begin(), mine.sizes().end());
    const auto all = torch::empty(sizes, mine.options().requires_grad(false));
    world().allgather(view_of(mine.contiguous()), view_of(all));
    return all;
}

class Sync : public ::testing::TestWithParam<SyncEntry> {
  protected:
    // Sizes that are odd and one of a single element; the last is more than an eager message.
    Tensors make_parameters(torch::Dtype dtype) const {
        return {torch::ones({3, 5}, dtype).requires_grad_(), torch::ones({1}, dtype).requires_grad_(),
                torch::ones({7}, dtype).requires_grad_(), torch::ones({101, 99}, dtype).requires_grad_()};
    }
    std::unique_ptr<GradientSync> attached(const Tensors& parameters) {
        auto sync = GetParam().make(world());
        sync->attach(parameters);
        return sync;
    }
    /// What this rank's backward adds to the gradient of `parameter` in `step`: small whole numbers, whose
    /// sums are exact.
    static torch::Tensor own_gradient(const torch::Tensor& parameter, std::size_t index, int step) {
        const int seed = 1000 * world().rank() + 10 * step + static_cast<int>(index);
        return (torch::arange(parameter.numel()) * 7 + seed)
            .remainder(23)
            .to(parameter.dtype())
            .view_as(parameter);
    }
    /// Backward through the parameters with use[i] true.
    static void backward(const Tensors& parameters, int step, const std::vector<bool>& use) {
        torch::Tensor loss;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (!use[i]) continue;
            const auto term = (parameters[i] * own_gradient(parameters[i], i, step)).sum();
            loss = loss.defined() ? loss + term : term;
        }
        if (loss.defined()) loss.backward();
    }
    torch::Tensor expected(const torch::Tensor& own) const {
        return GetParam().keeps_ranks_equal ? from_all_ranks(own).sum(0) : own;
    }
    static void expect_gradient(const torch::Tensor& parameter, const torch::Tensor& wanted,
                                const std::string& where) {
        const auto gradient = parameter.grad().defined() ? parameter.grad() : torch::zeros_like(parameter);
        EXPECT_TRUE(torch::equal(gradient, wanted)) << where << "\nis\n"
                                                    << gradient.flatten().slice(0, 0, 10) << "\nnot\n"
                                                    << wanted.flatten().slice(0, 0, 10);
    }
    static std::string where(std::size_t i, int step) {
        return "parameter " + std::to_string(i) + ", step " + std::to_string(step);
    }

    const std::vector<bool> all_{true, true, true, true};
};

INSTANTIATE_TEST_SUITE_P(Catalogue, Sync, ::testing::ValuesIn(gradient_syncs()),
                         ranklab::testing::test_name<SyncEntry>);

TEST_P(Sync, SumsOverRanksStepAfterStep) {
    for (const auto dtype : {torch::kFloat, torch::kDouble}) {
        const auto parameters = make_parameters(dtype);
        const auto sync = attached(parameters);
        for (int step = 0; step < 4; ++step) {
            sync->begin_step(true);
            backward(parameters, step, all_);
            sync->finish();
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                expect_gradient(parameters[i], expected(own_gradient(parameters[i], i, step)),
                                where(i, step));
            }
            const torch::NoGradGuard no_gradients;  // as an optimizer does
            for (auto parameter : parameters) parameter.sub_(parameter.grad(), 0.1);
        }
    }
}

TEST_P(Sync, TakesAParameterThatIsUsedOnNoRank) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    for (int step = 0; step < 2; ++step) {
        sync->begin_step(true);
        backward(parameters, step, {true, false, true, true});
        sync->finish();
        expect_gradient(parameters[1], torch::zeros({1}), where(1, step));
        expect_gradient(parameters[3], expected(own_gradient(parameters[3], 3, step)), where(3, step));
    }
}

TEST_P(Sync, TakesAParameterThatOneRankDoesNotUse) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    for (int step = 0; step < 3; ++step) {
        const bool uses = (world().rank() + step) % world().world_size() != 0;  // another one each step
        sync->begin_step(true);
        backward(parameters, step, {true, true, uses, true});
        sync->finish();
        const auto own = own_gradient(parameters[2], 2, step) * (uses ? 1 : 0);
        expect_gradient(parameters[2], expected(own), where(2, step));
    }
}

TEST_P(Sync, TakesARankWithoutSamples) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    for (int step = 0; step < 3; ++step) {
        const bool has_samples = step != 1 || world().rank() != world().world_size() - 1;
        sync->begin_step(true);
        if (has_samples) backward(parameters, step, all_);
        sync->finish();
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            expect_gradient(parameters[i],
                            expected(own_gradient(parameters[i], i, step) * (has_samples ? 1 : 0)),
                            where(i, step));
        }
    }
}

TEST_P(Sync, AccumulatesWhereToldNotToSync) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    for (int step = 0; step < 2; ++step) {
        sync->begin_step(true);
        backward(parameters, 10 + step, all_);
        sync->begin_step(false);
        backward(parameters, 20 + step, all_);
        sync->finish();
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const auto own =
                own_gradient(parameters[i], i, 10 + step) + own_gradient(parameters[i], i, 20 + step);
            expect_gradient(parameters[i], expected(own), where(i, step));
        }
    }
}

// Sums that are not exact depend on their order: all ranks must use one.
TEST_P(Sync, GivesAllRanksTheSameBits) {
    if (!GetParam().keeps_ranks_equal)
        GTEST_SKIP() << GetParam().name << " lets the ranks drift apart, as it says";
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    torch::manual_seed(static_cast<std::uint64_t>(world().rank()) + 1);
    sync->begin_step(true);
    torch::Tensor loss = torch::zeros({});
    for (const auto& parameter : parameters) loss = loss + (parameter * torch::randn_like(parameter)).sum();
    loss.backward();
    sync->finish();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto all = from_all_ranks(parameters[i].grad());
        for (int rank = 1; rank < world().world_size(); ++rank) {
            EXPECT_TRUE(torch::equal(all[rank], all[0])) << where(i, 0) << ", rank " << rank;
        }
    }
}

// The parameters share storage with the model's: a sync must not move them.
TEST_P(Sync, LeavesTheParametersAlone) {
    const auto parameters = make_parameters(torch::kFloat);
    std::vector<const void*> before;
    for (const auto& parameter : parameters) before.push_back(parameter.const_data_ptr());
    const auto sync = attached(parameters);
    sync->begin_step(true);
    backward(parameters, 0, all_);
    sync->finish();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        EXPECT_EQ(parameters[i].const_data_ptr(), before[i]);
        EXPECT_TRUE(torch::equal(parameters[i].detach(), torch::ones_like(parameters[i])));
    }
}

}  // namespace
}  // namespace ranklab::train
