// Ends a job that has stalled.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "app/terminal.hpp"
#include "base/clock.hpp"
#include "base/handle.hpp"

namespace ranklab::app {

/// Decides whether a rank has stalled.
class StallRule {
  public:
    /// A rank has stalled after `limit_s` seconds with an unchanged count; 0: never.
    explicit StallRule(double limit_s) : limit_s_(limit_s) {}

    /// Notes that `seconds` have passed and that the counter is at `count`; returns whether the
    /// rank has stalled. Counts at most `most` seconds: in a longer pause this process itself was
    /// stopped.
    bool pass(double seconds, std::int64_t count, double most);

  private:
    double limit_s_;
    double still_s_ = 0;
    std::optional<std::int64_t> count_;
};

/// Checks the counter of base/progress.hpp once a second. If the count has not changed for the
/// limit, reports the rank's present work and ends the job (before MPI has started, the process)
/// with exit code 5. If a step does not end within 5 s after SIGTERM, the job ends with 128 +
/// SIGTERM and stores nothing, since batch systems and timeout(1) kill soon after. A rank that
/// waits in MPI for a dead or stopped rank stalls, too.
class Watchdog : base::Immovable {
  public:
    /// `seconds` 0: never. `progress` knows the rank's present work.
    Watchdog(double seconds, TerminalProgress& progress);

    /// Sets the limit and restarts the time.
    void set_limit(double seconds);

  private:
    void look(double seconds);

    std::mutex mutex_;
    double limit_s_;
    StallRule rule_;
    double after_term_s_ = 0;  // since SIGTERM, while a step runs
    TerminalProgress& progress_;
    std::jthread ticker_;  // last: it uses the other members
};

}  // namespace ranklab::app
