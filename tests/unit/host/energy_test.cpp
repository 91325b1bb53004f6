// RAPL's counters of a system of files, and the GPUs of a stand-in library.
#include "host/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "unit/host/fake_root.hpp"

namespace ranklab::host {
namespace {

using ::testing::HasSubstr;

class CpuEnergyTest : public FakeRoot {
  protected:
    void zone(int number, const std::string& name, const std::string& energy_uj) {
        const std::string folder = "sys/class/powercap/intel-rapl:" + std::to_string(number);
        write(folder + "/name", name + "\n");
        write(folder + "/max_energy_range_uj", "262143328850\n");
        write(folder + "/energy_uj", energy_uj + "\n");
    }
};

TEST_F(CpuEnergyTest, IsThatOfPackagesAndWraps) {
    zone(0, "package-0", "262143000000");
    zone(1, "psys", "0");
    zone(2, "package-1", "1000000");
    CpuEnergy energy(root_.path());
    zone(0, "package-0", "671150");
    zone(1, "psys", "99000000");
    zone(2, "package-1", "3000000");
    energy.sample();
    EXPECT_NEAR(energy.energy().joules, 1 + 2, 1e-9);
    zone(2, "package-1", "3500000");
    energy.sample();
    EXPECT_NEAR(energy.energy().joules, 3.5, 1e-9);
    EXPECT_EQ(energy.energy().why_not, "");
}

TEST_F(CpuEnergyTest, SaysWhyThereIsNone) {
    EXPECT_THAT(CpuEnergy(root_.path()).energy().why_not, HasSubstr("no processor package"));
    zone(0, "package-0", "7");
    CpuEnergy energy(root_.path());
    energy.sample();
    EXPECT_THAT(energy.energy().why_not, HasSubstr("stands still"));
    EXPECT_TRUE(std::isnan(energy.energy().joules));
    std::filesystem::remove(root_.path() / "sys/class/powercap/intel-rapl:0/energy_uj");
    energy.sample();
    EXPECT_THAT(energy.energy().why_not, HasSubstr("energy_uj cannot be read: No such file"));
    EXPECT_TRUE(std::isnan(energy.energy().joules));
}

// Energy counts until the run ends, as do the samples that it is divided by.
TEST_F(CpuEnergyTest, OfAMonitorEndsWithTheMonitor) {
    zone(0, "package-0", "1000000");
    ::setenv("RANKLAB_SYSTEM_ROOT", root_.path().c_str(), 1);
    Monitor monitor({}, 0.1);
    ::unsetenv("RANKLAB_SYSTEM_ROOT");
    std::this_thread::sleep_for(
        std::chrono::milliseconds(120));  // a sample, and no time for the next
    zone(0, "package-0", "3000000");
    EXPECT_NEAR(monitor.stop().cpu_energy.joules, 2, 1e-9);
}

TEST(GpusOfRanks, AreFoundByUuidOrPciId) {
    const std::vector<MonitoredRank> ranks{
        {.rank = 2, .gpu = {.uuid = "GPU-a", .pci_id = "0000:1a:00.0"}},
        {.rank = 3, .gpu = {.uuid = "GPU-b", .pci_id = "0000:2b:00.0"}},
        {.rank = 4}};
    EXPECT_EQ(rank_on(ranks, "GPU-b", ""), 3);
    EXPECT_EQ(rank_on(ranks, "GPU-whole", "00000000:1A:00.0"), 2) << "a rank on a part of it";
    EXPECT_EQ(rank_on(ranks, "GPU-c", "00000000:3C:00.0"), -1);
    EXPECT_EQ(rank_on(ranks, "", ""), -1);
}

class GpuMonitorTest : public testing::Test {
  protected:
    ~GpuMonitorTest() override {
        for (const char* name : {"RANKLAB_NVML_LIBRARY", "RANKLAB_ROCM_SMI_LIBRARY", "FAKE_NVML"})
            ::unsetenv(name);
    }
    static GpuSamples samples(const char* mode, double patience_s = 30) {
        ::setenv("RANKLAB_NVML_LIBRARY", RANKLAB_FAKE_NVML, 1);
        ::setenv("FAKE_NVML", mode, 1);
        const auto began = base::Clock::now();
        GpuMonitor monitor(
            {{.rank = 5, .gpu = {.uuid = "GPU-00000001-1111-2222-3333-444444444444"}}}, 0.05,
            began);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return monitor.stop(std::chrono::duration<double>(patience_s));
    }
};

TEST_F(GpuMonitorTest, AddsUpTheEnergyOfAllGpus) {
    const auto seen = samples("");
    ASSERT_GE(seen.rows.size(), 4U);
    EXPECT_EQ(seen.rows[0].rank, -1);
    EXPECT_EQ(seen.rows[1].rank, 5);
    EXPECT_EQ(seen.rows[0].is.energy_J, 0);
    const auto& last = seen.rows.back();
    EXPECT_DOUBLE_EQ(seen.energy.joules, last.is.energy_J + (seen.rows.end() - 2)->is.energy_J);
    EXPECT_GT(last.is.energy_J, 0);
    EXPECT_EQ(seen.energy.why_not, "");
}

TEST_F(GpuMonitorTest, HasNoEnergyWhereAGpuIsLost) {
    const auto seen = samples("lost");
    EXPECT_THAT(seen.energy.why_not, HasSubstr("GPU GPU-00000001-1111"));
    EXPECT_GT(seen.rows.size(), 2U);
}

TEST_F(GpuMonitorTest, HasNoEnergyOfACounterThatStandsStill) {
    const auto seen = samples("still");
    EXPECT_THAT(seen.energy.why_not, HasSubstr("does not move"));
    EXPECT_TRUE(std::isnan(seen.rows.back().is.energy_J));
}

TEST_F(GpuMonitorTest, LeavesACallThatBlocks) {
    const auto began = base::Clock::now();
    const auto seen = samples("blocked", 0.5);
    EXPECT_LT(base::seconds_since(began), 30);
    EXPECT_LE(seen.rows.size(), 2U) << "from before it blocked";
    EXPECT_THAT(seen.energy.why_not, HasSubstr("did not answer within"));
}

}  // namespace
}  // namespace ranklab::host
