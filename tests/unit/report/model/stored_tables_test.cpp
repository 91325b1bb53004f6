#include "report/model/values.hpp"

#include <gtest/gtest.h>

#include "results/run.hpp"

namespace ranklab::report::model {
namespace {

// The ends of an interval belong to the column of their unit, or of their name and unit.
TEST(StoredTables, JoinIntervalsWithTheirColumns) {
    const Frame frame = frame_of(results::Table{"any",
                                                {{"steps", std::vector<std::int64_t>{3}},
                                                 {"alpha_us", std::vector<double>{2}},
                                                 {"alpha_low_us", std::vector<double>{1}},
                                                 {"time_s", std::vector<double>{5}},
                                                 {"low_s", std::vector<double>{4}},
                                                 {"high_s", std::vector<double>{6}}}});
    ASSERT_EQ(frame.columns.size(), 3U);
    EXPECT_FALSE(frame.columns[0].interval);
    EXPECT_EQ(frame.at(0, "alpha_us").interval.low, 1);
    EXPECT_EQ(frame.at(0, "time_s").interval.low, 4);
    EXPECT_EQ(frame.at(0, "time_s").interval.high, 6);
}

}  // namespace
}  // namespace ranklab::report::model
