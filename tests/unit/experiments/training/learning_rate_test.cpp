// The learning rate's options: what they settle to, refuse and show.
#include "experiments/training/options.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "experiments/training/options.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using Words = std::vector<std::string>;

options::Options options_of(const Words& words) {
    options::Schema schema = training_schema();
    schema.append(vocabulary::common_settings())
        .fallback("warmup", "0")
        .fallback("global-batch-size", "128")
        .fallback("lr", "2e-4")  // the U-Net's defaults
        .fallback("lr-schedule", "cosine")
        .fallback("lr-scaling", "sqrt")
        .fallback("gamma", "1")
        .fallback("base-batch-size", "32")
        .fallback("lr-warmup-steps", "128");
    return options::Options::parse(schema, words);
}

struct Settled {
    explicit Settled(const Words& words)
        : options(options_of(words)),
          settings(options.fields<vocabulary::TrainingSettings>()),
          common(options.fields<vocabulary::CommonSettings>()),
          rate(settle_learning_rate(settings, common)) {}

    options::Options options;
    vocabulary::TrainingSettings settings;
    vocabulary::CommonSettings common;
    train::LrSettings rate;
};

TEST(LearningRateOptions, NoRateOfTheRunIsBeyondWhatAParameterTakes) {
    train::LrSettings settings{.shape = train::LrShape::cosine,
                               .scaling = train::LrScaling::linear,
                               .lr = 1e38,
                               .global_batch = 64,
                               .base_batch = 1,
                               .warmup_steps = 5,
                               .total_steps = 100};
    EXPECT_THROW(check_rates(settings, 99, 0), base::OptionError)
        << "it ends at 0, and rises before";
    settings.lr = 1e30;
    EXPECT_NO_THROW(check_rates(settings, 99, 0));
}

TEST(LearningRateOptions, TakeTheModelsDefaultsAndShowThem) {
    const Settled all({"--steps", "500", "--warmup", "10"});
    EXPECT_EQ(all.rate.shape, train::LrShape::cosine);
    EXPECT_EQ(all.rate.scaling, train::LrScaling::sqrt);
    EXPECT_DOUBLE_EQ(train::LrSchedule(all.rate).initial(), 4e-4);
    EXPECT_EQ(train::LrSchedule(all.rate).warmup_steps(), 128);
    EXPECT_EQ(all.rate.total_steps, 510) << "warm-up steps train too";
    EXPECT_EQ(all.settings.lr_scaling, "sqrt");
    EXPECT_EQ(all.settings.base_batch_size, 32);
    EXPECT_EQ(all.settings.lr_total_steps, 510);
    EXPECT_EQ(lr_text(all.rate),
              "3.125e-06 at the first step, 0.0004 from step 128 on, then falls towards 0 until "
              "step 510");
}

TEST(LearningRateOptions, AreTheUsersWhereGiven) {
    const Settled all({"--epochs", "3", "--lr", "0.5", "--lr-schedule", "step", "--gamma", "0.5",
                       "--lr-scaling", "linear", "--base-batch-size", "64", "--lr-warmup-steps",
                       "4"});
    EXPECT_DOUBLE_EQ(train::LrSchedule(all.rate).rate(9, 1), 0.5);
    EXPECT_FALSE(all.settings.lr_total_steps.has_value());
    EXPECT_EQ(lr_text(all.rate), "0.25 at the first step, 1 from step 4 on, times 0.5 each epoch");
}

TEST(LearningRateOptions, TheTotalIsOfTheRunOrAsPublished) {
    const auto total = [](const Words& words, std::int64_t samples, std::int64_t steps) {
        Settled all(words);
        settle_lr_total(all.settings, all.rate, samples, steps);
        EXPECT_EQ(all.settings.lr_total_steps, all.rate.total_steps);
        return all.rate.total_steps;
    };
    EXPECT_EQ(Settled({"--epochs", "12"}).rate.total_steps, 0) << "known when the samples are";
    EXPECT_EQ(total({"--epochs", "12"}, 1000, 96), 96);
    EXPECT_EQ(total({"--epochs", "12", "--lr-schedule", "cosine-published"}, 1000, 96), 12 * 7);
    EXPECT_EQ(total({"--epochs", "12", "--lr-total-steps", "5"}, 1000, 96), 5);
    EXPECT_THROW(total({"--epochs", "12", "--lr-schedule", "cosine-published"}, 100, 12),
                 base::OptionError);
}

TEST(LearningRateOptions, RefuseATotalWithoutACosine) {
    const Settled all({"--steps", "5", "--lr-schedule", "none", "--lr-total-steps", "5"});
    EXPECT_THROW(all.options.check_relations(all.settings, all.common), base::OptionError);
}

TEST(LearningRateOptions, WarnOfARunThatEndsWithinTheWarmup) {
    const auto settings = Settled({"--steps", "100"}).rate;
    EXPECT_NE(lr_warning(settings, 100).find("128"), std::string::npos);
    EXPECT_EQ(lr_warning(settings, 128), "");
}

}  // namespace
}  // namespace ranklab::experiments
