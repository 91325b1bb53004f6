#include "results/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/results/sample_run.hpp"

namespace ranklab::results {
namespace {

TEST(RunId, IsTheStartAndSixRandomDigits) {
    const std::string id = make_run_id(1795256100);
    EXPECT_THAT(id, testing::MatchesRegex("20261121T101500Z-[0-9a-f]{16}"));
}

TEST(RunId, DoesNotRepeatWithinASecond) {
    std::set<std::string> ids;
    for (int i = 0; i < 100; ++i) ids.insert(make_run_id(0));
    EXPECT_GE(ids.size(), 99U);  // of 2^24: two alike among 100 happen once in 3,400 times
}

TEST(Run, FindsByName) {
    const StoredRun run = sample_run();
    ASSERT_NE(run.find("step_time_s"), nullptr);
    EXPECT_EQ(run.find("step_time_s")->unit, "s");
    EXPECT_EQ(run.find("nothing"), nullptr);
    ASSERT_NE(run.find_table("epochs"), nullptr);
    EXPECT_EQ(run.find_table("nothing"), nullptr);
}

// Before these facts were stored, the entry's name was all that a run said of it.
TEST(Run, OfAnOlderVersionHasTheFactsThatItsOptionsImply) {
    results::Run run;
    EXPECT_EQ(run.fact("storage", "workers"), "");
    run.config = {{"strategy", "process-queue"}, {"workers", "4"}, {"backend", "nccl"}};
    EXPECT_EQ(run.fact("storage", "workers"), "4");
    EXPECT_EQ(run.fact("storage", "baseline"), "no");
    EXPECT_EQ(run.fact("communication", "memory"), "device");
    run.config.front().value = "text-loop";
    EXPECT_EQ(run.fact("storage", "workers"), "0");
    EXPECT_EQ(run.fact("storage", "participants"), "1");
    EXPECT_EQ(run.fact("storage", "bytes_per_value"), "25");
    run.context.push_back({"storage", "baseline", "stored"});
    EXPECT_EQ(run.fact("storage", "baseline"), "stored");
}

TEST(Measurement, FoldsItsRows) {
    Measurement m;
    m.columns = 2;
    m.samples = {1, 4, 6, 2, 3, 3};
    EXPECT_EQ(m.rows(), 3U);
    EXPECT_THAT(m.largest_of_rows(), testing::ElementsAre(4, 6, 3));
    m.columns = 0;
    EXPECT_TRUE(m.largest_of_rows().empty()) << "a damaged file";
}

TEST(Kind, HasItsName) {
    EXPECT_EQ(kind_name(Kind::cost), "cost");
    EXPECT_EQ(kind_name(Kind::rate), "rate");
    EXPECT_EQ(kind_name(Kind::ratio), "ratio");
    EXPECT_EQ(kind_name(Kind::count), "count");
}

}  // namespace
}  // namespace ranklab::results
