#include "app/terminal.hpp"

#include <gtest/gtest.h>

#include "base/terminal.hpp"

namespace ranklab::app {
namespace {

const ProgressState kHalf{.done = 50,
                          .total = 100,
                          .noun = "steps",
                          .rate = 1234.4,
                          .rate_unit = "samples/s",
                          .note = "epoch 1 loss 0.4123",
                          .left_s = 86};

TEST(ProgressBar, HasAllOfItWhereThereIsRoom) {
    EXPECT_EQ(progress_text(kHalf),
              "50/100 steps  1234 samples/s  epoch 1 loss 0.4123  1 min 26 s left");
    EXPECT_EQ(progress_bar(kHalf, 200),
              "[" + std::string(15, '=') + std::string(15, ' ') + "] " + progress_text(kHalf));
}

TEST(ProgressBar, FitsEveryTerminal) {
    auto huge = kHalf;
    huge.done = huge.total = 1'000'000'000'000;
    for (const auto& far : {kHalf, huge})
        for (std::size_t columns = 1; columns < 160; ++columns)
            EXPECT_LE(base::columns_of(progress_bar(far, columns)), columns)
                << progress_bar(far, columns);
}

TEST(ProgressBar, OfNothingToDoIsEmpty) {
    EXPECT_EQ(progress_bar({.done = 0, .total = 0, .rate_unit = "x"}, 80).substr(0, 4), "[   ");
}

using std::chrono::seconds;

TimeLeft::Clock::time_point at(int s) {
    return TimeLeft::Clock::time_point(seconds(1000 + s));
}

TEST(TimeLeft, NothingIsKnownBeforeASecondUnit) {
    TimeLeft left;
    left.begin_anew_if(0, at(0));
    EXPECT_FALSE(left.seconds(0, 100, at(60))) << "no unit yet";
    left.begin_anew_if(1, at(60));
    EXPECT_FALSE(left.seconds(1, 22, at(60))) << "it said: 0 s left";
}

TEST(TimeLeft, IsThatOfTheUnitsAfterTheFirst) {
    TimeLeft left;
    left.begin_anew_if(1, at(60));
    left.begin_anew_if(5, at(68));
    EXPECT_EQ(left.seconds(5, 22, at(68)), 2.0 * 17);
    EXPECT_EQ(left.seconds(22, 22, at(90)), 0.0);
}

// Several rungs of io count one after another, and a resumed run begins in the middle.
TEST(TimeLeft, ACountThatBeginsAnewForgetsTheOneBefore) {
    TimeLeft left;
    left.begin_anew_if(200, at(0));
    EXPECT_FALSE(left.seconds(200, 300, at(0))) << "the first that is seen";
    left.begin_anew_if(4, at(600));
    EXPECT_FALSE(left.seconds(4, 200, at(600))) << "it said: 10 min 39 s left";
    left.begin_anew_if(8, at(602));
    EXPECT_EQ(left.seconds(8, 200, at(602)), 0.5 * 192);
}

}  // namespace
}  // namespace ranklab::app
