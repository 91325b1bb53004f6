// fp16's loss scaling between ranks: one rank's overflow is every rank's skipped step, without a
// word more between them, whatever sums the gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "mpi/training/no_phases.hpp"
#include "mpi_world.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {
namespace {

using ranklab::testing::world;

/// y = w x + v: the gradient of w is what the image holds.
class Line final : public nn::Model {
  public:
    Line() {
        weight = register_parameter("weight", torch::ones({40}));
        shift = register_parameter("shift", torch::ones({3}));
    }
    torch::Tensor forward(const torch::Tensor& images) override {
        return images.flatten(1) * weight.sum() + shift.sum();
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override {
        return output.mean();
    }
    torch::Tensor weight;
    torch::Tensor shift;
};

std::unique_ptr<Optimizer> sgd_for(const nn::Model& model) {
    for (const auto& entry : optimizers()) {
        if (entry.name == "sgd") return entry.make(trained_parameters(model), {.lr = 0.125});
    }
    throw base::Error("the catalogue lacks sgd");
}

struct Seen {
    std::vector<bool> made;
    std::vector<double> scales;
    std::uint64_t hash = 0;
};

/// Five steps; in the second this rank's gradient overflows where `overflows`.
Seen run(const SyncEntry& entry, bool overflows) {
    Line model;
    NoPhases phases;
    const auto optimizer = sgd_for(model);
    const auto sync =
        entry.make({.data = world(), .control = world(), .first_cap_bytes = 8, .cap_bytes = 64});
    GradScaler scaler({.growth_interval = 2});
    Trainer trainer(model, *sync, *optimizer, phases, nullptr, &scaler);
    Seen seen;
    const double share = entry.keeps_ranks_equal ? 1.0 / world().world_size() : 1.0;
    for (int step = 0; step < 5; ++step) {
        const float value =
            step == 1 && overflows ? 3e37F : 0.5F + static_cast<float>(world().rank());
        trainer.accumulate({torch::full({2, 1, 1, 1}, value), torch::zeros({2}, torch::kLong)},
                           share, true);
        seen.made.push_back(trainer.update());
        seen.scales.push_back(scaler.scale());
    }
    seen.hash = hash_of(model.parameters());
    return seen;
}

class Scaled : public ::testing::TestWithParam<SyncEntry> {};

TEST_P(Scaled, OneRanksOverflowIsEveryRanksSkippedStep) {
    const bool last_rank = world().rank() == world().world_size() - 1;
    const auto seen = run(GetParam(), last_rank);
    const bool skips = GetParam().keeps_ranks_equal || last_rank;
    EXPECT_EQ(seen.made, (std::vector<bool>{true, !skips, true, true, true}));
    if (skips)
        EXPECT_THAT(seen.scales, ::testing::ElementsAre(65536, 32768, 32768, 65536, 65536));
    else
        EXPECT_THAT(seen.scales, ::testing::ElementsAre(65536, 131072, 131072, 262144, 262144));
    const auto hashes = comm::gather_texts(world(), std::to_string(seen.hash));
    if (!GetParam().keeps_ranks_equal) return;
    for (const auto& hash : hashes) EXPECT_EQ(hash, hashes.front());
}

INSTANTIATE_TEST_SUITE_P(Catalogue, Scaled, ::testing::ValuesIn(gradient_syncs()),
                         [](const auto& entry) {
                             std::string name = entry.param.name;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace ranklab::train
