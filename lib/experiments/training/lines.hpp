// --profile lines: the training loop as pseudo-code, with line_profiler's columns.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "base/phase.hpp"
#include "comm/communicator.hpp"
#include "measure/samples.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// A line's hits and its seconds on this rank's host.
struct LineTime {
    std::int64_t hits = 0;
    double seconds = 0;

    /// Adds a hit that lasts as long as the returned object.
    class Hit : base::Immovable {
      public:
        explicit Hit(LineTime& line) : line_(line), start_(base::Clock::now()) {}
        ~Hit() { line_.add(base::seconds_since(start_)); }

      private:
        LineTime& line_;
        base::Clock::time_point start_;
    };
    [[nodiscard]] Hit hit() { return Hit(*this); }
    void add(double of_one_hit) {
        ++hits;
        seconds += of_one_hit;
    }
};

/// The whole run's times on this rank.
struct LineTimes {
    bool wanted = false;
    bool on_device = false;
    std::int64_t epochs = 0, batches = 0;
    std::array<double, base::kPhaseCount> host{};  ///< seconds of the phases
    LineTime progress, logging, checks, evaluation;
};

/// The table `lines`: means over ranks. Collective. `phases`: those that a step has.
void add_lines(results::Run& run, const LineTimes& lines, const std::vector<base::Phase>& phases,
               std::span<const measure::StepTimes> steps, comm::Communicator& control);

}  // namespace ranklab::experiments
