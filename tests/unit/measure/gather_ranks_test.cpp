#include <gtest/gtest.h>

#include "measure/gather.hpp"
#include "mpi_world.hpp"

namespace ranklab::measure {
namespace {

using ranklab::testing::world;

TEST(Gather, ColumnsStandByRank) {
    const double rank = world().rank();
    const auto samples = gather_columns(world(), {rank, 10 + rank});
    const auto ranks = static_cast<std::size_t>(world().world_size());
    EXPECT_EQ(samples.ranks, ranks);
    EXPECT_EQ(samples.rows(), 2U);
    for (std::size_t r = 0; r < ranks && samples.rows() == 2; ++r) {
        EXPECT_EQ(samples.at(0, r), static_cast<double>(r));
        EXPECT_EQ(samples.at(1, r), 10.0 + static_cast<double>(r));
    }
}

TEST(Gather, NoRowsAreGatheredAsNone) {
    EXPECT_EQ(gather_columns(world(), {}).rows(), 0U);
}

TEST(Gather, StepsBringEveryPhaseInItsPlace) {
    std::vector<StepTimes> mine(2);
    const double rank = world().rank();
    for (std::size_t step = 0; step < mine.size(); ++step) {
        mine[step].step = 100 * static_cast<double>(step) + rank;
        for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase) {
            mine[step].phases[phase] = mine[step].step + 10 * static_cast<double>(phase + 1);
        }
    }
    const auto gathered = gather_steps(world(), mine);
    const double last = world().world_size() - 1;
    EXPECT_EQ(gathered.step.max_over_ranks(), (std::vector<double>{last, 100 + last}));
    ASSERT_EQ(gathered.phases.size(), base::kPhaseCount);
    for (std::size_t phase = 0; phase < base::kPhaseCount; ++phase) {
        const double offset = 10 * static_cast<double>(phase + 1);
        EXPECT_EQ(gathered.phases[phase].max_over_ranks(),
                  (std::vector<double>{last + offset, 100 + last + offset}));
    }
}

}  // namespace
}  // namespace ranklab::measure
