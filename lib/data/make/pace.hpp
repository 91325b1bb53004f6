// Progress of work in parts of known number, with the rate that it had so far.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/cast.hpp"
#include "base/clock.hpp"
#include "base/progress.hpp"

namespace ranklab::data {

class Pace {
  public:
    /// `unit` is that of the rate ("MiB/s"); `note` says what a step is. Both are literals of the caller.
    Pace(base::ProgressSink& progress, std::int64_t total, std::string_view unit, std::string_view note)
        : progress_(progress), total_(total), unit_(unit), note_(note) {}

    /// One step more is done, which was `amount` of the rate's unit (MiB).
    void step(double amount) { steps(1, amount); }
    void steps(std::int64_t count, double amount) {
        done_ += count;
        amount_ += amount;
        const double seconds = base::seconds_since(start_);
        progress_.update(done_, total_, seconds > 0 ? amount_ / seconds : 0, unit_, note_);
    }

  private:
    using Clock = std::chrono::steady_clock;
    base::ProgressSink& progress_;
    std::int64_t total_;
    std::string_view unit_;
    std::string_view note_;
    std::int64_t done_ = 0;
    double amount_ = 0;
    Clock::time_point start_ = Clock::now();
};

constexpr double mebibytes(std::int64_t bytes) {
    return base::real(bytes) / (1 << 20);
}

}  // namespace ranklab::data
