#include "train/lr_schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "base/named.hpp"

namespace ranklab::train {
namespace {

constexpr std::int64_t kSamples = 65536;

// The tutorial's configurations (workloads 5.3): sqrt scaling from 2e-4 at batch 32, 128 steps of
// warm-up, down to 0. Its first epoch makes one step fewer.
struct Published {
    const char* name;
    std::int64_t global_batch, epochs, total, steps;
    // python3 -c "from math import * def lr(i,g,tot):
    //   init=2e-4*sqrt(g/32); return i/128*init if i<128 else
    //   0+0.5*(init-0)*(1+cos(pi*(i-128)/tot))
    // for g,e,n in ((576,12,1367),(2304,48,1391),(9216,96,767)):
    //   r=[lr(i,g,e*(65536//g)) for i in range(1,n+1)]; print(fsum(r), r[0], r[126], r[128],
    //   r[-1]/max(r))"
    double sum, first, before_peak, after_peak, last_over_peak;
};

const Published kPublished[] = {
    {"bs576_opt_sm", 576, 12, 1356, 1367, 0.6290099441071827, 6.629126073623883e-06,
     0.0008418990113502332, 0.0008485269987838764, 0.01825707681809019},
    {"bs2304_opt_sm", 2304, 48, 1344, 1391, 1.2486310550736937, 1.3258252147247766e-05,
     0.0016837980227004663, 0.0016970539567205142, 0.008935389024140483},
    {"bs9216_opt_sm", 9216, 96, 672, 767, 1.3574331093895833, 2.651650429449553e-05,
     0.0033675960454009326, 0.0033940940047031635, 0.005938373944745612},
};

LrSettings settings_of(const Published& config, LrShape shape) {
    return {.shape = shape,
            .scaling = LrScaling::sqrt,
            .lr = 2e-4,
            .end_lr = 0,
            .gamma = 1,
            .global_batch = config.global_batch,
            .base_batch = 32,
            .warmup_steps = 128,
            .total_steps = config.epochs * (kSamples / config.global_batch)};
}

// The formula as it was published, iter from 1, written a second time.
double formula(const LrSettings& s, std::int64_t iter) {
    const double ratio = static_cast<double>(s.global_batch) / static_cast<double>(s.base_batch);
    const double init = s.lr * (s.scaling == LrScaling::sqrt     ? std::sqrt(ratio)
                                : s.scaling == LrScaling::linear ? ratio
                                                                 : 1.0);
    const auto i = static_cast<double>(iter);
    const auto warmup = static_cast<double>(s.warmup_steps);
    const auto total = static_cast<double>(s.total_steps);
    if (s.global_batch > s.base_batch && s.scaling != LrScaling::none) {
        if (iter < s.warmup_steps) return i / warmup * init;
        return s.end_lr + 0.5 * (init - s.end_lr) * (1 + std::cos(M_PI * (i - warmup) / total));
    }
    return s.end_lr + 0.5 * (init - s.end_lr) * (1 + std::cos(M_PI * i / total));
}

TEST(PublishedCosine, IsTheFormulaAtEveryStepOfTheLargeBatches) {
    for (const auto& config : kPublished) {
        const LrSettings settings = settings_of(config, LrShape::cosine_published);
        EXPECT_EQ(settings.total_steps, config.total) << config.name;
        const LrSchedule schedule(settings);
        double sum = 0;
        double last = 0;
        for (std::int64_t iter = 1; iter <= config.steps; ++iter) {
            last = schedule.rate(iter - 1, 0);
            EXPECT_NEAR(last, formula(settings, iter), 1e-15 * schedule.initial())
                << config.name << " " << iter;
            sum += last;
        }
        EXPECT_NEAR(sum, config.sum, 1e-12 * config.sum) << config.name;
        EXPECT_DOUBLE_EQ(schedule.rate(0, 0), config.first) << config.name;
        EXPECT_DOUBLE_EQ(schedule.rate(126, 0), config.before_peak) << config.name;
        EXPECT_DOUBLE_EQ(schedule.rate(127, 0), schedule.initial()) << config.name;
        EXPECT_DOUBLE_EQ(schedule.rate(128, 0), config.after_peak) << config.name;
        EXPECT_NEAR(last / schedule.initial(), config.last_over_peak, 1e-12) << config.name;
    }
}

// The figures that the tutorial's runs end with: the bug that the corrected form does not have.
TEST(PublishedCosine, EndsAboveTheEndRate) {
    const double ratios[] = {0.018, 0.0089, 0.0059};
    const double rounding[] = {0.0005, 0.00005, 0.00005};
    for (int k = 0; k < 3; ++k) {
        const LrSchedule schedule(settings_of(kPublished[k], LrShape::cosine_published));
        const double ratio = schedule.rate(kPublished[k].steps - 1, 0) / schedule.initial();
        EXPECT_NEAR(ratio, ratios[k], rounding[k]) << kPublished[k].name;
    }
}

TEST(PublishedCosine, WarmsUpOnlyAboveTheBaseBatchWhereTheRateIsScaled) {
    LrSettings settings{.shape = LrShape::cosine_published,
                        .scaling = LrScaling::sqrt,
                        .lr = 1,
                        .end_lr = 0.1,
                        .gamma = 1,
                        .global_batch = 32,
                        .base_batch = 32,
                        .warmup_steps = 10,
                        .total_steps = 100};
    for (const std::int64_t batch : {8, 32, 128}) {
        for (const auto scaling : {LrScaling::none, LrScaling::sqrt, LrScaling::linear}) {
            settings.global_batch = batch;
            settings.scaling = scaling;
            const LrSchedule schedule(settings);
            EXPECT_EQ(schedule.warmup_steps(), batch > 32 && scaling != LrScaling::none ? 10 : 0);
            for (std::int64_t iter = 1; iter <= 110; ++iter)
                EXPECT_NEAR(schedule.rate(iter - 1, 0), formula(settings, iter),
                            1e-15 * schedule.initial());
        }
    }
}

TEST(CorrectedCosine, RisesToTheScaledRateAndFallsToTheEndRateAtTheLastStep) {
    for (const auto& config : kPublished) {
        for (const double end : {0.0, 1e-6}) {
            LrSettings settings = settings_of(config, LrShape::cosine);
            settings.end_lr = end;
            settings.total_steps = config.steps;
            const LrSchedule schedule(settings);
            for (std::int64_t made = 1; made < config.steps; ++made) {
                const double change = schedule.rate(made, 0) - schedule.rate(made - 1, 0);
                EXPECT_TRUE(made < 128 ? change > 0 : change < 0) << config.name << " " << made;
            }
            EXPECT_DOUBLE_EQ(schedule.rate(127, 0),
                             2e-4 * std::sqrt(static_cast<double>(config.global_batch) / 32));
            EXPECT_EQ(schedule.rate(config.steps - 1, 0), end) << config.name;
            EXPECT_EQ(schedule.rate(config.steps + 5, 0), end) << "and stays there";
        }
    }
}

TEST(CorrectedCosine, IsHalfWayBetweenInTheMiddle) {
    const LrSchedule schedule({.shape = LrShape::cosine,
                               .scaling = LrScaling::linear,
                               .lr = 1,
                               .end_lr = 1,
                               .gamma = 1,
                               .global_batch = 3,
                               .base_batch = 1,
                               .warmup_steps = 20,
                               .total_steps = 120});
    EXPECT_DOUBLE_EQ(schedule.initial(), 3);
    EXPECT_DOUBLE_EQ(schedule.rate(9, 0), 1.5);   // half of the warm-up
    EXPECT_DOUBLE_EQ(schedule.rate(69, 0), 2.0);  // step 70 of 20 ... 120
}

TEST(CorrectedCosine, AShortRunMayEndWithinTheWarmup) {
    for (const std::int64_t total : {5, 10}) {
        const LrSchedule schedule({.shape = LrShape::cosine,
                                   .scaling = LrScaling::sqrt,
                                   .lr = 1,
                                   .end_lr = 0,
                                   .gamma = 1,
                                   .global_batch = 4,
                                   .base_batch = 1,
                                   .warmup_steps = 10,
                                   .total_steps = total});
        for (std::int64_t made = 0; made < total; ++made)
            EXPECT_DOUBLE_EQ(schedule.rate(made, 0), 0.2 * static_cast<double>(made + 1));
    }
}

TEST(LrSchedule, ConstantAndStepAreScaledAndWarmUpToo) {
    LrSettings settings{.shape = LrShape::none,
                        .scaling = LrScaling::linear,
                        .lr = 0.1,
                        .end_lr = 0,
                        .gamma = 0.5,
                        .global_batch = 256,
                        .base_batch = 64,
                        .warmup_steps = 4,
                        .total_steps = 0};
    const LrSchedule constant(settings);
    settings.shape = LrShape::step;
    const LrSchedule stepped(settings);
    for (std::int64_t made = 0; made < 12; ++made) {
        const double ramp = std::min(1.0, static_cast<double>(made + 1) / 4.0);
        EXPECT_DOUBLE_EQ(constant.rate(made, made / 6), 0.4 * ramp);
        EXPECT_DOUBLE_EQ(stepped.rate(made, made / 6), 0.4 * ramp * (made < 6 ? 1 : 0.5));
    }
    settings.scaling = LrScaling::none;
    EXPECT_DOUBLE_EQ(LrSchedule(settings).rate(0, 3), 0.1 * std::pow(0.5, 3)) << "StepLR as it is";
}

TEST(LrSchedule, RefusesACosineOverNoSteps) {
    LrSettings settings{.shape = LrShape::cosine_published, .lr = 1};
    EXPECT_THROW(LrSchedule{settings}, base::OptionError);
    settings.shape = LrShape::cosine;
    EXPECT_THROW(LrSchedule{settings}, base::OptionError);
}

TEST(LrSchedule, KnowsItsNames) {
    EXPECT_EQ(base::named<LrShape>(kLrShapes, "cosine-published"), LrShape::cosine_published);
    EXPECT_EQ(base::named<LrScaling>(kLrScalings, "linear"), LrScaling::linear);
    for (const auto& name : kLrShapes)
        EXPECT_EQ(is_cosine(base::named<LrShape>(kLrShapes, name).value()), name[0] == 'c');
    EXPECT_EQ(base::named<LrShape>(kLrShapes, "sine"), std::nullopt);
}

}  // namespace
}  // namespace ranklab::train
