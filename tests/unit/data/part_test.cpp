#include "data/part.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ranklab::data {
namespace {

TEST(PartOf, CoversEachSampleOnceInParts) {
    for (const std::int64_t samples : {0, 1, 2, 5, 10000, 60001}) {
        for (const std::int64_t world : {1, 2, 3, 4, 7}) {
            std::int64_t next = 0;
            std::int64_t smallest = samples;
            std::int64_t largest = 0;
            for (std::int64_t rank = 0; rank < world; ++rank) {
                const auto part = part_of(samples, rank, world);
                EXPECT_EQ(part.begin, next);
                next = part.end;
                smallest = std::min(smallest, part.end - part.begin);
                largest = std::max(largest, part.end - part.begin);
            }
            EXPECT_EQ(next, samples);
            EXPECT_LE(largest - smallest, 1) << samples << " samples on " << world << " ranks";
        }
    }
}

}  // namespace
}  // namespace ranklab::data
