#include "data/batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ranklab::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Sample i has the pixels 10 i, 10 i + 1, .. and the label i.
ImageSet small_set() {
    ImageSet set{{1, 2, 2}, 10, {}, {}};
    for (std::uint8_t i = 0; i < 5; ++i) {
        for (std::uint8_t p = 0; p < 4; ++p) set.images.push_back(static_cast<std::uint8_t>(10 * i + p));
        set.labels.push_back(i);
    }
    return set;
}

TEST(GatherBatch, CopiesTheNamedSamplesInTheirOrder) {
    const auto set = small_set();
    Batch batch;
    gather_batch(set, std::vector<std::int64_t>{3, 0, 3}, batch);
    EXPECT_EQ(batch.count(), 3);
    EXPECT_EQ(batch.images, (Bytes{30, 31, 32, 33, 0, 1, 2, 3, 30, 31, 32, 33}));
    EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{3, 0, 3}));
}

TEST(GatherBatch, ReusesItsBuffers) {
    const auto set = small_set();
    Batch batch;
    gather_batch(set, std::vector<std::int64_t>{0, 1, 2, 3, 4}, batch);
    const auto* const before = batch.images.data();
    gather_batch(set, std::vector<std::int64_t>{4}, batch);
    EXPECT_EQ(batch.images, (Bytes{40, 41, 42, 43})) << "nothing of the longer batch is left";
    EXPECT_EQ(batch.images.data(), before);
}

TEST(GatherBatch, MayBeEmpty) {
    Batch batch;
    gather_batch(small_set(), {}, batch);
    EXPECT_EQ(batch.count(), 0);
    EXPECT_TRUE(batch.images.empty());
}

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
