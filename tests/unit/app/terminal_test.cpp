#include "app/terminal.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ranklab::app
