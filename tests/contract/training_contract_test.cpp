// Every model does what nn/model.hpp says, and every optimizer what train/optimizer.hpp says.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/error.hpp"
#include "contract_names.hpp"
#include "data/dataset.hpp"
#include "nn/model.hpp"
#include "nn/outline.hpp"
#include "small_model.hpp"
#include "train/optimizer.hpp"

namespace ranklab::nn {

ModelEntry template_tokens_entry();

RANKLAB_PRINTED_BY_NAME(ModelEntry)

namespace {

std::vector<ModelEntry> all_models() {
    auto all = models();
    // Of language models of one family the small ones.
    std::erase_if(all, [](const auto& entry) {
        return entry.flops &&
               outline_of(entry, testing::small_config(entry)).parameters > 5'000'000;
    });
    all.push_back(template_tokens_entry());
    return all;
}

TEST(Models, HaveGoodNames) {
    ranklab::testing::expect_good_names(models());
}

class EachModel : public ::testing::TestWithParam<ModelEntry> {
  protected:
    std::shared_ptr<nn::Model> make(std::uint64_t seed, bool dropout = true,
                                    torch::Dtype dtype = torch::kFloat) const {
        torch::manual_seed(seed);
        auto config = config_;
        config.dropout = dropout;
        auto model = GetParam().make(config);
        model->to(dtype);
        return model;
    }
    torch::Tensor inputs(std::int64_t count, torch::Dtype dtype = torch::kFloat) const {
        return testing::small_inputs(config_.input, count, dtype);
    }
    torch::Tensor targets(std::int64_t count, torch::Dtype dtype = torch::kFloat) const {
        return testing::small_targets(config_.input, count, dtype);
    }

    const ModelConfig config_ = testing::small_config(GetParam());
    // A volume holds much by itself.
    const std::int64_t several_ = config_.input.is_volume() ? 2 : 8;
};

INSTANTIATE_TEST_SUITE_P(Catalogue, EachModel, ::testing::ValuesIn(all_models()),
                         ranklab::testing::test_name<ModelEntry>);

bool same_parameters(const nn::Model& a, const nn::Model& b) {
    const auto left = a.named_parameters();
    const auto right = b.named_parameters();
    if (left.keys() != right.keys()) return false;
    return std::all_of(left.begin(), left.end(), [&](const auto& item) {
        return torch::equal(item.value(), right[item.key()]);
    });
}

TEST_P(EachModel, ScoresEachClassOrTellsAFieldOfEachSample) {
    const auto model = make(1);
    const auto& in = config_.input;
    for (const std::int64_t count : {1, 3}) {
        const auto scores = model->forward(inputs(count));
        auto sizes = in.target_sizes();
        if (in.classifies()) sizes.insert(sizes.begin(), in.classes);
        EXPECT_EQ(scores.sizes(), testing::batch_of(count, sizes));
        EXPECT_TRUE(torch::isfinite(scores).all().item<bool>());
    }
}

TEST_P(EachModel, HasAFiniteScalarLoss) {
    const auto model = make(1);
    const auto loss = model->loss(model->forward(inputs(5)), targets(5));
    EXPECT_EQ(loss.dim(), 0);
    EXPECT_TRUE(std::isfinite(loss.item<double>()));
    EXPECT_GT(loss.item<double>(), 0);
}

// Ranks weight their loss by their share of the global batch: right only if it is the mean over
// samples.
TEST_P(EachModel, TheLossIsTheMeanOverSamples) {
    const auto model = make(1, false, torch::kDouble);
    model->eval();
    const auto batch = inputs(6, torch::kDouble);
    const auto all = targets(6, torch::kDouble);
    const auto loss_of = [&](std::int64_t begin, std::int64_t end) {
        return model->loss(model->forward(batch.slice(0, begin, end)), all.slice(0, begin, end))
            .item<double>();
    };
    const double whole = loss_of(0, 6);
    EXPECT_NEAR(whole, (loss_of(0, 2) * 2 + loss_of(2, 6) * 4) / 6, 1e-12 * std::max(1.0, whole));
}

TEST_P(EachModel, EveryParameterGetsAGradient) {
    const auto model = make(1);
    model->train();
    model->loss(model->forward(inputs(several_)), targets(several_)).backward();
    for (const auto& item : model->named_parameters()) {
        const auto gradient = item.value().grad();
        EXPECT_TRUE(gradient.defined()) << item.key();
        if (!gradient.defined()) continue;
        EXPECT_TRUE(torch::isfinite(gradient).all().item<bool>()) << item.key();
        EXPECT_GT(gradient.abs().max().item<double>(), 0) << item.key();
    }
}

TEST_P(EachModel, IsDeterministicInEval) {
    const auto model = make(1);
    model->eval();
    const torch::NoGradGuard no_gradients;
    const auto batch = inputs(4);
    EXPECT_TRUE(torch::equal(model->forward(batch), model->forward(batch)));
}

TEST_P(EachModel, IsDeterministicInTrainingWithoutDropout) {
    const auto model = make(1, false);
    model->train();
    const auto batch = inputs(4);
    EXPECT_TRUE(torch::equal(model->forward(batch), model->forward(batch)));
}

TEST_P(EachModel, ASeedGivesItsWeights) {
    EXPECT_TRUE(same_parameters(*make(1), *make(1)));
    EXPECT_FALSE(same_parameters(*make(1), *make(2)));
    EXPECT_TRUE(same_parameters(*make(1), *make(1, false))) << "dropout has no part in the weights";
}

TEST_P(EachModel, ComputesInDoubleToo) {
    const auto model = make(1, false, torch::kDouble);
    const auto scores = model->forward(inputs(2, torch::kDouble));
    EXPECT_EQ(scores.scalar_type(), torch::kDouble);
    const auto single = make(1, false)->forward(inputs(2));
    // A deep network's 150 layers make more of the rounding of each.
    const double allowed = model->parameters().size() > 100 ? 1e-2 : 1e-3;
    EXPECT_LT((scores - single.to(torch::kDouble)).abs().max().item<double>(), allowed);
}

// A step against the gradient makes the loss smaller: the sign and the scale of the loss are right.
TEST_P(EachModel, Learns) {
    const auto model = make(1, false, torch::kDouble);
    const auto batch = inputs(several_, torch::kDouble);
    double first = 0;
    double last = 0;
    for (int step = 0; step < 5; ++step) {
        const auto loss = model->loss(model->forward(batch), targets(several_, torch::kDouble));
        last = loss.item<double>();
        if (step == 0) first = last;
        model->zero_grad();
        loss.backward();
        const torch::NoGradGuard no_gradients;
        for (auto& parameter : model->parameters()) parameter.sub_(parameter.grad(), 0.01);
    }
    EXPECT_LT(last, first);
}

TEST_P(EachModel, NamesDefaultsThatExist) {
    const auto& defaults = GetParam().defaults;
    const auto has = [](const auto& catalogue, const std::string& name) {
        return std::any_of(catalogue.begin(), catalogue.end(),
                           [&](const auto& entry) { return entry.name == name; });
    };
    EXPECT_TRUE(has(train::optimizers(), defaults.optimizer)) << defaults.optimizer;
    EXPECT_TRUE(has(data::sources(), defaults.data)) << defaults.data;
    const std::set<std::string> schedules{"none", "step", "cosine"};
    EXPECT_TRUE(schedules.count(defaults.lr_schedule) == 1) << defaults.lr_schedule;
    EXPECT_GT(defaults.lr, 0);
    EXPECT_GT(defaults.gamma, 0);
    EXPECT_GE(defaults.batch_size, 1);
}

TEST_P(EachModel, CountsItsParameters) {
    const auto model = make(1);
    std::int64_t count = 0;
    for (const auto& parameter : model->parameters()) count += parameter.numel();
    EXPECT_EQ(parameter_count(*model), count);
    EXPECT_GT(count, 0);
    EXPECT_EQ(outline_of(GetParam(), config_).parameters, count);
}

// Counts of the whole networks: of published ones as published, of others as their summaries say.
TEST_P(EachModel, HasTheParametersItIsKnownFor) {
    const std::map<std::string, std::int64_t> known{{"mnist-cnn", 1199882}, {"bn-cnn", 5282},
                                                    {"wide-mlp", 36818954}, {"resnet18", 11227812},
                                                    {"resnet50", 23712932}, {"resnet152", 58348708},
                                                    {"unet3d", 116977029}};
    const auto entry = known.find(GetParam().name);
    const auto outline = outline_of(GetParam(), {.input = GetParam().input});
    EXPECT_GT(outline.parameters, 0);
    if (entry != known.end()) {
        EXPECT_EQ(outline.parameters, entry->second);
    }
}

// Told from an empty batch, and from one that is computed.
TEST_P(EachModel, CountsItsWork) {
    const auto model = make(1);
    const auto of_two = forward_flops(*model, inputs(2));
    EXPECT_GT(of_two, 0);
    EXPECT_EQ(outline_of(GetParam(), config_).forward_flops, of_two);
    EXPECT_TRUE(model->is_training()) << "as it was";
}

TEST_P(EachModel, IsOutlinedWithoutRandomNumbers) {
    torch::manual_seed(5);
    const auto expected = torch::rand({3});
    torch::manual_seed(5);
    outline_of(GetParam(), {.input = GetParam().input});
    EXPECT_TRUE(torch::equal(torch::rand({3}), expected));
    const auto weights = make(1)->parameters();
    EXPECT_TRUE(std::any_of(weights.begin(), weights.end(), [](const auto& weight) {
        return weight.abs().max().template item<double>() > 0;
    })) << "a model made afterwards is initialised again";
}

}  // namespace
}  // namespace ranklab::nn

namespace ranklab::train {

RANKLAB_PRINTED_BY_NAME(OptimizerEntry)

namespace {

TEST(Optimizers, HaveGoodNames) {
    ranklab::testing::expect_good_names(optimizers());
}

class EachOptimizer : public ::testing::TestWithParam<OptimizerEntry> {};

INSTANTIATE_TEST_SUITE_P(Catalogue, EachOptimizer, ::testing::ValuesIn(optimizers()),
                         ranklab::testing::test_name<OptimizerEntry>);

/// Makes steps on |p - target|^2 from a start 0.1 away, and returns the last p.
torch::Tensor descend(const OptimizerEntry& entry, double momentum, int steps, torch::Dtype dtype) {
    const auto target = torch::linspace(-1, 1, 5, dtype);
    const auto p = (target + 0.1).requires_grad_();
    const auto optimizer = entry.make({p}, {.lr = entry.default_lr, .momentum = momentum});
    for (int step = 0; step < steps; ++step) {
        p.mutable_grad() = 2 * (p.detach() - target);
        optimizer->step();
    }
    return (p.detach() - target).abs().max();
}

TEST_P(EachOptimizer, DescendsAQuadraticAtItsDefaultRate) {
    for (const auto dtype : {torch::kFloat, torch::kDouble}) {
        EXPECT_LT(descend(GetParam(), 0, 300, dtype).item<double>(), 0.05);
        EXPECT_LT(descend(GetParam(), 0, 1, dtype).item<double>(), 0.1) << "from the first step on";
    }
}

TEST_P(EachOptimizer, MakesTheSameStepsEachTime) {
    EXPECT_TRUE(torch::equal(descend(GetParam(), 0.5, 20, torch::kFloat),
                             descend(GetParam(), 0.5, 20, torch::kFloat)));
}

TEST_P(EachOptimizer, StandsStillAtRateZero) {
    const auto p = torch::linspace(-1, 1, 5).requires_grad_();
    const auto optimizer = GetParam().make({p}, {.lr = GetParam().default_lr, .momentum = 0.9});
    p.mutable_grad() = torch::ones({5});
    optimizer->step();
    const auto before = p.detach().clone();
    optimizer->set_lr(0);
    optimizer->step();
    EXPECT_TRUE(torch::equal(p.detach(), before));
    optimizer->set_lr(GetParam().default_lr);
    optimizer->step();
    EXPECT_FALSE(torch::equal(p.detach(), before)) << "and moves again";
}

TEST_P(EachOptimizer, LeavesAParameterWithoutGradientAlone) {
    const auto with = torch::ones({2}).requires_grad_();
    const auto without = torch::ones({2}).requires_grad_();
    const auto optimizer = GetParam().make({without, with}, {.lr = GetParam().default_lr});
    with.mutable_grad() = torch::ones({2});
    optimizer->step();
    EXPECT_TRUE(torch::equal(without.detach(), torch::ones({2})));
    EXPECT_FALSE(torch::equal(with.detach(), torch::ones({2})));
}

/// Three parameters under one optimizer; the last gets no gradient before step kLateFrom, the usual
/// reason for state that is not there yet.
struct Trained {
    static constexpr int kLateFrom = 4;

    Trained(const OptimizerEntry& entry, torch::Dtype dtype, double momentum) {
        torch::manual_seed(3);
        for (const std::int64_t size : {7, 20000, 3})
            parameters.push_back(torch::randn({size, 1}, dtype).requires_grad_());
        optimizer = entry.make(parameters, {.lr = entry.default_lr, .momentum = momentum});
    }
    void steps(int begin, int end) {
        for (int step = begin; step < end; ++step) {
            torch::manual_seed(static_cast<std::uint64_t>(100 + step));
            for (std::size_t i = 0; i < parameters.size(); ++i) {
                const auto gradient = torch::randn_like(parameters[i].detach());
                if (i < 2 || step >= kLateFrom) parameters[i].mutable_grad() = gradient;
            }
            optimizer->step();
        }
    }
    /// Copies of all tensors, as a file would keep them.
    std::vector<OptimizerState> copy_of_state() const {
        auto state = optimizer->state();
        for (auto& kind : state) {
            for (auto& tensor : kind.tensors)
                tensor = tensor.defined() ? tensor.detach().clone() : tensor;
        }
        return state;
    }
    void take_parameters(const Trained& other) {
        const torch::NoGradGuard no_gradients;
        for (std::size_t i = 0; i < parameters.size(); ++i)
            parameters[i].copy_(other.parameters[i]);
    }

    std::vector<torch::Tensor> parameters;
    std::unique_ptr<Optimizer> optimizer;
};

bool same_bytes(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](const auto& left, const auto& right) {
            if (left.defined() != right.defined()) return false;
            return !left.defined() ||
                   (left.nbytes() == right.nbytes() &&
                    std::memcmp(left.contiguous().const_data_ptr(),
                                right.contiguous().const_data_ptr(), left.nbytes()) == 0);
        });
}

// The one that loaded must not notice that there was another before it: same bits, whenever the
// break was.
TEST_P(EachOptimizer, GoesOnBitByBitFromASavedState) {
    for (const auto dtype : {torch::kFloat, torch::kDouble}) {
        for (const double momentum : {0.0, 0.9}) {
            for (const int stop : {0, 1, 3, 5}) {
                Trained unbroken(GetParam(), dtype, momentum);
                unbroken.steps(0, stop);
                Trained resumed(GetParam(), dtype, momentum);
                resumed.take_parameters(unbroken);
                resumed.optimizer->load_state(unbroken.copy_of_state());
                unbroken.steps(stop, 8);
                resumed.steps(stop, 8);
                EXPECT_TRUE(same_bytes(resumed.parameters, unbroken.parameters))
                    << "momentum " << momentum << ", stopped after " << stop;
                const auto left = resumed.copy_of_state();
                const auto right = unbroken.copy_of_state();
                ASSERT_EQ(left.size(), right.size());
                for (std::size_t k = 0; k < left.size(); ++k)
                    EXPECT_TRUE(same_bytes(left[k].tensors, right[k].tensors)) << left[k].name;
            }
        }
    }
}

TEST_P(EachOptimizer, KeepsNothingOfWhatItHadBeforeALoad) {
    Trained fresh(GetParam(), torch::kFloat, 0.9);
    Trained used(GetParam(), torch::kFloat, 0.9);
    used.steps(0, 6);
    used.optimizer->load_state(fresh.copy_of_state());
    used.take_parameters(fresh);
    for (auto* one : {&fresh, &used}) {
        for (auto& parameter : one->parameters) parameter.mutable_grad() = torch::Tensor();
        one->steps(0, 3);
    }
    EXPECT_TRUE(same_bytes(used.parameters, fresh.parameters));
}

TEST_P(EachOptimizer, LoadsACopy) {
    Trained one(GetParam(), torch::kFloat, 0.9);
    one.steps(0, 5);
    Trained other(GetParam(), torch::kFloat, 0.9);
    other.optimizer->load_state(one.optimizer->state());  // the live tensors
    const auto before = other.copy_of_state();
    one.steps(5, 6);
    const auto after = other.copy_of_state();
    for (std::size_t k = 0; k < before.size(); ++k)
        EXPECT_TRUE(same_bytes(before[k].tensors, after[k].tensors)) << before[k].name;
}

TEST_P(EachOptimizer, NamesItsStateInGoodOrder) {
    Trained trained(GetParam(), torch::kFloat, 0.9);
    trained.steps(0, 5);
    std::set<std::string> names;
    for (const auto& kind : trained.optimizer->state()) {
        EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " is there twice";
        EXPECT_FALSE(kind.name.empty() || kind.name.find_first_of("/.") != std::string::npos)
            << kind.name;
        EXPECT_EQ(kind.tensors.size(), trained.parameters.size()) << kind.name;
    }
}

TEST_P(EachOptimizer, RefusesAStateOfAnotherKindAndChangesNothing) {
    Trained trained(GetParam(), torch::kFloat, 0.9);
    trained.steps(0, 5);
    const auto good = trained.copy_of_state();
    std::vector<std::vector<OptimizerState>> wrong{good};
    wrong.back().push_back({"something else", std::vector<torch::Tensor>(3)});
    for (std::size_t k = 0; k < good.size(); ++k) {
        wrong.emplace_back(good)[k].name += "x";
        wrong.emplace_back(good)[k].tensors.pop_back();
        wrong.emplace_back(good)[k].tensors[0] = torch::zeros({8, 1});
        wrong.emplace_back(good)[k].tensors[0] = torch::zeros({7, 1}, torch::kDouble);
    }
    for (const auto& state : wrong)
        EXPECT_THROW(trained.optimizer->load_state(state), base::DataError);
    const auto after = trained.copy_of_state();
    for (std::size_t k = 0; k < good.size(); ++k)
        EXPECT_TRUE(same_bytes(good[k].tensors, after[k].tensors)) << good[k].name;
}

}  // namespace
}  // namespace ranklab::train
