// What stands out in simulated series (a node, a link, a pair), and what does not.
#include "campaign/vet.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "base/text.hpp"

namespace ranklab::campaign {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const stats::FleetTest kTest{.alpha = 0.04};

std::vector<std::string> hosts(int count) {
    std::vector<std::string> names;
    for (int i = 1; i <= count; ++i) names.push_back("n" + std::to_string(i));
    return names;
}

double noise(std::mt19937_64& random) {
    return 0.98 + 0.04 * static_cast<double>(random() % 1000) / 1000;
}

VetSeries alone(int nodes, double slow, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    VetSeries series{"compute", "work", hosts(nodes), std::vector(nodes, stats::RowCosts(12))};
    for (std::size_t row = 0; row < series.costs.size(); ++row)
        for (double& cost : series.costs[row]) cost = noise(random) * (row == 1 ? slow : 1);
    return series;
}

// Pairs in turn; the cost of a pair is `cost(a, b)`.
template <class Cost>
VetSeries pairs(int nodes, std::size_t rounds, Cost cost, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed), order(7);
    VetSeries series{"bandwidth", "work", hosts(nodes),
                     std::vector(nodes, stats::RowCosts(rounds, stats::kNone))};
    for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<int> all(nodes);
        for (int i = 0; i < nodes; ++i) all[i] = i;
        for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[order() % i]);
        for (int i = 1; i < nodes; i += 2) {
            const auto a = static_cast<std::size_t>(std::min(all[i], all[i - 1])),
                       b = static_cast<std::size_t>(std::max(all[i], all[i - 1]));
            series.costs[a][round] = series.costs[b][round] =
                cost(static_cast<int>(a), static_cast<int>(b)) * noise(random);
            series.pairs.push_back({round, a, b});
        }
    }
    return series;
}

std::vector<std::string> names(const std::vector<VetFinding>& all) {
    std::vector<std::string> found;
    for (const auto& one : all) found.push_back(one.kind() + " " + base::join(one.names, "-"));
    return found;
}

TEST(Vet, ASlowNodeAlone) {
    for (const int nodes : {2, 3, 4, 16}) {
        const auto found = slower_rows(alone(nodes, 1.3), kTest);
        EXPECT_THAT(names(found), ElementsAre("node n2")) << nodes;
        EXPECT_NEAR(found.front().effect, 0.3, 0.03);
        const auto both = confirmed(found, slower_rows(alone(nodes, 1.3, 2), kTest));
        EXPECT_THAT(names(both), ElementsAre("node n2"));
        EXPECT_EQ(both.front().rounds, 24U);
        EXPECT_THAT(slower_rows(alone(nodes, 1), kTest), IsEmpty()) << nodes;
    }
    EXPECT_THAT(slower_rows(alone(1 + 1, 1.02), kTest), IsEmpty());
    EXPECT_THAT(sentence(slower_rows(alone(2, 1.3), kTest).front()),
                ::testing::MatchesRegex("n2: compute takes (29|30|31) % .* 12 of 12 rounds"));
}

TEST(Vet, ASecondMeasurementConfirmsOrNot) {
    const auto suspects = slower_rows(alone(8, 1.3), kTest);
    EXPECT_THAT(confirmed(suspects, slower_rows(alone(8, 1.0, 3), kTest)), IsEmpty());
    EXPECT_THAT(confirmed({{{"n2"}, "latency"}, {{"n3"}, "compute"}}, suspects), IsEmpty());
    // n2 and n3 are slow with each other only.
    const auto both = pairs(8, 20, [](int a, int b) { return a == 1 && b == 2 ? 2 : 1; });
    EXPECT_THAT(names(slower_rows(both, kTest)), ElementsAre("link n2-n3"));
    EXPECT_THAT(slower_rows(both, kTest, {"n2", "n3"}), IsEmpty());
}

TEST(Vet, ANodeThatIsSlowWithAllAndALinkThatIsSlowAlone) {
    for (const int nodes : {4, 5, 8, 32}) {
        const std::size_t rounds = 20;
        const auto node =
            pairs(nodes, rounds, [](int a, int b) { return a == 1 || b == 1 ? 1.4 : 1; });
        EXPECT_THAT(names(slower_rows(node, kTest)), ElementsAre("node n2")) << nodes;
        const auto equal = pairs(nodes, rounds, [](int, int) { return 1.0; });
        EXPECT_THAT(slower_rows(equal, kTest), IsEmpty()) << nodes;
        if (nodes > 8) continue;  // not every pair meets
        const auto link =
            pairs(nodes, rounds, [](int a, int b) { return a == 0 && b == 2 ? 10 : 1; });
        const auto found = slower_rows(link, kTest);
        EXPECT_THAT(names(found), ElementsAre("link n1-n3")) << nodes;
        EXPECT_THAT(names(confirmed(found, found)), ElementsAre("link n1-n3"));
    }
    const auto two = pairs(2, 20, [](int, int) { return 10.0; });
    EXPECT_THAT(slower_rows(two, kTest), IsEmpty()) << "no pair to compare it with";
}

TEST(Vet, SlowerThanItsPast) {
    std::vector<VetSeries> before;
    for (int vet = 0; vet < 5; ++vet) before.push_back(alone(1, 1, 10 + vet));
    auto now = alone(1, 1, 20);
    EXPECT_THAT(slower_than_past(now, before, kTest), IsEmpty());
    for (double& cost : now.costs.front()) cost *= 1.12;
    const auto found = slower_than_past(now, before, kTest);
    EXPECT_THAT(names(found), ElementsAre("node_before n1"));
    EXPECT_THAT(sentence(found.front()), HasSubstr("than in its last 5 vets"));
    now.work = "other work";
    EXPECT_THAT(slower_than_past(now, before, kTest), IsEmpty());
    const auto pair = [](double cost, std::uint64_t seed) {
        return pairs(
            2, 12, [&](int, int) { return cost; }, seed);
    };
    before.clear();
    for (int vet = 0; vet < 5; ++vet) before.push_back(pair(1, 30 + vet));
    EXPECT_THAT(names(slower_than_past(pair(10, 40), before, kTest)),
                ElementsAre("link_before n1-n2"));
}

TEST(Vet, WhatToExclude) {
    VetReport report{
        .findings = {{{"n23"}, "compute"}, {{"n1", "n2"}, "bandwidth"}, {{"n23"}, "bandwidth"}},
        .silent = {"n17"},
        .names_hosts = true};
    EXPECT_EQ(report.exclude(), "n17,n23");
    report.names_hosts = false;
    EXPECT_EQ(report.exclude(), "n17") << "ranks of a host cannot be excluded";
}

}  // namespace
}  // namespace ranklab::campaign
