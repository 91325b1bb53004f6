// Whole sweeps between real ranks: all operations and types, every policy, detected faults.
#include <gmock/gmock.h>

#include <numeric>

#include "experiments/collectives/sweep.hpp"
#include "measure/clock_offset.hpp"
#include "mpi/no_progress.hpp"
#include "mpi_world.hpp"
#include "options/options.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using ranklab::testing::world;
using ::testing::HasSubstr;

options::Schema schema() {
    options::Schema all;
    all.append(vocabulary::collectives_settings()).append(vocabulary::common_settings());
    all.offer("backend", {"mpi", "self", "nccl"});
    return all;
}

class Swept {
  public:
    explicit Swept(const std::vector<std::string>& words)
        : settled_(settled_of(words)), sweep_(run_sweep(settled_, context_)) {
        fill_collectives_run(run, sweep_, world());
    }
    const std::vector<std::string>& texts(const char* column) const {
        return *run.find_table("messages")->find<std::string>(column);
    }
    const std::vector<std::int64_t>& wholes(const char* column) const {
        return *run.find_table("messages")->find<std::int64_t>(column);
    }

    results::Run run;

  private:
    static CollectivesOptions settled_of(const std::vector<std::string>& words) {
        const auto given = options::Options::parse(schema(), words);
        auto settled = settle_collectives(given, given.fields<vocabulary::CommonSettings>(),
                                          world().world_size());
        settle_backend(settled, world());
        return settled;
    }

    CollectivesOptions settled_;
    ranklab::testing::NoProgress progress_;
    RunContext context_{world(), progress_};
    Sweep sweep_;
};

const std::vector<std::string> kShort{"--backend", "mpi", "-n", "3", "-w", "1"};

std::vector<std::string> with(std::vector<std::string> words) {
    words.insert(words.begin(), kShort.begin(), kShort.end());
    return words;
}

TEST(Sweep, EveryOperationAndTypeIsRight) {
    const Swept swept(with(
        {"--op", "all", "-d", "all", "-o", "all", "--sizes", "24,40000", "-n", "1", "-w", "0"}));
    EXPECT_TRUE(swept.run.valid) << ::testing::PrintToString(swept.run.warnings);
    EXPECT_EQ(swept.run.verified(), results::CheckOutcome::passed);
    for (std::size_t row = 0; row < swept.texts("op").size(); ++row)
        EXPECT_EQ(swept.wholes("wrong_elements")[row], 0) << swept.texts("op")[row];
    const bool alone = world().world_size() == 1;
    EXPECT_EQ(std::ranges::count(swept.texts("op"), "latency") > 0, !alone);
}

TEST(Sweep, EveryPolicyIsRightAndSaysWhatItIs) {
    for (const char* blocking : {"0", "1", "2", "3", "4"}) {
        for (const char* average : {"0", "1", "2", "3"}) {
            const Swept swept(
                with({"-z", blocking, "-a", average, "--sizes", "1K", "--place", "in-place"}));
            EXPECT_TRUE(swept.run.valid);
            const auto* times = swept.run.find("time_us:allreduce:fp32:sum:1024:in-place");
            if (times == nullptr) FAIL() << "on all ranks alike";
            EXPECT_EQ(times->samples.size(), blocking[0] == '0' ? 1U : 3U);
            for (const double us : times->samples) EXPECT_GT(us, 0);
            EXPECT_NE(swept.run.fact("collectives", "policy"), "");
        }
    }
}

TEST(Sweep, OddUnalignedMessagesAreRight) {
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"--unalign", "3", "--sizes", "7,30003"}, {"--unalign", "1", "--sizes", "1001"}}) {
        auto all = with({"--op", "allreduce,alltoall,allgather", "-d", "fp64"});
        all.insert(all.end(), words.begin(), words.end());
        const Swept swept(all);
        EXPECT_TRUE(swept.run.valid) << ::testing::PrintToString(words);
    }
}

TEST(Sweep, AFlippedBitIsCounted) {
    const int last = world().world_size() - 1;
    const Swept swept(with({"--op", "allreduce,allgather", "--sizes", "64K", "--check", "2",
                            "--fault", "flip:" + std::to_string(last)}));
    EXPECT_FALSE(swept.run.valid);
    EXPECT_EQ(swept.run.exit_code, 3);
    for (const auto wrong : swept.wholes("wrong_elements"))
        EXPECT_EQ(wrong, 2) << "one element in each check";
    EXPECT_THAT(swept.run.warnings.front(), HasSubstr("wrong"));
}

TEST(Sweep, ASleeperIsLateAndNotWrong) {
    const Swept swept(with({"--sizes", "8", "--fault", "sleep:0:20"}));
    EXPECT_TRUE(swept.run.valid);
}

TEST(Sweep, WithoutChecksNothingIsVerified) {
    const Swept swept(with({"--sizes", "8", "-c", "0"}));
    EXPECT_EQ(swept.run.verified(), results::CheckOutcome::not_verified);
    for (const auto wrong : swept.wholes("wrong_elements")) EXPECT_EQ(wrong, -1);
}

TEST(Sweep, AStartedOperationHasItsParts) {
    for (const char* progress : {"none", "poll"}) {
        auto words = with({"--nonblocking", "--sizes", "64K", "--mpi-progress", progress});
        words.insert(words.end(), {"-n", "8"});
        const Swept swept(words);
        const auto* table = swept.run.find_table("nonblocking");
        ASSERT_NE(table, nullptr);
        EXPECT_EQ(table->find<std::string>("progress")->front(), progress);
        EXPECT_GT(table->find<double>("pure_us")->front(), 0);
        const double overlap = table->find<double>("overlap_percent")->front();
        const bool is_told = table->find<std::string>("mark")->front().empty();
        EXPECT_EQ(is_told, overlap >= 0 && overlap <= 100)
            << "on a busy machine there is none, and why";
        EXPECT_TRUE(swept.run.valid);
    }
}

TEST(Sweep, AModelsBucketsAreReducedInOrder) {
    const Swept swept(with({"--from-model", "mnist-cnn"}));
    const auto* table = swept.run.find_table("buckets");
    ASSERT_NE(table, nullptr);
    const auto& elements = *table->find<std::int64_t>("elements");
    EXPECT_EQ(std::accumulate(elements.begin(), elements.end(), std::int64_t{0}), 1199882);
    for (const auto wrong : *table->find<std::int64_t>("wrong_elements")) EXPECT_EQ(wrong, 0);
    const auto* sums = swept.run.find("buckets_time_s");
    ASSERT_NE(sums, nullptr);
    EXPECT_EQ(sums->samples.size(), 3U);
    EXPECT_TRUE(swept.run.valid);
}

TEST(ClockOffset, OfOneHostIsWithinItsError) {
    const auto ranks = static_cast<std::size_t>(world().world_size());
    const measure::JobClocks job(world(), std::vector<std::string>(ranks, "a"));
    const auto& clocks = job.offsets();
    ASSERT_EQ(clocks.size(), ranks);
    for (const auto& clock : clocks) EXPECT_LE(std::abs(clock.offset_s), clock.error_s + 1e-9);
    EXPECT_EQ(clocks.front().error_s, 0);
    for (std::size_t rank = 2; rank < ranks; ++rank)
        EXPECT_EQ(clocks[rank].at_s, clocks[1].at_s) << "one rank is asked for all of its host";
    EXPECT_GT(measure::clock_resolution(), 0);
}

TEST(ClockOffset, OneRankOfEachHostIsAsked) {
    const auto ranks = static_cast<std::size_t>(world().world_size());
    std::vector<std::string> hosts(ranks, "b");
    hosts.front() = "a";
    auto clocks = measure::JobClocks(world(), hosts).offsets();
    for (std::size_t rank = 1; rank < ranks; ++rank) {
        EXPECT_GT(clocks[rank].error_s, 0);
        EXPECT_EQ(clocks[rank].at_s, clocks[1].at_s);
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) hosts[rank] = std::to_string(rank);
    clocks = measure::JobClocks(world(), hosts).offsets();
    for (std::size_t rank = 2; rank < ranks; ++rank)
        EXPECT_GT(clocks[rank].at_s, clocks[rank - 1].at_s);
}

}  // namespace
}  // namespace ranklab::experiments
