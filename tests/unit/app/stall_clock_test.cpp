#include "app/stall_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ranklab::app {
namespace {

using base::Motion;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Passes of one second until it has stalled; -1 where it has not after `most`.
int passes_until_stalled(StallClock clock, Motion motion, int most) {
    for (int i = 1; i <= most; ++i)
        if (clock.pass(1, motion)) return i;
    return -1;
}

TEST(StallClock, StalledAfterTheLimitAndNotBefore) {
    EXPECT_EQ(passes_until_stalled(StallClock(5, 1), Motion::none, 100), 5);
    EXPECT_EQ(passes_until_stalled(StallClock(5, 1), Motion::seen, 100), -1);
}

TEST(StallClock, WhatIsUnknownGetsTenTimesTheTime) {
    EXPECT_EQ(passes_until_stalled(StallClock(5, 1), Motion::unknown, 100), 50);
}

TEST(StallClock, AnyMotionBeginsAnew) {
    StallClock clock(5, 1);
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 4; ++i) ASSERT_FALSE(clock.pass(1, Motion::none));
        ASSERT_FALSE(clock.pass(1, Motion::seen));
    }
}

TEST(StallClock, TimeInWhichThisProcessWasStoppedDoesNotCount) {
    StallClock clock(300, 1);
    EXPECT_FALSE(clock.pass(86400, Motion::none));
    EXPECT_EQ(passes_until_stalled(clock, Motion::none, 1000), 298);
}

// wait_for(1e10 s) was over at once: its nanoseconds do not fit 64 bits.
TEST(StallClock, AVeryLongLimitIsNeverReached) {
    EXPECT_EQ(passes_until_stalled(StallClock(1e10, 1), Motion::none, 1000), -1);
    EXPECT_EQ(passes_until_stalled(StallClock(1e300, 1), Motion::none, 1000), -1);
}

std::string name_of(int rank) {
    return "rank " + std::to_string(rank) + " on node";
}

TEST(StallSentence, OneRankSaysWhatItDoes) {
    EXPECT_EQ(stall_sentence(300, 0, "reading data", std::nullopt),
              "no progress for 300 s while reading data; the job is ended (--stall-timeout)");
}

TEST(StallSentence, NamesTheRankThatDoesNotAnswerAndWhereTheOthersAre) {
    comm::Standing others;
    others.silent.add(1, name_of(1));
    others.add_activity("training", comm::RankRanges(2));
    others.add_activity("reading data", comm::RankRanges(3));
    const auto text = stall_sentence(3, 0, "training", others);
    EXPECT_THAT(text, AllOf(HasSubstr("3 s"), HasSubstr("rank 1 on node does not answer"),
                            HasSubstr("ranks 0,2: training"), HasSubstr("rank 3: reading data")));
    EXPECT_THAT(text, Not(HasSubstr("nothing is known")));
}

TEST(StallSentence, AllThatAnswerWait) {
    comm::Standing others;
    others.add_activity("evaluating", comm::RankRanges(1));
    const auto text = stall_sentence(3, 0, "training", others);
    EXPECT_THAT(text, AllOf(HasSubstr("rank 1: evaluating"), Not(HasSubstr("does not answer"))));
}

TEST(StallSentence, SaysOfWhomNothingIsKnownAndStaysShort) {
    comm::Standing others;
    for (int rank = 1; rank < 1024; ++rank)
        (rank % 2 == 0 ? others.silent : others.unknown).add(rank, name_of(rank));
    const auto text = stall_sentence(3, 0, "training", others);
    EXPECT_THAT(text, AllOf(HasSubstr("rank 1 on node"), HasSubstr("508 more")));
    EXPECT_LT(text.size(), 500U);
}

}  // namespace
}  // namespace ranklab::app
