#include "host/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/pack.hpp"
#include "host/process.hpp"

namespace ranklab::host {
namespace {

using ::testing::ElementsAre;

Placement place(int rank, int threads, const std::string& host = "n1") {
    return {.rank = rank,
            .local_rank = rank,
            .host = host,
            .cpus = {0, 1},
            .threads = threads,
            .build = "",
            .gpus = ""};
}

TEST(Devices, AreTheProcessorOrEachRanksGpu) {
    Placement a = place(0, 2), b = place(1, 2, "n2");
    a.cpu = b.cpu = "EPYC";
    a.own_gpu = {.name = "H100", .uuid = "GPU-1"};
    b.own_gpu = {.name = "H100", .uuid = "GPU-2"};
    EXPECT_THAT(devices_of({a, b}, true), ElementsAre("H100 [GPU-1]", "H100 [GPU-2]"));
    EXPECT_THAT(devices_of({a, b}, false), ElementsAre("cpu", "cpu"));
    b.cpu = "Xeon";
    EXPECT_THAT(devices_of({a, b}, false), ElementsAre("cpu (EPYC)", "cpu (Xeon)"));
}

TEST(Placement, IsTheSameOnAnotherRank) {
    Placement a = own_placement(2, 1, 3, "build", "no GPU");
    a.host = "a;b|c:d\t";
    a.own_gpu = {.name = "H100", .uuid = "GPU-1", .pci_id = "0000:17:00.0", .cpus = {1, 2}};
    a.quota = {true, {{2.5, "a"}, {8, "b"}}};
    a.libraries = {"MPI 4"};
    const auto b = base::unpacked<Placement>(base::packed(a)).value();
    EXPECT_EQ(base::packed(b), base::packed(a));
    EXPECT_EQ(b.host, a.host);
    EXPECT_EQ(b.own_gpu.cpus, a.own_gpu.cpus);
    EXPECT_EQ(b.quota.limits.at(1).cgroup, "b");
}

TEST(OwnPlacement, TakesAThreadPerCoreUnlessTold) {
    const auto p = own_placement(2, 1, 0, "build", "no GPU");
    EXPECT_EQ(p.rank, 2);
    EXPECT_EQ(p.local_rank, 1);
    EXPECT_EQ(p.host, host_name());
    EXPECT_EQ(p.cpus, cpuset());
    EXPECT_EQ(p.cores, core_names(cpuset()));
    EXPECT_FALSE(p.cpu.empty());
    EXPECT_EQ(p.threads, static_cast<int>(p.cores.size()));
    EXPECT_TRUE(p.threads_by_default);
    EXPECT_EQ(own_placement(0, 0, 3, "", "").threads, 3);
    EXPECT_FALSE(own_placement(0, 0, 3, "", "").threads_by_default);
}

Placement limited(Placement p, double cpus, const std::string& cgroup = "1:7") {
    p.quota.known = true;
    if (cpus > 0) p.quota.limits.push_back({cpus, cgroup});
    return p;
}

Placement by_default(int rank, const std::string& host = "n1") {
    Placement p = place(rank, 64, host);
    p.threads_by_default = true;
    return p;
}

std::vector<int> settled(std::vector<Placement> placements) {
    settle_threads(placements);
    std::vector<int> threads;
    for (const auto& p : placements) threads.push_back(p.threads);
    return threads;
}

TEST(Quota, CapsTheThreadsThatTheUserDidNotGive) {
    const auto a = by_default(0), b = by_default(1), elsewhere = by_default(1, "n2");
    EXPECT_THAT(settled({a}), ElementsAre(64)) << "not known";
    EXPECT_THAT(settled({limited(a, 0)}), ElementsAre(64));
    EXPECT_THAT(settled({limited(a, 2.9)}), ElementsAre(2));
    EXPECT_THAT(settled({limited(a, 0.5)}), ElementsAre(1));
    EXPECT_THAT(settled({limited(a, 100)}), ElementsAre(64));
    EXPECT_THAT(settled({limited(place(0, 64), 2)}), ElementsAre(64)) << "the user's own number";
    EXPECT_THAT(settled({limited(limited(a, 2, "own"), 16, "above")}), ElementsAre(2));
    EXPECT_THAT(settled({limited(a, 5), limited(b, 5)}), ElementsAre(2, 2)) << "equal parts";
    EXPECT_THAT(settled({limited(a, 5, "a"), limited(b, 5, "b")}), ElementsAre(5, 5));
    EXPECT_THAT(settled({limited(a, 5), limited(elsewhere, 5)}), ElementsAre(5, 5))
        << "hosts share no cgroup";
}

TEST(Quota, IsTheLeastOfAllRanks) {
    const auto a = place(0, 1), b = place(1, 1);
    EXPECT_EQ(quota_text({}), "unknown");
    EXPECT_EQ(quota_text({a}), "unknown");
    EXPECT_EQ(quota_text({limited(a, 0), limited(b, 0)}), "none");
    EXPECT_EQ(quota_text({limited(limited(a, 2.5), 8), limited(b, 0)}), "2.5");
}

}  // namespace
}  // namespace ranklab::host
