#include "experiments/collectives/compute.hpp"

#include <pthread.h>
#include <time.h>

#include <algorithm>

#include "base/clock.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

Compute::Compute() {
    std::fill(std::begin(numbers_), std::end(numbers_), 0.5F);
}

// The numbers stay near 1: none becomes a denormal, which would take longer.
void Compute::unit() {
    for (int i = 0; i < kNumbers; ++i) numbers_[i] = numbers_[i] * 0.5F + 0.5F;
    asm volatile("" : : "g"(&numbers_[0]) : "memory");  // so that no unit is left out
}

void Compute::work(std::int64_t units, const std::function<void()>& between) {
    constexpr std::int64_t kPauses = 20;
    const std::int64_t stretch = between ? std::max<std::int64_t>(1, units / kPauses) : units;
    for (std::int64_t done = 0; done < units; ++done) {
        unit();
        if (between && (done + 1) % stretch == 0) between();
    }
}

// The quickest of a few trials: a longer one was interrupted.
std::int64_t Compute::units_of(double seconds) {
    constexpr std::int64_t kTrial = 2000;
    double quickest = 1;
    for (int trial = 0; trial < 5; ++trial) {
        const auto begin = base::Clock::now();
        work(kTrial);
        quickest = std::min(quickest, base::seconds_since(begin));
    }
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds / quickest * kTrial));
}

Load::Load()
    : thread_([this] {
          Compute compute;
          constexpr std::int64_t kUnits = 1000;
          while (!ends_.load(std::memory_order_relaxed)) compute.work(kUnits);
      }) {}

double Load::cpu_seconds() {
    clockid_t clock{};
    timespec used{};
    if (pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 || clock_gettime(clock, &used) != 0)
        return stats::kNone;
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

Load::~Load() {
    ends_.store(true, std::memory_order_relaxed);
    thread_.join();
}

}  // namespace ranklab::experiments
