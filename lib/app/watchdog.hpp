// Ends a job that makes no progress any more.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "app/terminal.hpp"
#include "base/handle.hpp"
#include "base/ticker.hpp"

namespace ranklab::app {

/// Decides when a rank has stalled, by the time that is passed to it.
class StallRule {
  public:
    /// Stalled after `limit_s` seconds with the same count; 0: never.
    explicit StallRule(double limit_s) : limit_s_(limit_s) {}

    /// Notes that `seconds` have passed and that the counter stands at `count`. A pass counts for
    /// `most` seconds at most: in a longer one this process itself was stopped.
    bool pass(double seconds, std::int64_t count, double most);

  private:
    double limit_s_;
    double still_s_ = 0;
    std::optional<std::int64_t> count_;
};

/// Looks once a second at the counter of base/progress.hpp. Where it stood still for the limit,
/// this rank reports what it was doing and ends the job with exit code 5. A rank that waits in MPI
/// for a dead or stopped one stands still as well. MPI need not run yet: then this process ends.
class Watchdog : base::Immovable {
  public:
    /// `seconds` 0: never.
    explicit Watchdog(double seconds);

    /// From now on; the time begins anew.
    void set_limit(double seconds);
    /// This rank's present work where no `progress` knows it: "starting MPI".
    void set_activity(const char* what);
    /// Its activity is named; nullptr: set_activity()'s.
    void name_activity_of(TerminalProgress* progress);

  private:
    void look(double seconds);

    std::mutex mutex_;
    double limit_s_;
    StallRule rule_;
    const char* activity_ = "starting";
    TerminalProgress* progress_ = nullptr;
    base::Ticker ticker_;  // last: it uses the others
};

}  // namespace ranklab::app
