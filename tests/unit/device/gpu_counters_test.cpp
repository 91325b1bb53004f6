// The counters of stand-in libraries: tests/support/fake_nvml.c and fake_rocm_smi.c.
#include "device/gpu_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace ranklab::device {
namespace {

using ::testing::HasSubstr;

class GpuCounters : public testing::Test {
  protected:
    GpuCounters() { with("/nonexistent/nvml.so", "/nonexistent/rocm.so"); }
    ~GpuCounters() override {
        for (const char* name : {"RANKLAB_NVML_LIBRARY", "RANKLAB_ROCM_SMI_LIBRARY", "FAKE_NVML"})
            ::unsetenv(name);
    }
    static void with(const char* nvml, const char* rocm) {
        ::setenv("RANKLAB_NVML_LIBRARY", nvml, 1);
        ::setenv("RANKLAB_ROCM_SMI_LIBRARY", rocm, 1);
    }
    static GpuMeters fake(const char* mode, const char* nvml = RANKLAB_FAKE_NVML) {
        ::setenv("FAKE_NVML", mode, 1);
        with(nvml, "/nonexistent/rocm.so");
        return open_gpu_meters();
    }
};

TEST_F(GpuCounters, OfNvml) {
    const auto meters = fake("");
    ASSERT_EQ(meters.gpus.size(), 2U);
    const auto& gpu = meters.gpus[0];
    EXPECT_EQ(gpu.id, "GPU-00000000-1111-2222-3333-444444444444");
    EXPECT_EQ(gpu.pci_id, "00000000:1A:00.0");
    EXPECT_EQ(gpu.name, "Fake H100 no. 0");
    const auto is = gpu.read(), other = meters.gpus[1].read();
    EXPECT_EQ(is.busy_percent, 90);
    EXPECT_EQ(is.memory_bytes, 1e9);
    EXPECT_DOUBLE_EQ(is.power_W, 250.5);
    EXPECT_EQ(is.temperature_C, 60);
    EXPECT_EQ(is.clock_MHz, 1980);
    EXPECT_EQ(is.throttle, "power cap, hot");
    EXPECT_GT(is.energy_J, 0);
    EXPECT_DOUBLE_EQ(other.power_W, 251.5);
    EXPECT_EQ(other.throttle, "none");
}

TEST_F(GpuCounters, OfALostGpuAreNoNumbers) {
    const auto meters = fake("lost");
    ASSERT_EQ(meters.gpus.size(), 2U);
    const auto lost = meters.gpus[1].read();
    for (const double value : {lost.busy_percent, lost.memory_bytes, lost.power_W,
                               lost.temperature_C, lost.clock_MHz, lost.energy_J})
        EXPECT_TRUE(std::isnan(value));
    EXPECT_EQ(lost.throttle, "");
    EXPECT_EQ(meters.gpus[0].read().busy_percent, 90) << "the other one works";
    const auto without_handle = fake("lost-at-start").gpus.at(1);
    EXPECT_EQ(without_handle.id, "1");
    EXPECT_TRUE(std::isnan(without_handle.read().busy_percent));
}

TEST_F(GpuCounters, ThatCannotBeAreNoNumbers) {
    const auto is = fake("garbage").gpus.at(0).read();
    EXPECT_TRUE(std::isnan(is.power_W));
    EXPECT_TRUE(std::isnan(is.busy_percent));
    EXPECT_EQ(is.temperature_C, 60);
}

TEST_F(GpuCounters, OfAnOldLibraryAreFewer) {
    const auto is = fake("", RANKLAB_FAKE_OLD_NVML).gpus.at(0).read();
    EXPECT_DOUBLE_EQ(is.power_W, 250.5);
    EXPECT_TRUE(std::isnan(is.energy_J));
    EXPECT_EQ(is.throttle, "");
    EXPECT_EQ(is.clock_MHz, 1980);
}

TEST_F(GpuCounters, OfRocmSmi) {
    with("/nonexistent/nvml.so", RANKLAB_FAKE_ROCM_SMI);
    const auto meters = open_gpu_meters();
    ASSERT_EQ(meters.gpus.size(), 1U);
    EXPECT_EQ(meters.gpus[0].id, "GPU-0000000000abcdef");
    EXPECT_EQ(meters.gpus[0].pci_id, "0000:c1:00.0");
    EXPECT_EQ(meters.gpus[0].name, "Fake MI300 no. 0");
    const auto is = meters.gpus[0].read();
    EXPECT_EQ(is.busy_percent, 70);
    EXPECT_EQ(is.memory_bytes, 5000);
    EXPECT_DOUBLE_EQ(is.power_W, 140);
    EXPECT_DOUBLE_EQ(is.temperature_C, 55);
    EXPECT_DOUBLE_EQ(is.clock_MHz, 2100);
    EXPECT_DOUBLE_EQ(is.energy_J, 30.5);
    EXPECT_EQ(is.throttle, "");
}

TEST_F(GpuCounters, SayWhyThereAreNone) {
    const auto none = open_gpu_meters();
    EXPECT_TRUE(none.gpus.empty());
    EXPECT_THAT(none.why_none, HasSubstr("/nonexistent/nvml.so: cannot open"));
    EXPECT_THAT(none.why_none, HasSubstr("/nonexistent/rocm.so: cannot open"));
    EXPECT_THAT(fake("does-not-start").why_none,
                HasSubstr("NVML does not start: Driver Not Loaded (code 9)"));
    with("", "");  // the host's own libraries: no user knows their names
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    std::string said = open_gpu_meters().why_none;
    said += testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
    for (const char* word : {"cannot open", "librocm", "rsmi", "libnvidia"})
        EXPECT_THAT(said, testing::Not(HasSubstr(word)));
}

TEST(PciIds, AreWrittenInSeveralWays) {
    EXPECT_TRUE(is_same_pci("0000:1a:00.0", "00000000:1A:00.0"));
    EXPECT_FALSE(is_same_pci("0001:1a:00.0", "00000000:1A:00.0"));
    EXPECT_FALSE(is_same_pci("", ""));
}

}  // namespace
}  // namespace ranklab::device
