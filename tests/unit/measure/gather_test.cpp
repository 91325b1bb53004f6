#include "measure/gather.hpp"

#include <gtest/gtest.h>

namespace ranklab::measure {
namespace {

using Values = std::vector<double>;

// Two ranks, three steps.
const RankSamples kSamples{2, {1, 4, 6, 2, 3, 3}};

TEST(RankSamples, StandRowByRow) {
    EXPECT_EQ(kSamples.rows(), 3U);
    EXPECT_EQ(kSamples.at(1, 0), 6);
}

TEST(RankSamples, FoldsOverRows) {
    const auto means = kSamples.mean_over_rows();
    ASSERT_EQ(means.size(), 2U);
    EXPECT_DOUBLE_EQ(means[0], 10.0 / 3);
    EXPECT_DOUBLE_EQ(means[1], 3);
}

TEST(RankSamples, TakesARangeOfRows) {
    const auto last = kSamples.rows_from(1, 3);
    EXPECT_EQ(last.ranks, 2U);
    EXPECT_EQ(last.values, (Values{6, 2, 3, 3}));
    EXPECT_EQ(kSamples.rows_from(1, 1).rows(), 0U);
}

TEST(RankSamples, OfNothing) {
    const RankSamples nothing{3, {}};
    EXPECT_EQ(nothing.rows(), 0U);
    EXPECT_EQ(nothing.mean_over_rows(), (Values{0, 0, 0}));
}

}  // namespace
}  // namespace ranklab::measure
