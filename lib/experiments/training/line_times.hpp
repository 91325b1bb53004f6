// Host times of the training loop's lines outside of a step, for --profile lines.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "base/handle.hpp"

namespace ranklab::experiments {

/// A line's hits and its seconds on this rank's host.
struct LineTime {
    std::int64_t hits = 0;
    double seconds = 0;
};

struct LineTimes {
    bool wanted = false;
    LineTime progress = {}, logging = {}, checks = {}, evaluation = {};

    /// Adds a hit that lasts as long as this object.
    class Hit : base::Immovable {
      public:
        Hit(LineTime* line) : line_(line) {
            if (line_ != nullptr) start_ = base::Clock::now();
        }
        ~Hit() {
            if (line_ == nullptr) return;
            ++line_->hits;
            line_->seconds += base::seconds_since(start_);
        }

      private:
        LineTime* line_;
        base::Clock::time_point start_;
    };
    [[nodiscard]] Hit hit(LineTime LineTimes::*line) { return wanted ? &(this->*line) : nullptr; }
};

}  // namespace ranklab::experiments
