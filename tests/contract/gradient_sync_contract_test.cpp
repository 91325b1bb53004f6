// Every gradient sync does what train/gradient_sync.hpp says: after finish(), each gradient is the
// sum over ranks (or the rank's own, for a sync that lets the ranks drift apart).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <algorithm>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "contract_names.hpp"
#include "mpi_world.hpp"
#include "train/equal_state.hpp"
#include "train/gradient_sync.hpp"
#include "train/tensor_view.hpp"

namespace ranklab::train {

/// A strategy in one of the ways it can be run.
struct SyncCase {
    std::string name;
    SyncEntry entry;
    Progress progress = Progress::none;
    Transfer transfer = Transfer::background;
};

RANKLAB_PRINTED_BY_NAME(SyncCase)

namespace {

using ranklab::testing::world;
using Tensors = std::vector<torch::Tensor>;

std::vector<SyncCase> all_cases() {
    std::vector<SyncCase> cases;
    for (const auto& entry : gradient_syncs()) {
        if (!entry.overlaps) {
            cases.push_back({entry.name, entry});
            continue;
        }
        cases.push_back({entry.name + "-none", entry, Progress::none, Transfer::background});
        cases.push_back({entry.name + "-poll", entry, Progress::poll, Transfer::background});
        cases.push_back({entry.name + "-thread", entry, Progress::thread, Transfer::background});
        cases.push_back({entry.name + "-none-blocking", entry, Progress::none, Transfer::blocking});
        cases.push_back({entry.name + "-poll-blocking", entry, Progress::poll, Transfer::blocking});
        cases.push_back(
            {entry.name + "-thread-blocking", entry, Progress::thread, Transfer::blocking});
    }
    return cases;
}

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

class Sync : public ::testing::TestWithParam<SyncCase> {
  protected:
    // Sizes that are odd and one of a single element; the last is more than an eager message.
    Tensors make_parameters(torch::Dtype dtype) const {
        return {torch::ones({3, 5}, dtype).requires_grad_(),
                torch::ones({1}, dtype).requires_grad_(), torch::ones({7}, dtype).requires_grad_(),
                torch::ones({101, 99}, dtype).requires_grad_()};
    }
    // Caps of a few hundred bytes and of a few kilobytes, so that there are several buckets.
    SyncSetup setup() const {
        return {.data = world(),
                .control = world(),
                .first_cap_bytes = 32,
                .cap_bytes = 64,
                .progress = GetParam().progress,
                .transfer = GetParam().transfer,
                .compression = Compression::none};
    }
    std::unique_ptr<GradientSync> attached(const Tensors& parameters) {
        auto sync = GetParam().entry.make(setup());
        sync->attach(parameters);
        return sync;
    }
    /// The values that this rank's backward adds to the gradient of `parameter` in `step`: small
    /// whole numbers, whose sums are exact.
    static torch::Tensor own_gradient(const torch::Tensor& parameter, std::size_t index, int step) {
        const int seed = 1000 * world().rank() + 10 * step + static_cast<int>(index);
        return (torch::arange(parameter.numel()) * 7 + seed)
            .remainder(23)
            .to(parameter.dtype())
            .view_as(parameter);
    }
    /// forward and backward of a step through the parameters with use[i] true.
    static void backward(GradientSync& sync, const Tensors& parameters, int step,
                         const std::vector<bool>& use, bool synchronises = true) {
        torch::Tensor loss;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (!use[i]) continue;
            const auto term = (parameters[i] * own_gradient(parameters[i], i, step)).sum();
            loss = loss.defined() ? loss + term : term;
        }
        sync.begin_step(loss.defined() ? Tensors{loss} : Tensors(), synchronises);
        if (loss.defined()) loss.backward();
    }
    torch::Tensor expected(const torch::Tensor& own) const {
        return GetParam().entry.keeps_ranks_equal ? from_all_ranks(own).sum(0) : own;
    }
    static void expect_gradient(const torch::Tensor& parameter, const torch::Tensor& wanted,
                                const std::string& where) {
        const auto gradient =
            parameter.grad().defined() ? parameter.grad() : torch::zeros_like(parameter);
        EXPECT_TRUE(torch::equal(gradient, wanted))
            << where << "\nis\n"
            << gradient.flatten().slice(0, 0, 10) << "\nnot\n"
            << wanted.flatten().slice(0, 0, 10);
    }
    static std::string where(std::size_t i, int step) {
        return "parameter " + std::to_string(i) + ", step " + std::to_string(step);
    }

    const std::vector<bool> all_{true, true, true, true};
};

INSTANTIATE_TEST_SUITE_P(Catalogue, Sync, ::testing::ValuesIn(all_cases()),
                         ranklab::testing::test_name<SyncCase>);

TEST_P(Sync, SumsOverRanksStepAfterStep) {
    for (const auto dtype : {torch::kFloat, torch::kDouble}) {
        const auto parameters = make_parameters(dtype);
        const auto sync = attached(parameters);
        for (int step = 0; step < 4; ++step) {
            backward(*sync, parameters, step, all_);
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
        backward(*sync, parameters, step, {true, false, true, true});
        sync->finish();
        expect_gradient(parameters[1], torch::zeros({1}), where(1, step));
        expect_gradient(parameters[3], expected(own_gradient(parameters[3], 3, step)),
                        where(3, step));
    }
}

TEST_P(Sync, TakesAParameterThatOneRankDoesNotUse) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    for (int step = 0; step < 3; ++step) {
        // In each step another rank does not use it.
        const bool uses = (world().rank() + step) % world().world_size() != 0;
        backward(*sync, parameters, step, {true, true, uses, true});
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
        backward(*sync, parameters, step, has_samples ? all_ : std::vector<bool>(4, false));
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
        backward(*sync, parameters, 10 + step, all_, false);
        backward(*sync, parameters, 20 + step, all_, true);
        sync->finish();
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const auto own = own_gradient(parameters[i], i, 10 + step) +
                             own_gradient(parameters[i], i, 20 + step);
            expect_gradient(parameters[i], expected(own), where(i, step));
        }
    }
}

// Sums that are not exact depend on their order: all ranks must use one.
TEST_P(Sync, GivesAllRanksTheSameBits) {
    if (!GetParam().entry.keeps_ranks_equal)
        GTEST_SKIP() << GetParam().name << " lets the ranks drift apart, as it says";
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    torch::manual_seed(static_cast<std::uint64_t>(world().rank()) + 1);
    torch::Tensor loss = torch::zeros({});
    for (const auto& parameter : parameters)
        loss = loss + (parameter * torch::randn_like(parameter)).sum();
    sync->begin_step({loss}, true);
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
    backward(*sync, parameters, 0, all_);
    sync->finish();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        EXPECT_EQ(parameters[i].const_data_ptr(), before[i]);
        EXPECT_TRUE(torch::equal(parameters[i].detach(), torch::ones_like(parameters[i])));
    }
}

// Two uses of one parameter: backward adds them up before it is ready, and it travels once.
TEST_P(Sync, TakesAParameterThatIsUsedTwice) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    for (int step = 0; step < 3; ++step) {
        const auto own = own_gradient(parameters[3], 3, step);
        const auto loss =
            (parameters[3] * own).sum() + parameters[0].sum() + (parameters[3] * own).sum();
        sync->begin_step({loss}, true);
        loss.backward();
        sync->finish();
        expect_gradient(parameters[3], expected(2 * own), where(3, step));
    }
}

TEST_P(Sync, TakesAFrozenParameterBesideIt) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto frozen = torch::full({4}, 2.0);
    const auto sync = attached(parameters);
    for (int step = 0; step < 2; ++step) {
        const auto own = own_gradient(parameters[2], 2, step);
        const auto loss = (parameters[2] * own).sum() * frozen.sum();
        sync->begin_step({loss}, true);
        loss.backward();
        sync->finish();
        expect_gradient(parameters[2], expected(8 * own), where(2, step));
        EXPECT_FALSE(frozen.grad().defined());
    }
}

// The buckets in use hold every parameter once, and are the same on all ranks, also where backward
// reached the parameters in another order on each.
TEST_P(Sync, HasOneBucketPlanOnAllRanks) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    for (int step = 0; step < 3; ++step) {
        torch::Tensor loss = torch::zeros({});
        for (std::size_t k = 0; k < parameters.size(); ++k) {
            const auto i = (k + static_cast<std::size_t>(world().rank())) % parameters.size();
            loss = loss + (parameters[i] * own_gradient(parameters[i], i, step)).sum();
        }
        sync->begin_step({loss}, true);
        loss.backward();
        sync->finish();
        for (std::size_t i = 0; i < parameters.size(); ++i)
            expect_gradient(parameters[i], expected(own_gradient(parameters[i], i, step)),
                            where(i, step));
    }
    std::string text;
    std::vector<std::size_t> members;
    for (const auto& bucket : sync->buckets()) {
        for (const std::size_t i : bucket) text += std::to_string(i) + ",";
        members.insert(members.end(), bucket.begin(), bucket.end());
        text += ";";
    }
    const auto all = comm::gather_texts(world(), text);
    for (const auto& other : all) EXPECT_EQ(other, all.front());
    if (members.empty()) {
        EXPECT_FALSE(GetParam().entry.keeps_ranks_equal);
        return;
    }
    std::sort(members.begin(), members.end());
    EXPECT_EQ(members, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST_P(Sync, StampsEachReductionInOrder) {
    const auto parameters = make_parameters(torch::kDouble);
    const auto sync = attached(parameters);
    for (int step = 0; step < 3; ++step) {
        backward(*sync, parameters, step, all_);
        sync->finish();
        std::size_t bytes = 0;
        auto last = Clock::time_point::min();
        for (const auto& stamp : sync->stamps()) {
            EXPECT_LE(stamp.ready, stamp.start);
            EXPECT_LE(stamp.start, stamp.moving);
            EXPECT_LE(stamp.moving, stamp.end);
            EXPECT_LE(last, stamp.start) << "one after another";
            last = stamp.end;
            bytes += stamp.bytes;
        }
        const std::size_t all = (15 + 1 + 7 + 101 * 99) * sizeof(double);
        EXPECT_EQ(bytes, GetParam().entry.keeps_ranks_equal ? all : 0);
        EXPECT_EQ(sync->stamps().size(), sync->buckets().size());
    }
}

// Convolutions' weights with their channels innermost: gradients have their strides, and stay views
// of their buffer where they are such.
TEST_P(Sync, TakesChannelsLastParameters) {
    const Tensors parameters{
        torch::ones({2, 3, 4, 5}).to(torch::MemoryFormat::ChannelsLast).requires_grad_(),
        torch::ones({7}).requires_grad_(),
        torch::ones({3, 2, 2, 3, 4}).to(torch::MemoryFormat::ChannelsLast3d).requires_grad_()};
    const auto sync = attached(parameters);
    std::vector<const void*> places(parameters.size());
    for (int step = 0; step < 4; ++step) {
        // In the last step the gradient of rank 0 comes out in another order than that of the
        // others.
        const bool strided = step == 3 && world().rank() == 0;
        torch::Tensor loss = torch::zeros({});
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const auto own = own_gradient(parameters[i], i, step);
            loss = loss + (strided ? (parameters[i].contiguous() * own).sum()
                                   : (parameters[i] * own).sum());
        }
        sync->begin_step({loss}, true);
        loss.backward();
        sync->finish();
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const auto gradient = parameters[i].grad();
            expect_gradient(parameters[i], expected(own_gradient(parameters[i], i, step)),
                            where(i, step));
            if (!GetParam().entry.keeps_ranks_equal) continue;
            EXPECT_EQ(gradient.strides(), parameters[i].strides()) << where(i, step);
        }
    }
}

// A gradient that stands alone is dropped before backward, which then moves its result in without
// adding; one that is a view of a buffer is zeroed there.
TEST_P(Sync, DropsGradientsOrZeroesTheirBuffer) {
    const auto parameters = make_parameters(torch::kFloat);
    const auto sync = attached(parameters);
    for (int step = 0; step < 3; ++step) {
        backward(*sync, parameters, step, all_);
        sync->finish();
    }
    sync->begin_step({}, false);
    for (const auto& parameter : parameters) {
        const auto gradient = parameter.grad();
        if (!gradient.defined()) continue;
        EXPECT_TRUE(torch::equal(gradient, torch::zeros_like(parameter)));
        EXPECT_TRUE(gradient.is_view() || gradient.storage().nbytes() > gradient.nbytes())
            << "a gradient of its own was zeroed instead of dropped";
    }
}

TEST_P(Sync, EndsWithoutAStepAndWithoutParameters) {
    const auto unused = attached(make_parameters(torch::kFloat));
    const auto empty = attached({});
    empty->begin_step({}, true);
    empty->finish();
}

TEST(BucketPlan, IsThatOfPyTorch) {
    torch::manual_seed(3);
    for (int round = 0; round < 50; ++round) {
        Tensors tensors;
        std::vector<GradientSize> sizes;
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < 40; ++i) {
            const auto count = torch::randint(1, 400, {1}).item<std::int64_t>();
            const auto type = i % 5 == 0 && round % 2 == 0 ? torch::kDouble : torch::kFloat;
            tensors.push_back(torch::empty({count}, type));
            sizes.push_back(
                {static_cast<std::int64_t>(tensors.back().nbytes()), static_cast<int>(type)});
            order.push_back(i);
        }
        const std::size_t first = 100 + 50 * static_cast<std::size_t>(round);
        const auto theirs = c10d::compute_bucket_assignment_by_size(tensors, {first, 4000});
        EXPECT_EQ(plan_buckets(sizes, order, static_cast<std::int64_t>(first), 4000),
                  std::get<0>(theirs));
    }
}

}  // namespace
}  // namespace ranklab::train
