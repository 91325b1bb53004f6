// Sharded training (ZeRO 1, 2, 3) is DDP's training: the same losses and parameters, with the bytes
// and the memory that theory says.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "contract/small_model.hpp"
#include "mpi/training/no_phases.hpp"
#include "mpi_world.hpp"
#include "train/equal_state.hpp"
#include "train/sharded_sync.hpp"
#include "train/trainer.hpp"

namespace ranklab::train::sharding {
namespace {

using ranklab::testing::world;

template <class Entry>
Entry entry_named(const std::vector<Entry>& catalogue, const std::string& name) {
    return *std::ranges::find(catalogue, name, &Entry::name);
}

// Several buckets and blocks in the small models.
constexpr std::int64_t kCap = 5000;

struct Plan {
    int stage = 0;  ///< 0: DDP
    int steps = 30, micro_batches = 2;
    std::int64_t prefetch = 1, cap = kCap;
    bool last_rank_is_idle = false;  ///< its batches are empty
    bool waits = false;              ///< communicates as on one host without spare cores
    torch::Dtype dtype = torch::kDouble;
};

struct Trained {
    std::vector<double> losses;  ///< over all ranks
    std::vector<torch::Tensor> parameters;
};

/// One rank's training with AdamW, clipping by norm and accumulation.
class ShardedRun {
  public:
    ShardedRun(std::shared_ptr<nn::Model> model, const Plan& plan)
        : plan_(plan), model_(std::move(model)) {
        model_->to(plan.dtype);
        model_->train();
        const SyncSetup setup{.data = world(),
                              .control = world(),
                              .first_cap_bytes = plan.cap,
                              .cap_bytes = plan.cap,
                              .progress = plan.waits ? Progress::waiting : Progress::thread,
                              .transfer = plan.waits ? Transfer::blocking : Transfer::background};
        if (plan.stage == 0) {
            sync_ = entry_named(gradient_syncs(), "bucketed").make(setup);
        } else {
            auto made = std::make_unique<ShardedSync>(*model_, setup,
                                                      ZeroConfig{.stage = plan.stage,
                                                                 .prefetch_blocks = plan.prefetch,
                                                                 .landings = plan.waits ? 1 : 2});
            sharded_ = made.get();
            sync_ = std::move(made);
        }
        const auto owned = sync_->owned(trained_parameters(*model_));
        optimizer_ = clipping(entry_named(optimizers(), "adamw").make(owned.tensors, {.lr = 1e-3}),
                              owned.tensors, 0.5, owned.sum);
        scaler_ = plan.dtype == torch::kFloat ? std::make_unique<GradScaler>() : nullptr;
        trainer_ = std::make_unique<Trainer>(*model_, *sync_, *optimizer_, phases_, nullptr,
                                             scaler_.get());
    }

    /// A step on this rank's own samples; `input(step, micro, count)` makes them.
    template <class Samples>
    double step(int step, const Samples& samples) {
        const int ranks = world().world_size(), rank = world().rank();
        const bool idle = plan_.last_rank_is_idle && rank > 0 && rank == ranks - 1;
        // Rank 0 has one sample more: the weights differ.
        const std::int64_t count = idle ? 0 : rank == 0 ? 3 : 2;
        std::vector<std::int64_t> all{count * plan_.micro_batches};
        world().allreduce(comm::view(std::span(all)), comm::ReduceOp::sum);
        double loss = 0;
        for (int micro = 0; micro < plan_.micro_batches; ++micro) {
            const double share = static_cast<double>(count) / static_cast<double>(all[0]);
            const torch::Tensor mine =
                trainer_->accumulate(samples(1000 * step + 100 * micro + rank, count), share,
                                     micro + 1 == plan_.micro_batches);
            if (mine.defined()) loss += share * mine.item<double>();
        }
        updated_ = trainer_->update();
        world().allreduce(comm::view(std::span(&loss, 1)), comm::ReduceOp::sum);
        return loss;
    }
    template <class Samples>
    Trained train(const Samples& samples) {
        Trained trained;
        for (int i = 0; i < plan_.steps; ++i) trained.losses.push_back(step(i, samples));
        complete();
        for (const auto& parameter : model_->parameters())
            trained.parameters.push_back(parameter.detach().clone());
        return trained;
    }
    void complete() {
        if (sharded_ != nullptr) sharded_->complete_parameters();
    }
    ShardedSync& sharded() { return *sharded_; }
    nn::Model& model() { return *model_; }
    GradScaler& scaler() { return *scaler_; }
    Optimizer& optimizer() { return *optimizer_; }
    bool updated() const { return updated_; }

  private:
    Plan plan_;
    NoPhases phases_;
    std::shared_ptr<nn::Model> model_;
    ShardedSync* sharded_ = nullptr;
    std::unique_ptr<GradientSync> sync_;
    std::unique_ptr<Optimizer> optimizer_;
    std::unique_ptr<GradScaler> scaler_;
    std::unique_ptr<Trainer> trainer_;
    bool updated_ = false;
};

/// A model of the catalogue, small, and its samples.
struct Small {
    explicit Small(const std::string& name) : entry(entry_named(nn::models(), name)) {
        config = ranklab::testing::small_config(entry);
        config.dropout = false;
        if (name == "mnist-cnn") config.width = 8;
        if (!config.input.is_volume()) return;
        config.full_scale = false;
        config.input.depth = config.input.height = config.input.width = 32;
    }
    std::shared_ptr<nn::Model> make() const {
        torch::manual_seed(1);
        return entry.make(config);
    }
    auto samples(torch::Dtype dtype) const {
        return [this, dtype](int seed, std::int64_t count) {
            auto sizes = config.input.input_sizes();
            sizes.insert(sizes.begin(), count);
            auto targets = config.input.target_sizes();
            targets.insert(targets.begin(), count);
            torch::manual_seed(static_cast<std::uint64_t>(seed) + 7);
            const auto input = config.input.is_whole()
                                   ? torch::randint(config.input.classes, sizes, torch::kLong)
                                   : torch::randn(sizes, torch::kDouble).to(dtype);
            return TensorBatch{input,
                               config.input.classifies()
                                   ? torch::randint(config.input.classes, targets, torch::kLong)
                                   : torch::randn(targets, torch::kDouble).to(dtype)};
        };
    }
    Trained train(const Plan& plan) const {
        return ShardedRun(make(), plan).train(samples(plan.dtype));
    }

    nn::ModelEntry entry;
    nn::ModelConfig config;
};

void expect_same(const Trained& mine, const Trained& ddp, double bound, const std::string& where) {
    ASSERT_EQ(mine.losses.size(), ddp.losses.size());
    for (std::size_t i = 0; i < ddp.losses.size(); ++i)
        ASSERT_NEAR(mine.losses[i], ddp.losses[i], bound * std::abs(ddp.losses[i]))
            << where << ", step " << i;
    for (std::size_t i = 0; i < ddp.parameters.size(); ++i) {
        const auto apart = (mine.parameters[i] - ddp.parameters[i]).abs().max().item<double>();
        ASSERT_LE(apart, bound * ddp.parameters[i].abs().max().item<double>())
            << where << ", parameter " << i;
    }
    EXPECT_NE(ddp.losses.front(), ddp.losses.back()) << "it learns";
}

class ShardedModels : public ::testing::TestWithParam<std::string> {};

// unet3d and resnet18 have convolutions and BatchNorm, the language models embeddings; gpt2's head
// is its embedding, which forward uses first and last.
INSTANTIATE_TEST_SUITE_P(Catalogue, ShardedModels,
                         ::testing::Values("mnist-cnn", "resnet18", "unet3d", "llama-debug",
                                           "gpt2-124m"),
                         [](const auto& tested) {
                             std::string name = tested.param;
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST_P(ShardedModels, TrainsAsDdp) {
    const Small small(GetParam());
    const int steps = small.entry.name == "gpt2-124m" ? 5 : 30;  // 50,257 tokens
    const auto ddp = small.train({.steps = steps});
    for (const int stage : {1, 2, 3})
        for (const bool waits : steps < 30 ? std::vector{true} : std::vector{false, true})
            expect_same(small.train({.stage = stage, .steps = steps, .waits = waits}), ddp, 1e-9,
                        "stage " + std::to_string(stage) + (waits ? ", waits" : ""));
}

// It takes part in every gather and sum.
TEST(Sharding, TakesARankWithoutSamples) {
    const Small small("llama-debug");
    Plan plan{.steps = 4, .last_rank_is_idle = true};
    const auto ddp = small.train(plan);
    for (const int stage : {1, 2, 3})
        for (const std::int64_t prefetch : {0, 100}) {
            plan.stage = stage;
            plan.prefetch = prefetch;
            plan.waits = prefetch == 0;
            expect_same(small.train(plan), ddp, 1e-9, "stage " + std::to_string(stage));
        }
}

/// Two linear layers, of which the first may come again; and one that no forward uses.
struct Twice final : nn::Model {
    Twice() {
        first = register_module("first", torch::nn::Linear(5, 5));
        second = register_module("second", torch::nn::Linear(5, 5));
        unused = register_module("unused", torch::nn::Linear(3, 3));
    }
    torch::Tensor forward(const torch::Tensor& x) override {
        const auto y = second->forward(torch::relu(first->forward(x)));
        return torch::log_softmax(again ? first->forward(y) : y, 1);
    }
    torch::nn::Linear first{nullptr}, second{nullptr}, unused{nullptr};
    bool again = false;
};

TensorBatch five(int seed, std::int64_t count) {
    torch::manual_seed(static_cast<std::uint64_t>(seed));
    return {torch::randn({count, 5}, torch::kDouble), torch::randint(5, {count}, torch::kLong)};
}

std::shared_ptr<Twice> make_twice(bool again) {
    torch::manual_seed(3);
    auto model = std::make_shared<Twice>();
    model->again = again;
    return model;
}

TEST(Sharding, TakesLayersThatAreUsedTwiceOrNever) {
    const auto ddp = ShardedRun(make_twice(true), {.steps = 8, .cap = 1}).train(five);
    for (const int stage : {1, 2, 3})
        expect_same(
            ShardedRun(make_twice(true), {.stage = stage, .steps = 8, .cap = 1}).train(five), ddp,
            1e-9, "stage " + std::to_string(stage));
}

TEST(Sharding, RefusesALayerThatReturnsAfterTheFirstStep) {
    const auto model = make_twice(false);
    ShardedRun zero_run(model, {.stage = 3, .micro_batches = 1, .prefetch = 0, .cap = 1});
    zero_run.step(0, five);
    zero_run.step(1, five);
    model->again = true;
    EXPECT_THROW(zero_run.step(2, five), base::OptionError);
}

// One rank's overflow makes all ranks skip the step and lower the scale.
TEST(Sharding, AgreesOnAnOverflow) {
    for (const int stage : {1, 2, 3}) {
        ShardedRun zero_run(make_twice(false),
                            {.stage = stage, .micro_batches = 1, .dtype = torch::kFloat});
        const auto samples = [](bool breaks) {
            return [breaks](int seed, std::int64_t count) {
                auto batch = five(seed, count);
                batch.input = batch.input.to(torch::kFloat);
                if (breaks && world().rank() == world().world_size() - 1)
                    batch.input.fill_(std::numeric_limits<float>::infinity());
                return batch;
            };
        };
        zero_run.step(0, samples(false));
        EXPECT_TRUE(zero_run.updated());
        zero_run.complete();
        const auto before = hash_of(zero_run.model().parameters());
        zero_run.step(1, samples(true));
        EXPECT_FALSE(zero_run.updated()) << "stage " << stage;
        EXPECT_EQ(zero_run.scaler().scale(), 32768);
        zero_run.complete();
        EXPECT_EQ(hash_of(zero_run.model().parameters()), before);
        zero_run.step(2, samples(false));
        EXPECT_TRUE(zero_run.updated());
        zero_run.complete();
    }
}

// The bytes of a step are theory's, to the byte; what a rank keeps is what was predicted.
TEST(Sharding, SendsAndHoldsWhatTheorySays) {
    const Small small("llama-debug");
    const auto ranks = static_cast<std::int64_t>(world().world_size());
    constexpr int kMicro = 2;
    for (const int stage : {1, 2, 3}) {
        ShardedRun zero_run(small.make(), {.stage = stage, .micro_batches = kMicro});
        const auto samples = small.samples(torch::kDouble);
        zero_run.step(0, samples);
        zero_run.step(1, samples);
        const auto predicted =
            predict_bytes(zero_run.model(), {.stage = stage}, world().world_size(), kCap, 2);
        const auto whole = predicted.optimizer / 2 * ranks;
        const auto moved = [](const std::vector<ReductionStamp>& stamps) {
            std::int64_t bytes = 0;
            for (const auto& stamp : stamps) bytes += static_cast<std::int64_t>(stamp.bytes);
            return bytes;
        };
        EXPECT_EQ(moved(zero_run.sharded().stamps()), whole * (stage > 1 ? kMicro : 1));
        const auto gathered = moved(zero_run.sharded().gather_stamps());
        if (stage < 3) {
            EXPECT_EQ(gathered, whole);
        } else {
            // Backward keeps forward's last block, and needs no weights of the embedding.
            EXPECT_LT(gathered, 2 * kMicro * whole);
            EXPECT_GT(gathered, kMicro * whole);
        }
        const auto held = zero_run.sharded().held();
        EXPECT_EQ(held.parameters, predicted.parameters);
        EXPECT_EQ(held.gradients, predicted.gradients);
        EXPECT_LE(held.blocks, predicted.blocks) << "stage " << stage;
        std::int64_t state = 0;
        for (const auto& kind : zero_run.optimizer().state())
            for (const auto& tensor : kind.tensors)
                if (kind.name != "step") state += static_cast<std::int64_t>(tensor.nbytes());
        EXPECT_LE(state, predicted.optimizer);
        EXPECT_GE(state + 2 * ranks * 8 * 100, predicted.optimizer) << "without padding";
        zero_run.complete();
    }
}

TEST(Sharding, MakesGradientsWholeForAComparison) {
    for (const int stage : {1, 2, 3}) {
        ShardedRun ddp(make_twice(false), {}), zero_run(make_twice(false), {.stage = stage});
        ddp.step(0, five);
        zero_run.step(0, five);
        zero_run.sharded().complete_gradients();
        zero_run.complete();
        const auto wanted = trained_parameters(ddp.model()),
                   mine = trained_parameters(zero_run.model());
        for (std::size_t i = 0; i < mine.size(); ++i)
            EXPECT_TRUE(torch::allclose(mine[i].grad(), wanted[i].grad(), 1e-12, 1e-15))
                << "stage " << stage << ", parameter " << i;
    }
}

}  // namespace
}  // namespace ranklab::train::sharding
