#include "base/numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ranklab::base {
namespace {

TEST(NumberIn, IsTheWholeTextOrNothing) {
    EXPECT_EQ(number_in("0.5"), 0.5);
    EXPECT_EQ(number_in("-1e-3"), -1e-3);
    EXPECT_EQ(number_in<std::int64_t>("12"), 12);
    for (const char* text : {"", " 1", "1 ", "1x", "x", "1,5", "0x10"})
        EXPECT_EQ(number_in(text), std::nullopt) << text;
    EXPECT_EQ(number_in<std::int64_t>("1.5"), std::nullopt);
}

TEST(PercentageIn, WantsItsSign) {
    EXPECT_EQ(percentage_in("2%"), 2);
    EXPECT_EQ(percentage_in("2.5 %"), 2.5);
    for (const char* text : {"", "%", "2", "0.02", "2%%", "x%"})
        EXPECT_EQ(percentage_in(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ranklab::base
