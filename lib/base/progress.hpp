// How work reports its progress: a counter for the watchdog, and what a person may see of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace ranklab::base {

namespace detail {
inline std::atomic<std::int64_t> progress{0};
}

/// Counts a finished piece of work: a step, a batch, a record, another process's answer. The
/// watchdog (app/watchdog.hpp) ends the job where this is not called for --stall-timeout seconds. A
/// loop that only polls does not call it. Any thread may, at the cost of a relaxed atomic.
inline void count_progress() noexcept {
    detail::progress.fetch_add(1, std::memory_order_relaxed);
}
/// How often count_progress() was called in this process.
inline std::int64_t progress_count() noexcept {
    return detail::progress.load(std::memory_order_relaxed);
}

/// How an experiment shows its progress, whatever the display: app shows a bar or lines. Each call
/// counts as progress.
class ProgressSink {
  public:
    virtual ~ProgressSink() = default;
    /// `done` of `total` units of work are finished; `note` is short ("loss 0.41").
    /// `rate` is in units of `rate_unit` a second. Called often: must be cheap.
    virtual void update(std::int64_t done, std::int64_t total, double rate,
                        std::string_view rate_unit, std::string_view note) = 0;
    /// Names work that follows these units: its seconds, which the time left includes, and work of
    /// unknown duration ("the evaluation"; "" for none).
    virtual void afterwards(double /*seconds*/, std::string_view /*unknown*/) {}
    /// The name of the units of work, where they are not steps ("files").
    virtual void counts(std::string_view) {}
    /// The rank's present work ("reading data"): the watchdog names it.
    virtual void activity(std::string_view what) = 0;
    /// The work is over: the bar is taken away.
    virtual void finish() = 0;
};

}  // namespace ranklab::base
