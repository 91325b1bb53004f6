#include "base/text.hpp"

#include <gtest/gtest.h>

namespace ranklab::base {
namespace {

TEST(NumberRanges, AreCountedOnce) {
    EXPECT_EQ(numbers_in("0-3,8,2-4"), (std::set<std::size_t>{0, 1, 2, 3, 4, 8}));
    for (const char* text : {"", "unknown", "3-1", "0-", "-", "0-1-2", "0-99999999999"})
        EXPECT_FALSE(numbers_in(text)) << text;
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

}  // namespace
}  // namespace ranklab::base
