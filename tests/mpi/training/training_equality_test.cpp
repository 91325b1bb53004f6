// Training on several ranks is the training of one rank: same gradients, same losses, and the same
// bits on all ranks.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "data/dataset.hpp"
#include "data/sampler.hpp"
#include "mpi/training/no_phases.hpp"
#include "mpi_world.hpp"
#include "train/equal_state.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {
namespace {

using ranklab::testing::world;

constexpr std::int64_t kGlobalBatch = 60;  // the same on each of 2, 3 or 4 ranks

template <class Entry>
Entry named(const std::vector<Entry>& catalogue, const std::string& name) {
    for (const auto& entry : catalogue) {
        if (entry.name == name) return entry;
    }
    throw base::Error("no catalogue has " + name);
}

/// Synthetic samples of the model's shape; the same on all ranks.
const data::Source& samples(std::int64_t count) {
    static std::shared_ptr<const data::Source> set;
    if (!set || set->size() != count) {
        set = named(data::sources(), "synthetic")
                  .open({.input = {1, 28, 28},
                         .target = {},
                         .classes = 10,
                         .directory = "",
                         .seed = 4,
                         .train_samples = count,
                         .test_samples = 1},
                        world())
                  .train;
    }
    return *set;
}

struct Plan {
    std::string sync = "none";
    std::string optimizer = "sgd";
    double lr = 0.05;
    torch::Dtype dtype = torch::kDouble;
    bool dropout = false;
};

/// All that one rank needs to train mnist-cnn. Every replica begins with the same weights.
struct Replica {
    explicit Replica(const Plan& plan)
        : model(make_model(plan)),
          sync(named(gradient_syncs(), plan.sync).make({.data = world(), .control = world()})),
          optimizer(named(optimizers(), plan.optimizer).make(model->parameters(), {.lr = plan.lr})),
          trainer(*model, *sync, *optimizer, phases),
          convert(samples_layout(), {0.5}, {0.25}, plan.dtype) {}

    static std::shared_ptr<nn::Model> make_model(const Plan& plan) {
        torch::manual_seed(1);
        const auto entry = named(nn::models(), "mnist-cnn");
        auto model = entry.make({.input = entry.input, .dropout = plan.dropout});
        model->to(plan.dtype);
        model->train();
        return model;
    }
    static data::SampleLayout samples_layout() {
        return {{data::Element::u8, {1, 28, 28}}, {data::Element::i64, {}}};
    }
    TensorBatch batch_of(const data::Source& source, std::span<const std::int64_t> indices) const {
        std::vector<data::Draw> draws;
        for (const std::int64_t index : indices) draws.push_back({index, 0});
        data::Loader loader(source, {.batch = static_cast<std::int64_t>(draws.size())});
        loader.start([&](std::int64_t) { return draws; }, 0, 1);
        return convert(loader.next());
    }

    NoPhases phases;
    std::shared_ptr<nn::Model> model;
    std::unique_ptr<GradientSync> sync;
    std::unique_ptr<Optimizer> optimizer;
    Trainer trainer;
    InputConverter convert;
};

data::Sampler sampler_for(std::int64_t rank, std::int64_t ranks, std::int64_t count,
                          std::int64_t global_batch, data::Sharding sharding) {
    return data::Sampler({.samples = count,
                          .rank = rank,
                          .world_size = ranks,
                          .batch = global_batch / ranks,
                          .sharding = sharding,
                          .seed = 1});
}

/// The losses over the global batch, step by step: on all ranks together, or of one rank alone.
std::vector<double> train_together(Replica& replica, const data::Source& set, int steps) {
    auto sampler = sampler_for(world().rank(), world().world_size(), set.size(), kGlobalBatch,
                               data::Sharding::pad);
    std::vector<double> losses;
    for (int step = 0; step < steps; ++step) {
        const auto batch = replica.batch_of(set, sampler.batch(step));
        const double share =
            static_cast<double>(batch.count()) / static_cast<double>(sampler.global_count(step));
        double loss = replica.trainer.train_step(batch, share) * share;
        world().allreduce(comm::view(std::span(&loss, 1)), comm::ReduceOp::sum);
        losses.push_back(loss);
    }
    return losses;
}

std::vector<double> train_alone(Replica& replica, const data::Source& set, int steps) {
    auto sampler = sampler_for(0, 1, set.size(), kGlobalBatch, data::Sharding::pad);
    std::vector<double> losses;
    for (int step = 0; step < steps; ++step)
        losses.push_back(
            replica.trainer.train_step(replica.batch_of(set, sampler.batch(step)), 1.0));
    return losses;
}

/// Compares the bytes of the model's parameters on all ranks.
void expect_equal_bits(const nn::Model& model, const std::string& when) {
    const auto mine = static_cast<std::int64_t>(hash_of(model.parameters()));
    std::vector<std::int64_t> all(static_cast<std::size_t>(world().world_size()));
    world().allgather(comm::view(std::span(&mine, 1)), comm::view(std::span(all)));
    for (std::size_t rank = 1; rank < all.size(); ++rank)
        EXPECT_EQ(all[rank], all[0]) << "rank " << rank << " " << when;
}

double worst_difference(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        worst = std::max(worst, (a[i] - b[i]).abs().max().item<double>());
    return worst;
}

class Equality : public ::testing::TestWithParam<std::string> {};

// Every sync that keeps ranks equal, also one that is added tomorrow.
std::vector<std::string> syncs_that_keep_ranks_equal() {
    std::vector<std::string> names;
    for (const auto& entry : gradient_syncs()) {
        if (entry.keeps_ranks_equal) names.push_back(entry.name);
    }
    return names;
}

std::string sync_name(const ::testing::TestParamInfo<std::string>& tested) {
    std::string name = tested.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(Sync, Equality, ::testing::ValuesIn(syncs_that_keep_ranks_equal()),
                         sync_name);

TEST_P(Equality, TheFirstGradientInFp32IsThatOfTheWholeBatch) {
    const auto& set = samples(kGlobalBatch);
    Replica shared({.sync = GetParam(), .lr = 0, .dtype = torch::kFloat});
    train_together(shared, set, 1);
    Replica alone({.lr = 0, .dtype = torch::kFloat});
    train_alone(alone, set, 1);
    std::vector<torch::Tensor> ours;
    std::vector<torch::Tensor> whole;
    for (const auto& parameter : shared.model->parameters()) ours.push_back(parameter.grad());
    for (const auto& parameter : alone.model->parameters()) whole.push_back(parameter.grad());
    EXPECT_LE(worst_difference(ours, whole), 1e-5);
    EXPECT_GT(worst_difference(whole, std::vector<torch::Tensor>(whole.size(), torch::zeros({1}))),
              1e-3)
        << "they are not all zero";
}

TEST_P(Equality, LossesInFp64AreThoseOfOneRank) {
    constexpr int kSteps = 8;
    const auto& set = samples(kSteps * kGlobalBatch);
    Replica shared({.sync = GetParam()});
    const auto losses = train_together(shared, set, kSteps);

    static std::vector<double> expected;  // for all syncs; rank 0 computes it while the others wait
    if (expected.empty()) {
        expected.resize(kSteps);
        if (world().rank() == 0) {
            Replica alone({});
            expected = train_alone(alone, set, kSteps);
        }
        world().broadcast(comm::view(std::span(expected)), 0);
    }
    for (std::size_t step = 0; step < kSteps; ++step) {
        EXPECT_NEAR(losses[step], expected[step], 1e-9 * std::abs(expected[step]))
            << "step " << step;
    }
    EXPECT_LT(losses.back(), losses.front()) << "it learns";
}

TEST_P(Equality, ParametersAreBitIdenticalAfterEveryStepWithDropout) {
    const auto& set = samples(600);
    Replica replica({.sync = GetParam(),
                     .optimizer = "adadelta",
                     .lr = 1.0,
                     .dtype = torch::kFloat,
                     .dropout = true});
    torch::manual_seed(100 + static_cast<std::uint64_t>(world().rank()));
    auto sampler =
        sampler_for(world().rank(), world().world_size(), set.size(), 12, data::Sharding::pad);
    const double share = 1.0 / world().world_size();

    // The same images on all ranks, and yet other losses: the ranks draw their own dropout masks.
    const auto common = replica.batch_of(set, std::vector<std::int64_t>{0, 1, 2, 3});
    const auto losses = comm::gather_values(world(), replica.trainer.train_step(common, share));
    for (std::size_t rank = 1; rank < losses.size(); ++rank)
        EXPECT_NE(losses[rank], losses[0]) << "rank " << rank << " drew rank 0's mask";
    expect_equal_bits(*replica.model, "after the common batch");

    const auto before = hash_of(replica.model->parameters());
    for (int step = 0; step < 10; ++step) {
        replica.trainer.train_step(replica.batch_of(set, sampler.batch(step)), share);
        expect_equal_bits(*replica.model, "after step " + std::to_string(step));
    }
    EXPECT_NE(hash_of(replica.model->parameters()), before) << "it did train";
}

// One sample more than the ranks can share: in the last step rank 0 has it and the others have
// none.
TEST_P(Equality, AnEmptyLastBatchChangesNothing) {
    const std::int64_t ranks = world().world_size();
    const auto& set = samples(12 + 1);
    Replica shared({.sync = GetParam()});
    auto sampler = sampler_for(world().rank(), ranks, set.size(), 12, data::Sharding::exact);
    EXPECT_EQ(sampler.steps_per_epoch(), 2);
    EXPECT_EQ(sampler.batch(1).size(), world().rank() == 0 ? 1U : 0U);
    for (std::int64_t step = 0; step < 2; ++step) {
        const auto batch = shared.batch_of(set, sampler.batch(step));
        shared.trainer.train_step(batch, static_cast<double>(batch.count()) /
                                             static_cast<double>(sampler.global_count(step)));
        expect_equal_bits(*shared.model, "after step " + std::to_string(step));
    }

    Replica alone({});
    auto all = sampler_for(0, 1, set.size(), 12, data::Sharding::exact);
    for (std::int64_t step = 0; step < 2; ++step)
        alone.trainer.train_step(alone.batch_of(set, all.batch(step)), 1.0);
    EXPECT_LE(worst_difference(shared.model->parameters(), alone.model->parameters()), 1e-12);
}

TEST(BroadcastParameters, GivesAllRanksThoseOfRankZero) {
    Replica replica({.dtype = torch::kFloat});
    const auto original = hash_of(replica.model->parameters());
    {
        const torch::NoGradGuard no_gradients;
        for (auto& parameter : replica.model->parameters()) parameter.add_(world().rank());
    }
    broadcast_parameters(*replica.model, world());
    EXPECT_EQ(hash_of(replica.model->parameters()), original);
}

// SGD's momentum is made at the first step, and a scaler may have skipped it on one rank alone:
// there is then more state here than there.
TEST(TakeStateOfRank0, EqualisesTheOptimizerAndTheScalerWhateverEachRankHas) {
    for (const auto& entry : optimizers()) {
        for (int with_state = 0; with_state < 2; ++with_state) {
            Replica replica({.dtype = torch::kFloat});
            const auto parameters = replica.model->parameters();
            const auto optimizer = entry.make(parameters, {.lr = 0.1, .momentum = 0.9});
            GradScaler scaler;
            // Rank 0 makes no step in the first round, and one in the second, where the others make
            // none.
            const bool steps = (world().rank() == 0) == (with_state == 1);
            for (auto& parameter : parameters)
                parameter.mutable_grad() = torch::full_like(
                    parameter, steps ? 1.0 : std::numeric_limits<double>::infinity());
            scaler.step(parameters, *optimizer);
            take_state_of_rank_0(*replica.model, *optimizer, &scaler, world());
            expect_equal_bits(*replica.model, entry.name);
            EXPECT_EQ(scaler.skipped(), with_state == 1 ? 0 : 1) << entry.name;
            std::vector<torch::Tensor> state;
            for (const auto& kind : optimizer->state()) {
                for (const auto& tensor : kind.tensors) {
                    if (tensor.defined()) state.push_back(tensor);
                }
            }
            const auto sizes = comm::gather_values(world(), static_cast<double>(state.size()));
            const auto hashes =
                comm::gather_values(world(), static_cast<double>(hash_of(state) >> 12U));
            for (std::size_t rank = 1; rank < sizes.size(); ++rank) {
                EXPECT_EQ(sizes[rank], sizes[0]) << entry.name;
                EXPECT_EQ(hashes[rank], hashes[0]) << entry.name;
            }
            // And they go on as one.
            for (auto& parameter : parameters)
                parameter.mutable_grad() = torch::ones_like(parameter);
            scaler.step(parameters, *optimizer);
            expect_equal_bits(*replica.model, entry.name + " a step later");
        }
    }
}

// The comparison itself: it must see a single bit on a single rank.
TEST(ParameterHash, DiffersWhereOneRankDiffers) {
    Replica replica({.dtype = torch::kFloat});
    const auto same = hash_of(replica.model->parameters());
    if (world().rank() == world().world_size() - 1) {
        auto* const first = replica.model->parameters().back().mutable_data_ptr<float>();
        first[0] = std::nextafter(first[0], 1e9F);
    }
    EXPECT_EQ(hash_of(replica.model->parameters()) != same,
              world().rank() == world().world_size() - 1);
}

}  // namespace
}  // namespace ranklab::train
