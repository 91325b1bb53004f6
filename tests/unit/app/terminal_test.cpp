#include "app/terminal.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "base/wrap.hpp"

namespace ranklab::app {
namespace {

const HowFar kHalf{.done = 50,
                   .total = 100,
                   .noun = "steps",
                   .rate = 1234.4,
                   .rate_unit = "samples/s",
                   .note = "epoch 1 loss 0.4123",
                   .left_s = 86};

TEST(ProgressBar, HasAllOfItWhereThereIsRoom) {
    EXPECT_EQ(progress_text(kHalf), "50/100 steps  1234 samples/s  epoch 1 loss 0.4123  1 min 26 s left");
    EXPECT_EQ(progress_bar(kHalf, 200),
              "[" + std::string(15, '=') + std::string(15, ' ') + "] " + progress_text(kHalf));
}

TEST(ProgressBar, FitsEveryTerminal) {
    auto huge = kHalf;
    huge.done = huge.total = 1'000'000'000'000;
    for (const auto& far : {kHalf, huge})
        for (std::size_t columns = 1; columns < 160; ++columns)
            EXPECT_LE(base::columns_of(progress_bar(far, columns)), columns) << progress_bar(far, columns);
}

TEST(ProgressBar, CutsTheNoteBeforeTheNumbers) {
    const std::string bar = progress_bar(kHalf, 70);
    EXPECT_EQ(bar.substr(0, 27), "[=====     ] 50/100 steps  ") << bar;
    EXPECT_NE(bar.find("... "), std::string::npos) << bar;
    EXPECT_TRUE(bar.ends_with("  1 min 26 s left")) << bar;
}

TEST(ProgressBar, OfNothingToDoIsEmpty) {
    EXPECT_EQ(progress_bar({.done = 0, .total = 0, .rate_unit = "x"}, 80).substr(0, 4), "[   ");
}

using Clock = FinishedLines::Clock;
constexpr Clock::time_point kStart{};

TEST(FinishedLines, OfAScreenAreShownAtOnceAndWipedOff) {
    FinishedLines lines(true, true, std::chrono::seconds(5), kStart);
    EXPECT_EQ(lines.wipe(false, 24), "") << "there was nothing";
    lines.add("one two three", 14);
    EXPECT_EQ(lines.due(kStart), "one two\n    three\n");
    lines.add("four", 10);
    EXPECT_EQ(lines.due(kStart), "four\n");
    EXPECT_EQ(lines.wipe(false, 24), "\r\033[3A\033[J");
    EXPECT_EQ(lines.wipe(false, 24), "") << "they are gone";
}

TEST(FinishedLines, StayWhereOtherWordsCameInBetweenAndWhereTheScreenEnds) {
    FinishedLines lines(true, true, std::chrono::seconds(5), kStart);
    for (const char* line : {"one", "two", "three"}) lines.add(line, 80);
    EXPECT_EQ(lines.due(kStart), "one\ntwo\nthree\n");
    FinishedLines scrolled = lines;
    EXPECT_EQ(lines.wipe(true, 24), "");
    EXPECT_EQ(scrolled.wipe(false, 3), "\r\033[2A\033[J");
}

TEST(FinishedLines, ElsewhereWaitForTheirPaceAndAreLeftOutBeforeTheAnswer) {
    FinishedLines lines(false, false, std::chrono::seconds(5), kStart);
    lines.add("one of more than ten columns", 10);
    EXPECT_EQ(lines.due(kStart + std::chrono::seconds(4)), "");
    EXPECT_EQ(lines.due(kStart + std::chrono::seconds(5)), "one of more than ten columns\n") << "no screen";
    lines.add("two", 80);
    EXPECT_EQ(lines.due(kStart + std::chrono::seconds(9)), "");
    FinishedLines killed = lines;
    EXPECT_EQ(killed.rest(), "two\n") << "no answer follows";
    EXPECT_EQ(lines.wipe(false, 24), "") << "nothing can be taken back";
    lines.answered();
    EXPECT_EQ(lines.rest(), "") << "the answer has it";
}

TEST(FinishedLines, ComeBackWhereTheAnswerDoesNot) {
    for (const bool erasable : {true, false}) {
        FinishedLines lines(erasable, true, std::chrono::seconds(5), kStart);
        lines.add("one", 80);
        EXPECT_EQ(lines.due(kStart), erasable ? "one\n" : "");
        lines.wipe(false, 24);
        EXPECT_EQ(lines.due(kStart + std::chrono::hours(1)), "") << "nothing is drawn into the answer";
        EXPECT_EQ(lines.rest(), "one\n");
        EXPECT_EQ(lines.rest(), "") << "once";
    }
    FinishedLines stayed(true, true, std::chrono::seconds(5), kStart);
    stayed.add("one", 80);
    stayed.due(kStart);
    stayed.wipe(true, 24);
    EXPECT_EQ(stayed.rest(), "") << "it stands there still";
}

TEST(FinishedLines, DoNotWaitOnceTheProcessMayBeEnded) {
    FinishedLines lines(false, false, std::chrono::seconds(5), kStart);
    lines.add("one", 80);
    EXPECT_EQ(lines.due(kStart, false), "");
    EXPECT_EQ(lines.due(kStart, true), "one\n");
}

TEST(FinishedLines, EndWhereADumbTerminalDoes) {
    FinishedLines lines(false, true, std::chrono::seconds(0), kStart);
    lines.add("one two three", 14);
    EXPECT_EQ(lines.due(kStart), "one two\n    three\n");
    EXPECT_EQ(lines.wipe(false, 24), "");
}

}  // namespace
}  // namespace ranklab::app
