// Findings from call times: stragglers, folding over ranks; and --fault.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "experiments/collectives/sweep.hpp"
#include "stats/summary.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using measure::RankSamples;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kNan = stats::kNone;

// Calls of three ranks: rank 1 begins each one `late` seconds after the others.
RankSamples calls(std::size_t count, double late) {
    RankSamples came{3, {}};
    for (std::size_t call = 0; call < count; ++call)
        came.values.insert(came.values.end(), {0, 1e-6 + late, 2e-6});
    return came;
}

TEST(Arrivals, NameTheRankThatAllWaitFor) {
    Arrivals arrivals(3);
    arrivals.add(calls(50, 0.02), 1e-6);
    const auto late = arrivals.straggler();
    EXPECT_EQ(late.rank, 1);
    EXPECT_NEAR(arrivals.late_s(1), 0.02, 1e-4);
    EXPECT_THAT(late.how, AllOf(HasSubstr("20 ms"), HasSubstr("100 %")));
    EXPECT_DOUBLE_EQ(arrivals.last_share(1), 1);
}

TEST(Arrivals, NameNobodyWhereAllAreAlike) {
    Arrivals arrivals(3);
    arrivals.add(calls(50, 0), 1e-6);
    EXPECT_NEAR(arrivals.skew_s(), 2e-6, 1e-9);
    EXPECT_EQ(arrivals.straggler().rank, -1);
}

TEST(Arrivals, TellNothingOfFewCalls) {
    Arrivals arrivals(3);
    EXPECT_TRUE(std::isnan(arrivals.last_share(1)));
    arrivals.add(calls(9, 0.02), 1e-6);
    EXPECT_EQ(arrivals.straggler().rank, -1);
}

TEST(Arrivals, LeaveOutRanksWithoutAPart) {
    RankSamples came{3, {0.0, kNan, 1e-9, kNan, kNan, kNan}};
    Arrivals arrivals(3);
    arrivals.add(came, 1e-6);
    EXPECT_DOUBLE_EQ(arrivals.last_share(2), 0);
    EXPECT_EQ(arrivals.straggler().rank, -1);
}

TEST(RankReduction, FoldsThoseThatTookPart) {
    const std::vector<double> seconds{1, kNan, 3};
    EXPECT_EQ(over_ranks(seconds, RankReduction::longest), 3);
    EXPECT_EQ(over_ranks(seconds, RankReduction::shortest), 1);
    EXPECT_EQ(over_ranks(seconds, RankReduction::mean), 2);
    EXPECT_EQ(over_ranks(seconds, RankReduction::rank_0), 1);
    EXPECT_EQ(over_ranks(std::vector{kNan, 2.0}, RankReduction::rank_0), 2)
        << "the first that took part";
    EXPECT_TRUE(std::isnan(over_ranks(std::vector{kNan}, RankReduction::longest)));
}

TEST(Faults, AreReadAndRefused) {
    EXPECT_EQ(parse_fault("flip:1").flips_on_rank, 1);
    const auto sleep = parse_fault("sleep:2:20");
    EXPECT_EQ(sleep.sleeps_on_rank, 2);
    EXPECT_DOUBLE_EQ(sleep.sleep_s, 0.02);
    for (const char* text :
         {"", "flip", "flip:-1", "sleep:1", "sleep:1:0", "sleep:1:nan", "sleep:x:20", "flip:1:2"})
        EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] { parse_fault(text); }),
                    HasSubstr("--fault"))
            << text;
}

}  // namespace
}  // namespace ranklab::experiments
