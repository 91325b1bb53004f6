#include "results/event_file.hpp"

#include <gtest/gtest.h>

namespace ranklab::results {
namespace {

// The CRC-32C of "123456789" is 0xe3069283.
TEST(EventFile, MasksTheChecksum) {
    EXPECT_EQ(masked_crc32c("123456789"), 0xc78ab0e5U);
}

}  // namespace
}  // namespace ranklab::results
