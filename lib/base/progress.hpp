// Progress of the work: a counter for the watchdog, and an interface for the display.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace ranklab::base {

namespace detail {
inline std::atomic<std::int64_t> progress{0};
}

/// Counts a finished piece of work: a step, a batch, a record, another process's answer. The
/// watchdog (app/watchdog.hpp) ends the job after --stall-timeout seconds without a call, so a loop
/// that only polls must not call it. Thread-safe; costs a relaxed atomic increment.
inline void count_progress() noexcept {
    detail::progress.fetch_add(1, std::memory_order_relaxed);
}
/// How often count_progress() was called in this process.
inline std::int64_t progress_count() noexcept {
    return detail::progress.load(std::memory_order_relaxed);
}

/// True while a training step runs. If a step still runs 5 s after SIGTERM, the watchdog ends the
/// job, and the run is not stored.
inline std::atomic<bool> in_step{false};

/// Shows an experiment's progress: app draws a bar or prints lines. Each call also counts for the
/// watchdog.
class ProgressSink {
  public:
    virtual ~ProgressSink() = default;
    /// `done` of `total` units of work are finished; `note` is short ("loss 0.41").
    /// `rate` is in `rate_unit` per second. Called often: must be cheap.
    virtual void update(std::int64_t done, std::int64_t total, double rate,
                        std::string_view rate_unit, std::string_view note) = 0;
    /// Announces work after the last unit: `seconds` are added to the time left; `unknown` names
    /// work of unknown duration ("the evaluation"; "" for none).
    virtual void afterwards(double /*seconds*/, std::string_view /*unknown*/) {}
    /// Names the units of work if they are not steps ("files").
    virtual void counts(std::string_view) {}
    /// Sets the rank's present work ("reading data"), which the watchdog prints.
    virtual void activity(std::string_view what) = 0;
    /// Removes the bar.
    virtual void finish() = 0;
    /// Prints a line to stdout, for programs that read it. Called on rank 0 alone.
    virtual void line(const std::string& /*text*/) {}
};

}  // namespace ranklab::base
