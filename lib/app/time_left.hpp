// How long the rest of some equal units of work will take.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/clock.hpp"

namespace ranklab::app {

/// From the units since the first one, which is slow and must not bend the rest. Where only one has been
/// seen nothing is known.
class TimeLeft {
  public:
    using Clock = std::chrono::steady_clock;

    /// A count that is at its first unit, or below where it was, is one of other work.
    void begin_anew_if(std::int64_t done, Clock::time_point now) {
        if (done <= 1 || done < last_) {
            began_ = now;
            first_ = done;
        }
        last_ = done;
    }

    std::optional<double> seconds(std::int64_t done, std::int64_t total, Clock::time_point now) const {
        if (done <= first_) return std::nullopt;
        const double passed_s = base::seconds_between(began_, now);
        return passed_s / static_cast<double>(done - first_) * static_cast<double>(total - done);
    }

    Clock::time_point began() const { return began_; }

  private:
    Clock::time_point began_{};
    std::int64_t first_ = 0;
    std::int64_t last_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace ranklab::app
