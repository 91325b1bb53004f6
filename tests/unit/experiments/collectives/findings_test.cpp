// Findings from call times: stragglers, performance guidelines, folding over ranks.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "experiments/collectives/findings.hpp"
#include "stats/summary.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

using comm::Operation;
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

stats::Summary timed(double us, std::size_t calls = 50) {
    return {.n = calls, .median = us, .ci95 = {.low = us * 0.95, .high = us * 1.05}};
}

std::string verdict(const TimedMessages& all, const std::string& guideline) {
    for (const auto& row : check_guidelines(all))
        if (row.guideline == guideline) return row.verdict;
    return "not checked";
}

TEST(Guidelines, AreCheckedWhereAllOperationsWereTimed) {
    const std::string name = "allreduce <= reduce + broadcast";
    TimedMessages all{{{Operation::allreduce, 8}, timed(10)}, {{Operation::reduce, 8}, timed(2)}};
    EXPECT_EQ(verdict(all, name), "not checked");
    all[{Operation::broadcast, 8}] = timed(3);
    EXPECT_EQ(verdict(all, name), "VIOLATED") << "10 against 5";
    all[{Operation::allreduce, 8}] = timed(4);
    EXPECT_EQ(verdict(all, name), "holds");
    all[{Operation::allreduce, 8}] = timed(5.2);
    EXPECT_EQ(verdict(all, name), "cannot tell");
    all[{Operation::allreduce, 8}] = timed(10, 19);
    EXPECT_EQ(verdict(all, name), "cannot tell") << "too few calls";
    for (const std::uint64_t bytes : {8, 16, 32}) {
        all[{Operation::allreduce, bytes}] = timed(bytes == 16 ? 10 : 4);
        all[{Operation::reduce, bytes}] = timed(2);
        all[{Operation::broadcast, bytes}] = timed(3);
    }
    for (const auto& row : check_guidelines(all))
        EXPECT_NE(row.verdict, "VIOLATED") << "one size of several";
    all[{Operation::allreduce, 32}] = timed(10);
    EXPECT_EQ(std::ranges::count(check_guidelines(all), "VIOLATED", &GuidelineRow::verdict), 2);
}

TEST(Guidelines, NameTheLibrarysOwnTuning) {
    EXPECT_THAT(tuning_of(Operation::broadcast, "Open MPI v4.1.4"),
                HasSubstr("coll_tuned_bcast_algorithm"));
    EXPECT_THAT(tuning_of(Operation::allreduce, "MPICH 4.0.2"),
                HasSubstr("MPIR_CVAR_ALLREDUCE_INTRA_"));
    EXPECT_THAT(tuning_of(Operation::reduce_scatter, "MPICH 4.0.2"),
                HasSubstr("MPIR_CVAR_REDUCE_SCATTER_BLOCK_INTRA_"));
    EXPECT_THAT(tuning_of(Operation::allreduce, "NCCL 2.28"), HasSubstr("NCCL_ALGO"));
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
