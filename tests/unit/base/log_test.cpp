// Messages on stderr: one line a message, whatever it quotes.
#include "base/log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ranklab::base {
namespace {

std::string said(const std::string& message) {
    ::testing::internal::CaptureStderr();
    log::error(message);
    return ::testing::internal::GetCapturedStderr();
}

TEST(Log, KeepsWordsOfAllLanguages) {
    EXPECT_EQ(said("there is no file süß-λ-\xF0\x9F\x98\x80.h5"),
              "there is no file süß-λ-\xF0\x9F\x98\x80.h5\n");
}

TEST(Log, QuotesNothingThatATerminalWouldObey) {
    EXPECT_EQ(said("no '\x1b[2J\a' here"), "no ' [2J ' here\n");
    EXPECT_EQ(said("no 'a\nb\r\tc\x7f' here"), "no 'a b  c ' here\n");
    EXPECT_EQ(said("no '\xC2\x9B"
                   "2J' here"),
              "no ' 2J' here\n")
        << "the one-byte form of ESC [";
    EXPECT_EQ(said(std::string("no '\0\xff' here", 12)), "no ' \xEF\xBF\xBD' here\n");
}

}  // namespace
}  // namespace ranklab::base
