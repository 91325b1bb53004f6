// The learning rate's options and the sweep's: what they settle to, refuse and show.
#include "experiments/training/learning_rate.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "experiments/training/batch_sweep.hpp"
#include "experiments/training/options.hpp"
#include "experiments/training/training.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using Words = std::vector<std::string>;

options::Options options_of(const Words& words) {
    options::Schema schema;
    describe_training(schema);
    schema.append(vocabulary::common_settings()).fallback("warmup", "0").fallback("global-batch-size", "128");
    schema.several(Training().several());
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

TEST(BatchSweep, IsEachBatchWithEachScaling) {
    EXPECT_TRUE(sweep_variants(options_of({}), 64).empty());
    const auto variants = sweep_variants(
        options_of({"--sweep-global-batch", "32,512", "--sweep-lr-scaling", "none,linear"}), 64);
    ASSERT_EQ(variants.size(), 4U);
    EXPECT_EQ(variants[3].options, (std::vector<std::pair<std::string, std::string>>{
                                       {"global-batch-size", "512"}, {"lr-scaling", "linear"}}));
    EXPECT_EQ(sweep_variants(options_of({"--sweep-lr-scaling", "sqrt"}), 64).front().options.size(), 1U);
    auto options = options_of({"--sweep-global-batch", "32,512"});
    options.choose("global-batch-size", "32");
    EXPECT_EQ(options.integer("global-batch-size"), 32);
    EXPECT_TRUE(options.is_set("global-batch-size"));
    EXPECT_THROW(options.choose("global-batch-size", "0"), base::OptionError);
}

TEST(RankLadder, IsEachNumberOfRanksWithItsPartOfTheBatch) {
    using Settings = std::vector<std::pair<std::string, std::string>>;
    const auto strong = sweep_variants(options_of({"--ranks", "2,4", "--scaling", "strong"}), 64);
    ASSERT_EQ(strong.size(), 2U);
    EXPECT_EQ(strong[0].options, (Settings{{"ranks", "2"}, {"batch-size", "64"}}));
    EXPECT_EQ(strong[1].options, (Settings{{"ranks", "4"}, {"batch-size", "32"}}));
    EXPECT_EQ(strong[1].ranks, 4);
    const auto weak = sweep_variants(options_of({"--ranks", "1,3", "--spread"}), 64);
    ASSERT_EQ(weak.size(), 2U);
    EXPECT_EQ(weak[1].options, (Settings{{"ranks", "3"}})) << "each rank keeps its batch";
    EXPECT_TRUE(weak[1].spread);
    const auto shared = sweep_variants(options_of({"--ranks", "1,3", "--global-batch-size", "30"}), 64);
    EXPECT_EQ(shared[1].options, (Settings{{"ranks", "3"}})) << "the batch is said";
    EXPECT_EQ(sweep_variants(options_of({"--ranks", "2"}), 64).size(), 1U) << "the others sleep";
    EXPECT_EQ(sweep_variants(options_of({"--ranks", "1,2", "--batch-size", "8,16", "--repetitions", "3"}), 64)
                  .size(),
              12U);
}

TEST(RankLadder, RefusesABatchThatCannotBeShared) {
    for (const Words& words : {Words{"--ranks", "2,3", "--scaling", "strong", "--batch-size", "4"},
                               {"--ranks", "1,2", "--scaling", "strong", "--batch-size", "4,8"},
                               {"--ranks", "1,2", "--scaling", "weak", "--global-batch-size", "8"},
                               {"--ranks", "1,2", "--checkpoint", "c"}})
        EXPECT_THROW(static_cast<void>(sweep_variants(options_of(words), 64)), base::OptionError) << words[3];
}

TEST(BatchSweep, RefusesWhatIsNoListAndWhatRunsCannotShare) {
    for (const Words& words : {Words{"--sweep-global-batch", "32,"},
                               {"--sweep-global-batch", "32;64"},
                               {"--sweep-global-batch", "0"},
                               {"--sweep-lr-scaling", "none,,sqrt"},
                               {"--sweep-global-batch", "8", "--checkpoint", "c"},
                               {"--sweep-lr-scaling", "sqrt", "--save-parameters", "p"}})
        EXPECT_THROW(static_cast<void>(sweep_variants(options_of(words), 64)), base::OptionError) << words[1];
}

TEST(BatchSweep, PutsTheRunsBesideEachOther) {
    results::Run run;
    run.id = "a";
    run.config = {{"global-batch-size", "32", true}, {"lr-scaling", "sqrt"}};
    results::Measurement rate;
    rate.name = "learning_rate";
    rate.summary.max = 0.25;
    run.measurements = {rate};
    run.tables = {{"epochs",
                   {{"steps", std::vector<std::int64_t>{3, 2}},
                    {"samples", std::vector<std::int64_t>{90, 60}},
                    {"time_s", std::vector<double>{1.5, 1}},
                    {"train_loss", std::vector<double>{4, 3}},
                    {"validation_loss", std::vector<double>{5, 2}}}}};
    results::Run failed;
    failed.id = "b";
    failed.valid = false;
    const auto table = sweep_table({run, failed});
    using Counts = std::vector<std::int64_t>;
    const auto* batch = table.find<std::string>("global_batch");
    const auto* rates = table.find<double>("highest_lr");
    const auto* steps = table.find<std::int64_t>("steps");
    const auto* samples = table.find<std::int64_t>("samples");
    ASSERT_TRUE(batch && rates && steps && samples);
    EXPECT_EQ(*batch, (Words{"32", ""}));
    EXPECT_EQ(rates->front(), 0.25);
    EXPECT_EQ(*steps, (Counts{5, 0}));
    EXPECT_EQ(samples->front(), 150);
    const auto* time = table.find<double>("time_s");
    const auto* loss = table.find<double>("last_train_loss");
    const auto* validation = table.find<double>("last_validation_loss");
    const auto* valid = table.find<std::string>("valid");
    ASSERT_TRUE(time && loss && validation && valid);
    EXPECT_EQ(time->front(), 2.5);
    EXPECT_EQ(loss->front(), 3);
    EXPECT_EQ(validation->front(), 2);
    EXPECT_EQ(*valid, (Words{"yes", "NO"}));
}

TEST(BatchSweep, RepetitionsAndSyncsAreVariantsToo) {
    const auto variants =
        sweep_variants(options_of({"--sync", "flat,bucketed,flat", "--repetitions", "3"}), 64);
    ASSERT_EQ(variants.size(), 6U);
    EXPECT_EQ(variants[0].round, 0);
    EXPECT_EQ(variants[3].round, 1);
    EXPECT_EQ(variants[3].options.front().second, "bucketed");
    EXPECT_TRUE(sweep_variants(options_of({"--sync", "flat"}), 64).empty());
    EXPECT_TRUE(sweep_variants(options_of({"--repetitions", "1"}), 64).empty());
    EXPECT_TRUE(sweep_variants(options_of({"--repetitions", "3", "--ablation"}), 64).empty()) << "its own";
    EXPECT_THROW(chosen_syncs(options_of({"--sync", "flat,flta"}), {"none", "flat"}), base::OptionError);
}

TEST(BatchSweep, RepetitionsAreSummedUpByVariant) {
    std::vector<results::Run> runs;
    for (const double step : {3.0, 1.0, 2.0}) {
        for (const char* sync : {"flat", "bucketed"}) {
            results::Run run;
            run.config = {
                {"sync", sync, false}, {"global-batch-size", "8", true}, {"lr-scaling", "none", false}};
            results::Measurement time;
            time.name = "step_time_s";
            time.summary.median = step;
            run.measurements = {time};
            runs.push_back(std::move(run));
        }
    }
    runs.back().valid = false;
    const auto table = repetitions_table(runs);
    ASSERT_EQ(table.columns.size(), 6U);
    EXPECT_EQ(*table.find<std::string>("variant"),
              (Words{"flat, global batch 8", "bucketed, global batch 8"}));
    EXPECT_EQ(*table.find<std::int64_t>("n"), (std::vector<std::int64_t>{3, 2})) << "valid runs";
    EXPECT_EQ(*table.find<double>("step_time_s"), (std::vector<double>{2, 2}));
    runs.resize(2);
    EXPECT_TRUE(repetitions_table(runs).columns.empty()) << "nothing was repeated";
}

}  // namespace
}  // namespace ranklab::experiments
