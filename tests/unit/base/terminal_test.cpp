#include "base/terminal.hpp"

#include <gtest/gtest.h>

namespace ranklab::base {
namespace {

TEST(Wrapped, BreaksBetweenWordsAndIndents) {
    EXPECT_EQ(wrapped("  a  ", "one two three", 12), "  a  one two\n     three\n");
    EXPECT_EQ(wrapped("  a  ", "one two three", 80), "  a  one two three\n");
    EXPECT_EQ(wrapped("", "", 80), "\n");
}

TEST(Wrapped, KeepsAWordThatIsLongerThanALine) {
    EXPECT_EQ(wrapped("- ", "abcdefghijkl m", 8), "- abcdefghijkl\n  m\n");
}

TEST(Wrapped, CountsLettersNotBytes) {
    EXPECT_EQ(columns_of("\u00e4\u00f6\u00fc"), 3U);
    EXPECT_EQ(wrapped("", "\u00e4\u00f6 \u00fc\u00df", 5), "\u00e4\u00f6 \u00fc\u00df\n");
}

TEST(Shortened, EndsInDotsWhereItIsTooLong) {
    EXPECT_EQ(shortened("abcdef", 6), "abcdef");
    EXPECT_EQ(shortened("abcdefg", 6), "abc...");
    EXPECT_EQ(shortened("\u00e4\u00e4\u00e4\u00e4\u00e4", 4), "\u00e4...");
    EXPECT_EQ(shortened("abc", 2), "..");
}

}  // namespace
}  // namespace ranklab::base
