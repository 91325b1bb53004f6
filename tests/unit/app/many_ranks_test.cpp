// What is said of a launch of 10,000 ranks fits a screen, and is true.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "app/context.hpp"
#include "comm/exchange.hpp"
#include "host/facts.hpp"
#include "host/launch_guard.hpp"
#include "host/placement.hpp"
#include "host/shared_limits.hpp"
#include "many_ranks.hpp"

namespace ranklab::app {
namespace {

using host::Placement;
using ::testing::AllOf;
using ::testing::ElementsAre;
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

std::ptrdiff_t lines_in(const std::string& text) {
    return std::ranges::count(text, '\n');
}

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0, begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
        longest = std::max(longest, end - begin);
        begin = end + 1;
    }
    return longest;
}

TEST(ManyRanks, AreALineInTheHeader) {
    for (const Order order : {Order::by_host, Order::round_robin}) {
        const auto line = placement_line(places(order));
        EXPECT_EQ(
            line,
            "# ranks: 10000 on 100 nodes, each 1 thread on 1 core (n000, n001, n002, n003 and 96 more)\n");
    }
}

TEST(ManyRanks, AreTenLinesInTheWholeHeader) {
    const auto by_host = placement_header(places(Order::by_host));
    EXPECT_EQ(lines_in(by_host), 10);
    EXPECT_THAT(by_host, AllOf(HasSubstr("#   n000: ranks 0-99, cpus 0-99\n"),
                               HasSubstr("#   ... and 92 more nodes\n")));
    const auto round = placement_header(places(Order::round_robin));
    EXPECT_EQ(lines_in(round), 10);
    EXPECT_LT(longest_line(round), kLongestLine);
    EXPECT_THAT(round, HasSubstr("#   n001: ranks 1,101,201,301,401,501,... (100 in all), cpus 0-99\n"));
}

// A shape for each rank is told as some.
TEST(ManyRanks, OfEveryShapeAreALine) {
    auto all = places(Order::by_host);
    for (auto& p : all) p.threads = 1 + p.rank;
    EXPECT_LT(longest_line(placement_line(all)), kLongestLine);
    EXPECT_THAT(placement_line(all), HasSubstr("1 thread on 1 core or 10 threads on 1 core or 100 threads on "
                                               "1 core and 9997 more (n000"));
}

void expect_short(const std::vector<host::Finding>& findings, std::size_t most) {
    EXPECT_LE(findings.size(), most);
    for (const auto& finding : findings)
        EXPECT_LT(finding.sentence().size(), 2 * kLongestLine) << finding.what;
}

TEST(ManyRanks, ThatShareCoresAreOneFinding) {
    const auto findings = host::check_placements(places(Order::by_host, 2, 2));
    ASSERT_THAT(findings, SizeIs(1));
    EXPECT_EQ(findings[0].what,
              "n000: ranks 0-99 run 200 threads on 101 cores (99 more hosts have each as many), so they wait "
              "for each other");
    expect_short(host::check_placements(places(Order::round_robin, 2, 2)), 1);
}

TEST(ManyRanks, TheWorstHostSpeaksForAll) {
    auto all = places(Order::by_host, 2, 2);
    for (auto& p : all)
        if (p.host == "n042") p.threads = 8;
    for (const auto& finding : host::check_placements(all)) {
        if (finding.id != "ranks-share-cores") continue;
        EXPECT_THAT(finding.what, AllOf(HasSubstr("n042: ranks 4200-4299 run 800 threads on 101 cores"),
                                        HasSubstr("(the worst of 100 such hosts)")));
    }
}

TEST(ManyRanks, WithTooManyThreadsAreAFewFindings) {
    auto all = places(Order::round_robin);
    for (auto& p : all) p.threads = 2 + p.rank % 50;
    std::vector<host::Finding> findings = host::check_placements(all, "Open MPI's mpirun");
    expect_short(findings, 4);
    std::erase_if(findings, [](const auto& one) { return one.id != "more-threads-than-cores"; });
    ASSERT_THAT(findings, SizeIs(3));
    EXPECT_THAT(findings[0].what, HasSubstr("ranks 49,99,149,199,249,299,... (200 in all): 51 threads"));
    EXPECT_THAT(findings[2].what, AllOf(HasSubstr("9400 more ranks"), HasSubstr("47 other")));
}

TEST(ManyRanks, OnLibrariesAndQuotasOfTheirOwnAreOneFindingEach) {
    auto all = places(Order::by_host);
    for (auto& p : all) {
        p.libraries = {fmt::format("MPI {}", p.host)};
        p.quota = {true, {{0.5 + 0.001 * (p.rank / kPerHost), "job"}}};
    }
    const auto findings = host::check_placements(all);
    expect_short(findings, 2);
    ASSERT_THAT(findings, SizeIs(2));
    EXPECT_THAT(findings[0].what, HasSubstr("rank 100 on n001 (and 9899 more that differ)"));
    EXPECT_THAT(findings[1].what, HasSubstr("n000 (the worst of 100 such hosts)"));
    const auto quota = host::quota_text(all);
    EXPECT_LT(quota.size(), kLongestLine);
    EXPECT_THAT(quota, AllOf(HasSubstr("0.5 on n000, 0.501 on n001"), HasSubstr(", 92 other ones")));
}

// What every rank gets of all: this process's own place, as 10,000 would send it.
TEST(ManyRanks, SendTheirPlacesInAFewKilobytesEach) {
    ranklab::testing::ManyRanks job(kRanks);
    auto mine = host::own_placement(0, 0, 1, "ranklab 1", "none: no driver");
    mine.libraries = host::loaded_libraries();
    const auto all = comm::gather_values(job, mine);
    EXPECT_EQ(all.size(), std::size_t{kRanks});
    EXPECT_EQ(all.back().libraries, mine.libraries);
    RecordProperty("bytes_a_rank", std::to_string(job.bytes / kRanks));
    EXPECT_LT(job.bytes / kRanks, 8192U);
}

}  // namespace
}  // namespace ranklab::app
