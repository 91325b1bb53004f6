// Messages about a launch of 10,000 ranks fit a screen, and are true.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/run_facts.hpp"
#include "comm/exchange.hpp"
#include "host/findings.hpp"
#include "host/topology.hpp"
#include "many_ranks.hpp"

namespace ranklab::app {
namespace {

using host::Placement;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kRanks = 10000;
constexpr int kPerHost = 100;
constexpr int kHosts = kRanks / kPerHost;
constexpr std::size_t kLongestLine = 300;

enum class Order { by_host, round_robin };

// 100 hosts of 128 cores, 100 ranks each. `cores`: of the rank's cpuset, from its own first one on.
Placement place(int rank, Order order, int cores, int threads) {
    const int host = order == Order::by_host ? rank / kPerHost : rank % kHosts;
    Placement p{.rank = rank,
                .local_rank = order == Order::by_host ? rank % kPerHost : rank / kHosts,
                .host = fmt::format("n{:03}", host),
                .cpus = {},
                .threads = threads,
                .build = "ranklab 1",
                .gpus = "none: no driver"};
    for (int cpu = 0; cpu < cores; ++cpu) p.cpus.push_back(p.local_rank + cpu);
    p.cores = p.cpus;
    return p;
}

std::vector<Placement> places(Order order, int cores = 1, int threads = 1) {
    std::vector<Placement> all;
    for (int rank = 0; rank < kRanks; ++rank) all.push_back(place(rank, order, cores, threads));
    return all;
}

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0, begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', begin)) {
        longest = std::max(longest, end - begin);
        begin = end + 1;
    }
    return longest;
}

TEST(ManyRanks, AreALineInTheHeader) {
    for (const Order order : {Order::by_host, Order::round_robin}) {
        const auto line = placement_line(places(order));
        EXPECT_EQ(line,
                  "# ranks: 10000 on 100 nodes, each 1 thread on 1 core (n000, n001, n002, n003 "
                  "and 96 more)\n");
    }
}

// A shape for each rank is told as some.
TEST(ManyRanks, OfEveryShapeAreALine) {
    auto all = places(Order::by_host);
    for (auto& p : all) p.threads = 1 + p.rank;
    EXPECT_LT(longest_line(placement_line(all)), kLongestLine);
    EXPECT_THAT(placement_line(all), HasSubstr("1 thread on 1 core or 10 threads on 1 core or 100 "
                                               "threads on 1 core and 9997 more (n000"));
}

TEST(ManyRanks, HaveAFindingOfEachKind) {
    auto all = places(Order::round_robin, 2, 3);
    for (auto& p : all) {
        p.threads = 3 + p.rank % 50;
        p.libraries = {"MPI " + p.host};
        p.quota = {true, {{0.5 + 0.001 * (p.rank / kPerHost), "job"}}};
    }
    const auto findings =
        host::findings_of_run({.placements = all, .launcher = "Open MPI's mpirun"});
    ASSERT_THAT(findings, SizeIs(4));
    for (const auto& finding : findings)
        EXPECT_LT(finding.sentence().size(), 2 * kLongestLine) << finding.what;
    EXPECT_THAT(findings[0].what, HasSubstr("(the worst of 9900 such cases)"));
    EXPECT_THAT(findings[1].what, HasSubstr("52 threads on 2 cores"));
}

// This process's own place, as each of 10,000 ranks would send it to all.
TEST(ManyRanks, SendTheirPlacesInAFewKilobytesEach) {
    ranklab::testing::ManyRanks job(kRanks);
    auto mine = host::own_placement(0, 0, 1, "ranklab 1", "none: no driver");
    mine.libraries = {"Open MPI v4.1.4", "HDF5 1.10.8"};
    const auto all = comm::gather_values(job, mine);
    EXPECT_EQ(all.size(), std::size_t{kRanks});
    EXPECT_EQ(all.back().libraries, mine.libraries);
    RecordProperty("bytes_a_rank", std::to_string(job.bytes / kRanks));
    EXPECT_LT(job.bytes / kRanks, 8192U);
}

}  // namespace
}  // namespace ranklab::app
