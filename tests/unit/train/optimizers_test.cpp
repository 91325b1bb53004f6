// Adam, and what holds for all optimizers' fused forms, and for both --ops.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/error.hpp"
#include "train/optimizer.hpp"

namespace ranklab::train {
namespace {

using Tensors = std::vector<torch::Tensor>;

OptimizerEntry optimizer_named(const std::string& name) {
    for (const auto& entry : optimizers()) {
        if (entry.name == name) return entry;
    }
    throw base::Error("the catalogue lacks " + name);
}

/// Parameters of several shapes, more elements than one thread takes; the last has no gradient
/// before step 3 and none in step 6.
struct Training {
    explicit Training(torch::Dtype dtype) {
        torch::manual_seed(5);
        for (const std::vector<std::int64_t>& shape :
             {std::vector<std::int64_t>{300, 170}, {4, 6, 3, 3}, {7}})
            parameters.push_back(torch::randn(shape, torch::kDouble).to(dtype).requires_grad_());
    }
    void steps(Optimizer& optimizer, int begin, int end) {
        for (int step = begin; step < end; ++step) {
            torch::manual_seed(static_cast<std::uint64_t>(100 + step));
            optimizer.set_lr(0.01 / (1 + step / 4));
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                const auto gradient = torch::randn(parameters[i].sizes(), torch::kDouble)
                                          .mul(std::pow(10.0, static_cast<double>(i) - 1))
                                          .to(parameters[i].scalar_type());
                const bool none = i == 2 && (step < 3 || step == 6);
                parameters[i].mutable_grad() = none ? torch::Tensor() : gradient;
            }
            optimizer.step();
        }
    }
    Tensors parameters;
};

/// The largest difference, relative to the tensor's scale.
double worst(const Tensors& a, const Tensors& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto left = a[i].detach().to(torch::kDouble);
        const auto right = b[i].detach().to(torch::kDouble);
        worst = std::max(worst, ((left - right).abs().max() / right.abs().max()).item<double>());
    }
    return worst;
}

// python3 -c " import torch p=torch.tensor([1.0,-2.0,0.5],dtype=torch.float64,requires_grad=True)
// o=torch.optim.Adam([p],lr=0.5) for k in (1,2,3):
//   p.grad=torch.tensor([0.1,-3.0,0.0],dtype=torch.float64)*(4-k); o.step(); print(p.tolist())"
//   (PyTorch 2.11.0)
constexpr double kAdam[3][3] = {{0.500000016666666, -1.5000000005555556, 0.5},
                                {0.01482397165051541, -1.0148239371418037, 0.5},
                                {-0.43198632034831247, -0.568013625143404, 0.5}};

TEST(Adam, MakesPythonsSteps) {
    for (const bool fused : {false, true}) {
        const auto parameter = torch::tensor({1.0, -2.0, 0.5}, torch::kDouble).requires_grad_();
        const auto optimizer =
            optimizer_named("adam").make({parameter}, {.lr = 0.5, .fused = fused});
        for (int step = 0; step < 3; ++step) {
            parameter.mutable_grad() = torch::tensor({0.1, -3.0, 0.0}, torch::kDouble) * (3 - step);
            optimizer->step();
            for (int i = 0; i < 3; ++i)
                EXPECT_NEAR(parameter.const_data_ptr<double>()[i], kAdam[step][i], 1e-14) << step;
        }
    }
}

// Types that our passes over memory do not know go by LibTorch's operations.
TEST(Adam, TakesSixteenBitParametersToo) {
    Training bf16(torch::kBFloat16);
    const Training start(torch::kBFloat16);
    Training wide(torch::kDouble);
    bf16.steps(*optimizer_named("adam").make(bf16.parameters, {.lr = 0.01}), 0, 2);
    wide.steps(*optimizer_named("adam").make(wide.parameters, {.lr = 0.01}), 0, 2);
    EXPECT_GT(worst(bf16.parameters, start.parameters), 1e-3);
    EXPECT_LE(worst(bf16.parameters, wide.parameters), 1e-2);
}

class OwnStepCount : public ::testing::TestWithParam<nn::Ops> {};
INSTANTIATE_TEST_SUITE_P(Adam, OwnStepCount,
                         ::testing::Values(nn::Ops::ranklab, nn::Ops::libtorch));

TEST_P(OwnStepCount, OfEachParameterIsKept) {
    Training training(torch::kFloat);
    const auto optimizer =
        optimizer_named("adam").make(training.parameters, {.lr = 0.01, .ops = GetParam()});
    training.steps(*optimizer, 0, 8);
    const auto state = optimizer->state();
    ASSERT_EQ(state.at(2).name, "step");
    const double counts[] = {8, 8, 4};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(state[2].tensors[i].item<double>(), counts[i]);
}

TEST(FusedOptimizers, MakeTheSameSteps) {
    int fused_entries = 0;
    for (const auto& entry : optimizers()) {
        if (!entry.has_fused) continue;
        ++fused_entries;
        for (const auto& [dtype, bound] :
             {std::pair{torch::kDouble, 1e-12}, {torch::kFloat, 2e-6}}) {
            for (const double momentum : {0.0, 0.9}) {
                Training plain(dtype);
                Training fused(dtype);
                plain.steps(*entry.make(plain.parameters, {.lr = 0.01, .momentum = momentum}), 0,
                            20);
                fused.steps(*entry.make(fused.parameters,
                                        {.lr = 0.01, .momentum = momentum, .fused = true}),
                            0, 20);
                EXPECT_LE(worst(fused.parameters, plain.parameters), bound)
                    << entry.name << " " << dtype << " momentum " << momentum;
            }
        }
    }
    EXPECT_GE(fused_entries, 2) << "sgd and adam at least";
}

// A checkpoint of one serves the other.
TEST(FusedOptimizers, GoOnFromThePlainOnesStateAndBack) {
    for (const auto& entry : optimizers()) {
        if (!entry.has_fused) continue;
        for (const bool fused_first : {false, true}) {
            Training unbroken(torch::kDouble);
            unbroken.steps(*entry.make(unbroken.parameters, {.lr = 0.01, .momentum = 0.9}), 0, 10);
            Training changed(torch::kDouble);
            const auto first =
                entry.make(changed.parameters, {.lr = 0.01, .momentum = 0.9, .fused = fused_first});
            changed.steps(*first, 0, 5);
            const auto second = entry.make(changed.parameters,
                                           {.lr = 0.01, .momentum = 0.9, .fused = !fused_first});
            second->load_state(first->state());
            changed.steps(*second, 5, 10);
            EXPECT_LE(worst(changed.parameters, unbroken.parameters), 1e-12) << entry.name;
        }
    }
}

TEST(FusedOptimizers, AreRefusedWhereThereIsNoKernel) {
    for (const auto& entry : optimizers()) {
        const Tensors parameters{torch::ones({2}).requires_grad_()};
        if (entry.has_fused) {
            EXPECT_NO_THROW(entry.make(parameters, {.fused = true})) << entry.name;
        } else {
            EXPECT_THROW(entry.make(parameters, {.fused = true}), base::OptionError) << entry.name;
        }
    }
}

// ---- --ops: ours and LibTorch's

constexpr nn::Ops kBoth[] = {nn::Ops::ranklab, nn::Ops::libtorch};

TEST(Ops, BothMakeTheSameSteps) {
    for (const auto& entry : optimizers()) {
        for (const auto& [dtype, bound] :
             {std::pair{torch::kDouble, 1e-12}, {torch::kFloat, 2e-6}}) {
            Training ours(dtype);
            Training theirs(dtype);
            ours.steps(*entry.make(ours.parameters, {.lr = 0.01, .momentum = 0.9}), 0, 20);
            theirs.steps(*entry.make(theirs.parameters,
                                     {.lr = 0.01, .momentum = 0.9, .ops = nn::Ops::libtorch}),
                         0, 20);
            EXPECT_LE(worst(ours.parameters, theirs.parameters), bound)
                << entry.name << " " << dtype;
        }
    }
}

// LibTorch's own class, made here by hand: what `libtorch` is, to the bit.
TEST(Ops, LibTorchsAdamIsItsOwnClass) {
    for (const auto dtype : {torch::kDouble, torch::kFloat}) {
        Training ours(dtype);
        Training theirs(dtype);
        ours.steps(
            *optimizer_named("adam").make(ours.parameters, {.lr = 0.01, .ops = nn::Ops::libtorch}),
            0, 20);
        struct ByHand final : Optimizer {
            explicit ByHand(const Tensors& parameters)
                : adam(parameters, torch::optim::AdamOptions(0.01)) {}
            void step() override { adam.step(); }
            void set_lr(double lr) override { adam.param_groups()[0].options().set_lr(lr); }
            std::vector<OptimizerState> state() override { return {}; }
            void load_state(const std::vector<OptimizerState>&) override {}
            torch::optim::Adam adam;
        } reference(theirs.parameters);
        theirs.steps(reference, 0, 20);
        for (std::size_t i = 0; i < ours.parameters.size(); ++i)
            EXPECT_TRUE(torch::equal(ours.parameters[i], theirs.parameters[i])) << dtype << i;
    }
}

// Both --ops have the same state under the same names. --resume refuses the change all the same.
TEST(Ops, GoOnFromTheOthersState) {
    for (const auto& entry : optimizers()) {
        for (const bool ours_first : {false, true}) {
            Training unbroken(torch::kDouble);
            unbroken.steps(*entry.make(unbroken.parameters, {.lr = 0.01, .momentum = 0.9}), 0, 10);
            Training changed(torch::kDouble);
            const auto made = [&](bool ours) {
                return entry.make(changed.parameters,
                                  {.lr = 0.01, .momentum = 0.9, .ops = kBoth[ours ? 0 : 1]});
            };
            const auto first = made(ours_first);
            changed.steps(*first, 0, 5);
            const auto second = made(!ours_first);
            second->load_state(first->state());
            changed.steps(*second, 5, 10);
            EXPECT_LE(worst(changed.parameters, unbroken.parameters), 1e-12) << entry.name;
        }
    }
}

// A channels-last weight with a row-major gradient, as a bucket hands it back, and the other way
// round.
TEST(Optimizers, PairElementsWhateverTheOrderInMemory) {
    for (const auto& entry : optimizers()) {
        for (const auto& form : {std::pair{false, nn::Ops::ranklab},
                                 {false, nn::Ops::libtorch},
                                 {true, nn::Ops::ranklab}}) {
            const bool fused = form.first;
            const nn::Ops ops = form.second;
            if (fused && !entry.has_fused) continue;
            torch::manual_seed(9);
            const auto start = torch::randn({4, 6, 3, 3}, torch::kDouble);
            const auto gradient = torch::randn({4, 6, 3, 3}, torch::kDouble);
            const auto stepped = [&](c10::MemoryFormat of_parameter,
                                     c10::MemoryFormat of_gradient) {
                const auto p = start.clone().contiguous(of_parameter).requires_grad_();
                const auto optimizer = entry.make(
                    {p}, {.lr = entry.default_lr, .momentum = 0.9, .fused = fused, .ops = ops});
                for (int step = 0; step < 3; ++step) {
                    p.mutable_grad() = (gradient * (step + 1)).contiguous(of_gradient);
                    optimizer->step();
                }
                return p.detach().contiguous();
            };
            const auto rows = c10::MemoryFormat::Contiguous;
            const auto last = c10::MemoryFormat::ChannelsLast;
            const auto expected = stepped(rows, rows);
            EXPECT_GT((expected - start).abs().max().item<double>(), 0) << entry.name;
            for (const auto& [p, g] : {std::pair{last, rows}, {rows, last}, {last, last}})
                EXPECT_LE((stepped(p, g) - expected).abs().max().item<double>(), 1e-14)
                    << entry.name << (fused ? " fused" : "");
        }
    }
}

}  // namespace
}  // namespace ranklab::train
