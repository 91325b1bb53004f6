#include "host/process.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>

namespace ranklab::host {
namespace {

TEST(Process, CountsAThreadThatWasStarted) {
    const int before = thread_count();
    EXPECT_GE(before, 1);
    std::promise<void> end;
    std::thread other([waits = end.get_future()] { waits.wait(); });
    EXPECT_EQ(thread_count(), before + 1);
    end.set_value();
    other.join();
}

TEST(Process, ThePeakGrowsWithTouchedMemory) {
    const auto before = peak_rss_bytes();
    EXPECT_GT(before, 1 << 20);
    constexpr std::size_t kBytes = 64U << 20U;
    auto memory = std::make_unique<char[]>(kBytes);
    volatile char* const bytes = memory.get();  // or the compiler would leave all of it out
    for (std::size_t i = 0; i < kBytes; i += 4096) bytes[i] = 1;
    // Part of it may go into what an earlier test gave back.
    EXPECT_GE(peak_rss_bytes() - before, static_cast<std::int64_t>(kBytes) * 9 / 10);
    const auto peak = peak_rss_bytes();
    memory.reset();
    EXPECT_GE(peak_rss_bytes(), peak) << "a peak stays";
}

TEST(Process, KnowsHowLongItRuns) {
    const double first = seconds_since_process_start();
    EXPECT_GE(first, -0.011) << "the kernel's resolution is 10 ms";
    EXPECT_LT(first, 110) << "the test's own time limit is 120 s";
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double later = seconds_since_process_start();
    EXPECT_GE(later - first, 0.050 - 1e-6);
    EXPECT_LT(later - first, 10);
}

}  // namespace
}  // namespace ranklab::host
