#include "base/text.hpp"

#include <gtest/gtest.h>

namespace ranklab::base {
namespace {

TEST(OneLine, KeepsLettersAndNothingThatSteers) {
    EXPECT_EQ(one_line("größer 🚀 é"), "größer 🚀 é");
    EXPECT_EQ(one_line("a\x1b[31mb\nc\rd\x7f"), "a [31mb c d ");
    EXPECT_EQ(one_line("a\u009b31m\u00a0"), "a 31m\u00a0") << "C1, and the first letter behind it";
    EXPECT_EQ(one_line("a\x9b!"), "a\uFFFD!") << "a bare byte of C1";
    EXPECT_EQ(one_line("a\u202Eb\u2066c\u2028d\u200Fe\u2010"), "a b c d e\u2010");
    EXPECT_EQ(one_line(""), "");
}

}  // namespace
}  // namespace ranklab::base
