// The learning rate's options: what they settle to, refuse and show.
#include "experiments/training/learning_rate.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "experiments/training/options.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using Words = std::vector<std::string>;

options::Options options_of(const Words& words) {
    options::Schema schema;
    describe_training(schema);
    schema.append(vocabulary::common_settings()).fallback("warmup", "0").fallback("global-batch-size", "128");
    return options::Options::parse(schema, words);
}

const LrDefaults kUnet{
    .lr = 2e-4, .schedule = "cosine", .scaling = "sqrt", .base_batch = 32, .warmup_steps = 128};

TEST(LearningRateOptions, NoRateOfTheRunIsBeyondWhatAParameterTakes) {
    train::LrSettings settings{.shape = train::LrShape::cosine,
                               .scaling = train::LrScaling::linear,
                               .lr = 1e38,
                               .global_batch = 64,
                               .base_batch = 1,
                               .warmup_steps = 5,
                               .total_steps = 100};
    EXPECT_THROW(check_rates(settings, 99, 0), base::OptionError) << "it ends at 0, and rises before";
    settings.lr = 1e30;
    EXPECT_NO_THROW(check_rates(settings, 99, 0));
}

TEST(LearningRateOptions, TakeTheModelsDefaultsAndShowThem) {
    auto options = options_of({"--steps", "500", "--warmup", "10"});
    const auto settings = settle_learning_rate(options, kUnet);
    EXPECT_EQ(settings.shape, train::LrShape::cosine);
    EXPECT_EQ(settings.scaling, train::LrScaling::sqrt);
    EXPECT_DOUBLE_EQ(train::LrSchedule(settings).initial(), 4e-4);
    EXPECT_EQ(train::LrSchedule(settings).warmup_steps(), 128);
    EXPECT_EQ(settings.total_steps, 510) << "warm-up steps train too";
    EXPECT_EQ(options.text("lr-scaling"), "sqrt");
    EXPECT_EQ(options.integer("base-batch-size"), 32);
    EXPECT_EQ(options.integer("lr-total-steps"), 510);
    EXPECT_EQ(lr_text(options, settings), "3.125e-06 at the first step, 0.0004 at most, 0 at step 510");
}

TEST(LearningRateOptions, AreTheUsersWhereGiven) {
    auto options =
        options_of({"--epochs", "3", "--lr", "0.5", "--lr-schedule", "step", "--gamma", "0.5", "--lr-scaling",
                    "linear", "--base-batch-size", "64", "--lr-warmup-steps", "4"});
    const auto settings = settle_learning_rate(options, kUnet);
    EXPECT_DOUBLE_EQ(train::LrSchedule(settings).rate(9, 1), 0.5);
    EXPECT_FALSE(options.has("lr-total-steps"));
    EXPECT_EQ(lr_text(options, settings), "0.25 at the first step, 1 from step 4 on, times 0.5 each epoch");
}

TEST(LearningRateOptions, TheTotalIsOfTheRunOrAsPublished) {
    auto corrected = options_of({"--epochs", "12"});
    auto settings = settle_learning_rate(corrected, kUnet);
    EXPECT_EQ(settings.total_steps, 0) << "known when the samples are";
    settle_lr_total(corrected, settings, 1000, 12 * 8);
    EXPECT_EQ(settings.total_steps, 96);
    EXPECT_EQ(corrected.integer("lr-total-steps"), 96);

    auto published = options_of({"--epochs", "12", "--lr-schedule", "cosine-published"});
    settings = settle_learning_rate(published, kUnet);
    settle_lr_total(published, settings, 1000, 12 * 8);
    EXPECT_EQ(settings.total_steps, 12 * 7);

    auto given = options_of({"--epochs", "12", "--lr-total-steps", "5"});
    settings = settle_learning_rate(given, kUnet);
    settle_lr_total(given, settings, 1000, 12 * 8);
    EXPECT_EQ(settings.total_steps, 5);

    auto few = options_of({"--epochs", "12", "--lr-schedule", "cosine-published"});
    settings = settle_learning_rate(few, kUnet);
    EXPECT_THROW(settle_lr_total(few, settings, 100, 12), base::OptionError);
}

TEST(LearningRateOptions, RefuseATotalWithoutACosine) {
    auto options = options_of({"--steps", "5", "--lr-schedule", "none", "--lr-total-steps", "5"});
    static_cast<void>(settle_learning_rate(options, kUnet));
    EXPECT_THROW(options.check_relations(), base::OptionError);
}

TEST(LearningRateOptions, WarnOfARunThatEndsWithinTheWarmup) {
    auto options = options_of({"--steps", "100"});
    const auto settings = settle_learning_rate(options, kUnet);
    EXPECT_NE(lr_warning(settings, 100).find("100 steps end within the 128"), std::string::npos);
    EXPECT_EQ(lr_warning(settings, 128), "");
}

}  // namespace
}  // namespace ranklab::experiments
