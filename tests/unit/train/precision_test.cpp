// Ways to compute a step: precisions, loss scaling, memory formats, traced graphs. In one file:
// LibTorch's headers cost many seconds.
#include "train/precision.hpp"

#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "base/error.hpp"
#include "base/named.hpp"
#include "base/pack.hpp"
#include "measure/samples.hpp"
#include "thrown_sentence.hpp"
#include "train/graph_trainer.hpp"
#include "train/replicas.hpp"
#include "train/tensor_view.hpp"
#include "train/traced_model.hpp"
#include "train/trainer.hpp"

namespace ranklab::train {
namespace {

using Tensors = std::vector<torch::Tensor>;
using ranklab::tests::thrown_sentence;
using ::testing::HasSubstr;

nn::ModelEntry model_named(const std::string& name) {
    for (const auto& entry : nn::models()) {
        if (entry.name == name) return entry;
    }
    throw base::Error("the catalogue lacks " + name);
}

/// A model that leaves its way to say what its arithmetic was: y = x w^T, loss mean(y).
class Product final : public nn::Model {
  public:
    Product() {
        weight = register_parameter("weight", torch::full({3, 4}, 1.0 + 1.0 / 1024));
        register_buffer("steps", torch::zeros({1}));
        linear = register_module("linear", torch::nn::Linear(3, 2));
    }
    torch::Tensor forward(const torch::Tensor& input) override {
        type = torch::nn::functional::linear(input, weight).scalar_type();
        return linear->forward(torch::nn::functional::linear(input, weight));
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override {
        return output.mean();
    }
    torch::Tensor weight;
    torch::nn::Linear linear{nullptr};
    torch::Dtype type = torch::kInt;
};

// ---- precision

TEST(Precision, HasNamesAndAParameterType) {
    EXPECT_EQ(base::named<Precision>(kPrecisions, "bf16"), Precision::bf16);
    EXPECT_EQ(base::named<Precision>(kPrecisions, "fp8"), std::nullopt);
    EXPECT_EQ(parameter_type(Precision::fp16), torch::kFloat) << "parameters stay in 32 bits";
    EXPECT_EQ(parameter_type(Precision::fp64), torch::kDouble);
}

TEST(Precision, AutocastIsOnInForwardAlone) {
    for (const auto& [precision, type] : {std::pair{Precision::bf16, torch::kBFloat16},
                                          {Precision::fp16, torch::kHalf},
                                          {Precision::fp32, torch::kFloat}}) {
        const auto product = std::make_shared<Product>();
        const auto model = in_precision(product, precision, torch::kCPU);
        const auto output = model->forward(torch::ones({5, 4}));
        EXPECT_EQ(product->type, type);
        EXPECT_EQ(output.scalar_type(), type);
        model->loss(output, {}).backward();
        EXPECT_EQ(product->weight.scalar_type(), torch::kFloat);
        EXPECT_EQ(product->weight.grad().scalar_type(), torch::kFloat);
        EXPECT_FALSE(at::autocast::is_autocast_enabled(torch::kCPU));
        EXPECT_EQ(torch::matmul(torch::ones({2, 2}), torch::ones({2, 2})).scalar_type(),
                  torch::kFloat);
    }
}

// A cast that outlived its forward would be the parameter's old value.
TEST(Precision, SeesParametersThatChanged) {
    const auto product = std::make_shared<Product>();
    const auto model = in_precision(product, Precision::bf16, torch::kCPU);
    const auto before = model->forward(torch::ones({1, 4})).detach();
    {
        const torch::NoGradGuard no_gradients;
        product->weight.add_(1);
    }
    EXPECT_FALSE(torch::equal(model->forward(torch::ones({1, 4})).detach(), before));
}

TEST(DecoratedModel, HasTheParametersUnderTheirNames) {
    const auto product = std::make_shared<Product>();
    const auto model = in_precision(product, Precision::bf16, torch::kCPU);
    const auto names = [](const nn::Model& m) {
        std::vector<std::string> all;
        for (const auto& item : m.named_parameters()) all.push_back(item.key());
        for (const auto& item : m.named_buffers()) all.push_back(item.key());
        return all;
    };
    EXPECT_EQ(names(*model), names(*product));
    for (std::size_t i = 0; i < model->parameters().size(); ++i)
        EXPECT_TRUE(model->parameters()[i].is_same(product->parameters()[i]));
    model->eval();
    EXPECT_FALSE(product->is_training());
    EXPECT_FALSE(product->linear->is_training());
    model->train();
    EXPECT_TRUE(product->is_training());
    model->to(torch::kDouble);
    EXPECT_EQ(product->weight.scalar_type(), torch::kDouble);
}

// ---- loss scaling

class CountingOptimizer final : public Optimizer {
  public:
    void step() override { ++steps; }
    void set_lr(double) override {}
    std::vector<OptimizerState> state() override { return {}; }
    void load_state(const std::vector<OptimizerState>&) override {}
    int steps = 0;
};

TEST(GradScaler, UnscalesWhatItScaled) {
    const auto w = torch::tensor({2.0F, 3.0F}).requires_grad_();
    GradScaler scaler;
    CountingOptimizer optimizer;
    scaler.scaled((w * w).sum()).backward();
    EXPECT_FLOAT_EQ(w.grad()[0].item<float>(), 4.0F * 65536);
    EXPECT_TRUE(scaler.step({w}, optimizer));
    EXPECT_TRUE(torch::equal(w.grad(), torch::tensor({4.0F, 6.0F}))) << w.grad();
    EXPECT_EQ(optimizer.steps, 1);
}

TEST(GradScaler, SkipsAStepThatIsNotFiniteAndBacksOff) {
    for (const float bad : {INFINITY, -INFINITY, NAN}) {
        const auto w = torch::ones({2}).requires_grad_();
        const auto unused = torch::ones({2}).requires_grad_();
        GradScaler scaler({.init_scale = 8, .growth_interval = 3});
        CountingOptimizer optimizer;
        w.mutable_grad() = torch::tensor({1.0F, bad});
        EXPECT_FALSE(scaler.step({unused, w}, optimizer));
        EXPECT_EQ(optimizer.steps, 0);
        EXPECT_EQ(scaler.scale(), 4);
        EXPECT_EQ(scaler.skipped(), 1);
        for (int k = 0; k < 3; ++k) {
            w.mutable_grad() = torch::ones({2});
            EXPECT_TRUE(scaler.step({unused, w}, optimizer));
            EXPECT_EQ(scaler.growth_tracker(), k == 2 ? 0 : k + 1);
        }
        EXPECT_EQ(scaler.scale(), 8) << "grown after three in a row";
    }
}

TEST(GradScaler, DoesNotGrowBeyondWhatAFloatHolds) {
    const auto w = torch::ones({1}).requires_grad_();
    GradScaler scaler({.init_scale = 2e38, .growth_interval = 1});
    CountingOptimizer optimizer;
    w.mutable_grad() = torch::ones({1});
    scaler.step({w}, optimizer);
    EXPECT_FLOAT_EQ(static_cast<float>(scaler.scale()), 2e38F);
}

TEST(GradScaler, GoesOnFromItsState) {
    const auto w = torch::ones({1}).requires_grad_();
    GradScaler first({.init_scale = 3.3, .growth_interval = 4});
    GradScaler second({.growth_interval = 4});
    CountingOptimizer optimizer;
    const auto step = [&](GradScaler& scaler, float gradient) {
        w.mutable_grad() = torch::full({1}, gradient);
        scaler.step({w}, optimizer);
    };
    for (const float gradient : {1.0F, INFINITY, 1.0F, 1.0F}) step(first, gradient);
    second.load(first.save());
    for (const float gradient : {1.0F, 1.0F, INFINITY, 1.0F}) {
        step(first, gradient);
        step(second, gradient);
        EXPECT_EQ(first.scale(), second.scale());
        EXPECT_EQ(first.growth_tracker(), second.growth_tracker());
        EXPECT_EQ(first.skipped(), second.skipped());
    }
    using State = std::array<double, 3>;
    for (const State& bad :
         {State{-1, 0, 0}, State{0, 0, 0}, State{INFINITY, 0, 0}, State{1, -1, 0}})
        EXPECT_THROW(second.load(base::packed(bad)), base::DataError) << bad[0];
    for (const auto& bad : {std::string(), first.save() + "x"})
        EXPECT_THROW(second.load(bad), base::DataError) << bad.size();
}

/// y = w x, whose gradient is what the image holds: inf at will.
class Weight final : public nn::Model {
  public:
    Weight() { weight = register_parameter("weight", torch::ones({1})); }
    torch::Tensor forward(const torch::Tensor& images) override {
        return images.flatten(1) * weight;
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override {
        return output.mean();
    }
    torch::Tensor weight;
};

TensorBatch constant_batch(float value) {
    return {torch::full({2, 1, 1, 1}, value), torch::zeros({2}, torch::kLong)};
}

std::unique_ptr<Optimizer> make_optimizer(const nn::Model& model, double lr, double momentum = 0) {
    for (const auto& entry : optimizers()) {
        if (entry.name == "sgd")
            return entry.make(trained_parameters(model), {.lr = lr, .momentum = momentum});
    }
    throw base::Error("the catalogue lacks sgd");
}

class NoSum final : public GradientSync {
  public:
    void attach(Tensors parameters) override { parameters_ = std::move(parameters); }
    void begin_step(const Tensors&, bool) override {
        if (fresh_) drop_gradients(parameters_);
        fresh_ = false;
    }
    void finish() override { fresh_ = true; }
    const std::vector<ReductionStamp>& stamps() const override { return stamps_; }
    BucketPlan buckets() const override { return {}; }

  private:
    Tensors parameters_;
    std::vector<ReductionStamp> stamps_;
    bool fresh_ = true;
};

TEST(TrainerWithScaler, MakesTheStepOfAnUnscaledOneAndTellsASkippedOne) {
    Weight model;
    NoSum sync;
    const auto optimizer = make_optimizer(model, 0.5);
    measure::PhaseRecorder phases;
    GradScaler scaler;
    Trainer trainer(model, sync, *optimizer, phases, nullptr, &scaler);
    EXPECT_FLOAT_EQ(static_cast<float>(trainer.train_step(constant_batch(0.5F), 1.0)), 0.5F)
        << "the loss that is reported is not scaled";
    EXPECT_FLOAT_EQ(model.weight.item<float>(), 0.75F);
    // Accumulated: the sum of two halves, unscaled once.
    trainer.accumulate(constant_batch(0.25F), 0.5, false);
    trainer.accumulate(constant_batch(0.75F), 0.5, true);
    EXPECT_TRUE(trainer.update());
    EXPECT_FLOAT_EQ(model.weight.item<float>(), 0.5F);
    trainer.accumulate(constant_batch(1e35F), 1.0, true);  // finite, but not times the scale
    EXPECT_FALSE(trainer.update());
    EXPECT_FLOAT_EQ(model.weight.item<float>(), 0.5F) << "a skipped step changes nothing";
    EXPECT_EQ(scaler.skipped(), 1);
}

TEST(DataParallelWithScaler, MakesTheStepsOfTheTrainer) {
    const auto entry = model_named("bn-cnn");
    const auto images = torch::randn({8, 1, 28, 28});
    const TensorBatch batch{images, torch::arange(8).remainder(10)};
    const auto make = [&] {
        torch::manual_seed(3);
        return in_precision(entry.make({.input = entry.input}), Precision::fp16, torch::kCPU);
    };
    const auto model = make();
    const auto optimizer = make_optimizer(*model, 0.1);
    measure::PhaseRecorder phases;
    GradScaler scaler({.init_scale = 1024, .growth_interval = 2});
    ReplicaSetup setup;
    setup.devices = {torch::kCPU, torch::kCPU};
    setup.make = [&make](torch::Device) { return make(); };
    DataParallel replicas(*model, setup, *optimizer, phases, &scaler);
    const auto before = hash_of(model->parameters());
    const double first = replicas.train_step(batch, 1.0);
    EXPECT_NE(hash_of(model->parameters()), before);
    double last = first;
    for (int step = 0; step < 5; ++step) last = replicas.train_step(batch, 1.0);
    EXPECT_LT(last, first);
    EXPECT_EQ(scaler.scale(), 8192) << "three times grown: no step was skipped";
}

/// Its gradient is a zero in 16 bits, unless the loss is scaled.
class FaintModel final : public nn::Model {
  public:
    FaintModel() { linear_ = register_module("linear", torch::nn::Linear(4, 2)); }
    torch::Tensor forward(const torch::Tensor& input) override { return linear_->forward(input); }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override {
        return output.mean() * 1e-7;
    }

  private:
    torch::nn::Linear linear_{nullptr};
};

TEST(GateScale, KeepsAFaintGradientFromBecomingZeroInTheReplicasCheck) {
    for (const auto& [precision, scale] :
         {std::pair{Precision::fp16, 1024.0}, {Precision::bf16, 1.0}, {Precision::fp32, 1.0}}) {
        EXPECT_EQ(gate_scale(precision), scale);
        const auto make = [&, kind = precision] {
            torch::manual_seed(3);
            return in_precision(std::make_shared<FaintModel>(), kind, torch::kCPU);
        };
        const auto model = make();
        const auto optimizer = make_optimizer(*model, 0.1);
        measure::PhaseRecorder phases;
        ReplicaSetup setup;
        setup.devices = {torch::kCPU, torch::kCPU};
        setup.make = [&make](torch::Device) { return make(); };
        DataParallel replicas(*model, setup, *optimizer, phases);
        const auto check = check_replicas(
            replicas, {torch::ones({2, 4}), torch::zeros({2}, torch::kLong)}, precision);
        EXPECT_TRUE(check.passed) << check.detail;
        // sqrt(2 (4 + 1)) 5e-8, of the loss, not of the scaled one.
        EXPECT_THAT(check.detail, ::testing::ContainsRegex("norm 1\\.[56][0-9]?e-07"));
    }
}

// ---- graphs

/// A graph without a device: what was captured is done at each replay, on the host.
class HostGraph final : public StepGraph {
  public:
    explicit HostGraph(int& replays) : replays_(replays) {}
    void capture(const std::function<void()>& work) override { work_ = work; }
    void replay() override {
        ++replays_;
        const at::AutoGradMode with_gradients(true);
        work_();
    }

  private:
    std::function<void()> work_;
    int& replays_;
};

TEST(GraphTrainer, MakesTheTrainersStepsAndReplaysWhereItCan) {
    const auto entry = model_named("bn-cnn");
    const auto run = [&](bool with_graph, bool with_scaler, int& replays) {
        torch::manual_seed(4);
        const auto model = entry.make({.input = entry.input});
        model->to(torch::kDouble);
        NoSum sync;
        const auto optimizer = make_optimizer(*model, 0.05, 0.9);
        measure::PhaseRecorder phases;
        GradScaler scaler({.init_scale = 512, .growth_interval = 4});
        GradScaler* const used = with_scaler ? &scaler : nullptr;
        std::unique_ptr<Stepper> stepper;
        if (with_graph)
            stepper = std::make_unique<GraphTrainer>(
                *model, sync, *optimizer, phases, nullptr, used,
                [&] { return std::make_unique<HostGraph>(replays); });
        else
            stepper = std::make_unique<Trainer>(*model, sync, *optimizer, phases, nullptr, used);
        std::vector<double> losses;
        for (int step = 0; step < 16; ++step) {
            // Two micro-batches a step; in one step the second is smaller, and in another one
            // empty.
            const std::int64_t second = step == 13 ? 2 : step == 14 ? 0 : 5;
            const std::int64_t counts[] = {5, second};
            for (const int micro : {0, 1}) {
                const std::int64_t count = counts[micro];
                const TensorBatch batch{torch::randn({count, 1, 28, 28}, torch::kDouble),
                                        torch::arange(count)};
                const auto loss =
                    stepper->accumulate(batch, static_cast<double>(count) / 10, micro == 1);
                losses.push_back(loss.defined() ? loss.item<double>() : -1);
            }
            stepper->update();
        }
        losses.push_back(static_cast<double>(hash_of(model->parameters()) >> 40U));
        return losses;
    };
    for (const bool with_scaler : {false, true}) {
        int replays = 0;
        int none = 0;
        EXPECT_EQ(run(true, with_scaler, replays), run(false, with_scaler, none));
        EXPECT_EQ(replays, 2 * (16 - kStepsBeforeCapture) - 2)
            << "all after the warm-up but the odd two";
        EXPECT_EQ(none, 0);
    }
}

// ---- channels last

struct Trajectory {
    std::vector<double> losses;
    std::uint64_t hash = 0;
};

/// A model's sizes that compute fast: narrow, and a volume of the smallest edge.
nn::ModelConfig small(const nn::ModelEntry& entry) {
    nn::ModelConfig config{.input = entry.input};
    const bool deep = entry.name.starts_with("resnet") || entry.name == "unet3d";
    if (deep) config.width = 16;
    if (entry.name.starts_with("resnet")) config.input.height = config.input.width = 32;
    if (config.input.is_volume()) {
        config.input.depth = config.input.height = config.input.width = 32;
        config.full_scale = false;
    }
    return config;
}

/// SGD steps on one random batch.
Trajectory train(nn::Model& model, const nn::ModelEntry& entry, torch::Dtype type, bool last,
                 int steps = 4) {
    torch::manual_seed(11);
    const auto input = small(entry).input;
    const std::int64_t count = input.is_volume() ? 1 : 8;
    const auto of_batch = [count](std::vector<std::int64_t> sizes) {
        sizes.insert(sizes.begin(), count);
        return sizes;
    };
    TensorBatch batch{torch::randn(of_batch(input.input_sizes()), type), torch::arange(count)};
    if (!input.classifies()) batch.targets = torch::rand(of_batch(input.target_sizes()), type);
    if (last) batch.input = channels_last(batch.input);
    NoSum sync;
    const auto optimizer = make_optimizer(model, 0.05, 0.9);
    measure::PhaseRecorder phases;
    Trainer trainer(model, sync, *optimizer, phases);
    model.train();
    Trajectory result;
    for (int step = 0; step < steps; ++step)
        result.losses.push_back(trainer.train_step(batch, 1.0));
    result.hash = hash_of(model.parameters());
    return result;
}

std::shared_ptr<nn::Model> make(const nn::ModelEntry& entry, torch::Dtype type, bool dropout) {
    torch::manual_seed(5);
    auto config = small(entry);
    config.dropout = dropout;
    auto model = entry.make(config);
    model->to(type);
    return model;
}

TEST(ChannelsLast, ChangesWhereNotWhat) {
    const auto x = torch::randn({2, 3, 4, 5});
    EXPECT_TRUE(channels_last(x).is_contiguous(torch::MemoryFormat::ChannelsLast));
    EXPECT_TRUE(torch::equal(channels_last(x), x));
    EXPECT_TRUE(channels_last(torch::randn({2, 3, 4, 5, 6}))
                    .is_contiguous(torch::MemoryFormat::ChannelsLast3d));
    const auto matrix = torch::randn({2, 3});
    EXPECT_TRUE(channels_last(matrix).is_same(matrix));
    EXPECT_TRUE(torch::equal(viewed_as(in_memory_order(channels_last(x)), channels_last(x)), x));
}

TEST(ChannelsLast, TrainsToTheSameLosses) {
    for (const char* name : {"mnist-cnn", "bn-cnn", "resnet18", "resnet50", "unet3d"}) {
        const auto entry = model_named(name);
        const auto plain = make(entry, torch::kDouble, false);
        const auto other = make(entry, torch::kDouble, false);
        const auto hash = hash_of(other->parameters());
        use_channels_last(*other);
        EXPECT_EQ(hash_of(other->parameters()), hash) << "a hash is of values, not of their places";
        bool differs = false;
        for (const auto& parameter : other->parameters()) differs |= !parameter.is_contiguous();
        EXPECT_TRUE(differs) << name;
        // Deep networks amplify roundings from step to step.
        const int steps = entry.name == "resnet50" ? 2 : 4;
        const auto expected = train(*plain, entry, torch::kDouble, false, steps);
        const auto losses = train(*other, entry, torch::kDouble, true, steps).losses;
        for (std::size_t step = 0; step < losses.size(); ++step)
            EXPECT_NEAR(losses[step], expected.losses[step], 1e-9 * expected.losses[step])
                << name << step;
    }
}

// Every optimizer of the catalogue: one that walks through memory must not mix two orders.
TEST(ChannelsLast, OptimizersStepAlike) {
    for (const auto& entry : optimizers()) {
        const auto initial = torch::randn({4, 3, 2, 2}, torch::kDouble);
        const auto plain = initial.clone().requires_grad_();
        const auto other = channels_last(initial).clone().requires_grad_();
        const auto one = entry.make({plain}, {.lr = 0.1, .momentum = 0.9});
        const auto two = entry.make({other}, {.lr = 0.1, .momentum = 0.9});
        for (int step = 0; step < 3; ++step) {
            const auto gradient = torch::randn({4, 3, 2, 2}, torch::kDouble);
            plain.mutable_grad() = gradient.clone();
            // Once as backward leaves it in its parameter's order, once in the other.
            other.mutable_grad() = step == 1 ? gradient.clone() : channels_last(gradient).clone();
            one->step();
            two->step();
        }
        EXPECT_TRUE(torch::allclose(plain.detach(), other.detach(), 1e-12, 1e-14)) << entry.name;
    }
}

// ---- traced

TEST(TracedModel, MakesTheLossesOfTheModel) {
    for (const char* name : {"mnist-cnn", "bn-cnn", "template-softmax", "resnet18", "unet3d"}) {
        const auto entry = model_named(name);
        const bool deep = small(entry).width > 1;  // slow, and without dropout
        const int steps = deep ? 3 : 6;
        for (const bool dropout : {false, true}) {
            if (deep && dropout) continue;
            const auto plain = make(entry, torch::kDouble, dropout);
            TracedModel traced(make(entry, torch::kDouble, dropout));
            const auto expected = train(*plain, entry, torch::kDouble, false, steps);
            const auto losses = train(traced, entry, torch::kDouble, false, steps).losses;
            for (std::size_t step = 0; step < losses.size(); ++step)
                EXPECT_NEAR(losses[step], expected.losses[step], 1e-9 * expected.losses[step])
                    << name << " step " << step << " dropout " << dropout;
            const auto buffers = traced.buffers();
            for (std::size_t i = 0; i < buffers.size(); ++i)
                EXPECT_TRUE(torch::allclose(buffers[i].to(torch::kDouble),
                                            plain->buffers()[i].to(torch::kDouble), 1e-9))
                    << name << ": running statistics";
        }
    }
}

TEST(TracedModel, EvaluatesAsTheModelDoes) {
    const auto entry = model_named("bn-cnn");
    const auto plain = make(entry, torch::kDouble, true);
    TracedModel traced(make(entry, torch::kDouble, true));
    const auto x = torch::randn({3, 1, 28, 28}, torch::kDouble);
    plain->eval();
    traced.eval();
    EXPECT_TRUE(torch::equal(traced.forward(x), plain->forward(x)));
}

/// It computes beside LibTorch's operations, so that a trace does not see it.
class Hidden final : public nn::Model {
  public:
    Hidden() { weight = register_parameter("weight", torch::ones({4})); }
    torch::Tensor forward(const torch::Tensor& x) override {
        const auto out = torch::zeros({x.size(0), 4});
        for (std::int64_t i = 0; i < out.numel(); ++i) out.mutable_data_ptr<float>()[i] = 7;
        return out * weight;
    }
    torch::Tensor loss(const torch::Tensor& output, const torch::Tensor&) const override {
        return output.mean();
    }
    torch::Tensor weight;
};

TEST(TracedModel, RefusesAModelThatItsTraceIsNot) {
    TracedModel traced(std::make_shared<Hidden>());
    EXPECT_THAT(thrown_sentence<base::OptionError>([&] {
                    traced.forward(torch::ones({2, 4}));
                }),
                ::testing::AllOf(HasSubstr("another output"), HasSubstr("--jit")));
}

}  // namespace
}  // namespace ranklab::train
