#include "base/numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ranklab::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(NumberRanges, AreCountedOnce) {
    EXPECT_EQ(count_of(ranges_in("0-3,8,2-4").value()), 6U);
    for (const char* text : {"", "unknown", "3-1", "0-", "-", "0-1-2", "99999999999999999999"})
        EXPECT_FALSE(ranges_in(text)) << text;
}

TEST(NumberRanges, TooManyAreCounted) {
    EXPECT_EQ(few_ranges({}), "");
    EXPECT_EQ(few_ranges({7}), "7");
    EXPECT_EQ(few_ranges({0, 1, 2, 8}), "0-2,8");
    std::vector<int> every_second;
    for (int i = 0; i < 10000; i += 2) every_second.push_back(i);
    EXPECT_EQ(few_ranges(every_second, 3), "0,2,4,... (5000 in all)");
    EXPECT_EQ(few_ranges({0, 1, 3, 4, 6}, 3), "0-1,3-4,6") << "as many as may be";
    EXPECT_EQ(few_ranges({0, 1, 3, 4, 6, 8}, 2), "0-1,3-4,... (6 in all)");
}

TEST(NumberRanges, ThatShareANumberAreConnected) {
    EXPECT_THAT(connected({}), IsEmpty());
    EXPECT_THAT(connected({{{0, 1}}, {{0, 1}}, {{2, 5}}}),
                UnorderedElementsAre(ElementsAre(0, 1), ElementsAre(2)));
    EXPECT_THAT(connected({{{0, 9}}, {{1, 2}}, {{9, 10}}, {{11, 11}}}),
                UnorderedElementsAre(ElementsAre(0, 1, 2), ElementsAre(3)))
        << "a short one between";
    EXPECT_THAT(connected({{{0, 0}, {4, 4}}, {{1, 3}}, {{4, 5}, {7, 7}}, {{7, 8}}}),
                UnorderedElementsAre(ElementsAre(0, 2, 3), ElementsAre(1)))
        << "through others";
}

}  // namespace
}  // namespace ranklab::base
