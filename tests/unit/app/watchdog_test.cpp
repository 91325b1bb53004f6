#include "app/watchdog.hpp"

#include <gtest/gtest.h>

namespace ranklab::app {
namespace {

constexpr double kMost = 0.002;

// How many passes of a millisecond a rank whose counter stands still has made when it has stalled;
// 0: none.
int passes_until_stalled(StallRule rule, int most) {
    for (int i = 1; i <= most; ++i)
        if (rule.pass(0.001, 7, kMost)) return i;
    return 0;
}

TEST(StallRule, StalledAfterTheLimitAndNotBefore) {
    // The first look knows no earlier count.
    EXPECT_EQ(passes_until_stalled(StallRule(0.005), 100), 6);
    EXPECT_EQ(passes_until_stalled(StallRule(1e300), 1000), 0);
}

TEST(StallRule, ZeroIsNever) {
    EXPECT_EQ(passes_until_stalled(StallRule(0), 1000), 0);
}

TEST(StallRule, AnyProgressBeginsAnew) {
    StallRule rule(0.005);
    for (int count = 0; count < 50; ++count)
        for (int pass = 0; pass < 5; ++pass) EXPECT_FALSE(rule.pass(0.001, count, kMost)) << count;
    EXPECT_TRUE(rule.pass(0.001, 49, kMost));
}

TEST(StallRule, TimeInWhichThisProcessWasStoppedCountsAsOneLongPass) {
    StallRule rule(0.005);
    EXPECT_FALSE(rule.pass(0.001, 7, kMost));
    EXPECT_FALSE(rule.pass(3600, 7, kMost));
    EXPECT_FALSE(rule.pass(3600, 7, kMost));
    EXPECT_TRUE(rule.pass(0.001, 7, kMost));
}

TEST(TerminalProgress, SaysWhatItIsAtAndHowFar) {
    TerminalProgress progress;
    const auto before = base::progress_count();
    progress.activity("training");
    EXPECT_EQ(progress.doing(), "training");
    progress.update(57, 200, 1, "samples/s", "");
    EXPECT_EQ(progress.doing(), "training, 57 of 200 steps");
    progress.activity("evaluating the test samples");
    EXPECT_EQ(progress.doing(), "evaluating the test samples");
    EXPECT_EQ(base::progress_count(), before + 3);
}

}  // namespace
}  // namespace ranklab::app
