#include "report/model/values.hpp"

#include <gtest/gtest.h>

#include "results/run.hpp"
#include "unit/report/outputs.hpp"

namespace ranklab::report::model {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;

results::Run run_with(results::Rows rows) {
    results::Run run;
    run.tables.push_back(std::move(rows).table());
    return run;
}

// Two hosts with two ranks each; the second host computes half as much. CPUs are stored once per
// host.
TEST(JobUse, IsOfEachHost) {
    results::Rows ranks("job_use");
    ranks.add({std::int64_t{0}, "n1", 10.0, 9.0, std::int64_t{2}, 100 * kMiB, 1024 * kMiB});
    ranks.add({std::int64_t{1}, "n1", 10.0, 10.0, std::int64_t{0}, 100 * kMiB, 1024 * kMiB});
    ranks.add({std::int64_t{2}, "n2", 10.0, 5.0, std::int64_t{2}, 300 * kMiB, 0 * kMiB});
    ranks.add({std::int64_t{3}, "n2", 9.0, 4.5, std::int64_t{0}, 50 * kMiB, 0 * kMiB});
    results::Rows first("job_use");
    first.add({std::int64_t{0}, "n1", 10.0, 9.0, std::int64_t{2}, 100 * kMiB, 1024 * kMiB});
    Outputs all;
    all.add("two hosts", use_text(run_with(std::move(ranks))));
    all.add("one host", use_text(run_with(std::move(first))));
    all.expect("job_use.txt");
    EXPECT_EQ(use_text({}), "") << "an older run";
}

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
