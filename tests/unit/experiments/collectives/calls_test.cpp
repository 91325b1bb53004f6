// Folding call times over ranks; and --fault.
#include <gmock/gmock.h>

#include "base/error.hpp"
#include "experiments/collectives/calls.hpp"
#include "stats/summary.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::experiments {
namespace {

constexpr double kNan = stats::kNone;

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
                    testing::HasSubstr("--fault"))
            << text;
}

}  // namespace
}  // namespace ranklab::experiments
