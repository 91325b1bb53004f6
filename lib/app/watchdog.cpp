#include "app/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/stop_signals.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi_environment.hpp"

namespace ranklab::app {
namespace {

constexpr double kPeriod = 1;
constexpr double kTurn = 2;

// All ranks of a stalled job reach the limit at about the same time. The longer limit of other
// ranks lets rank 0 report and end the job.
double limit_of_rank(double seconds) {
    return seconds > 0 && comm::read_launcher().rank.value_or(0) > 0 ? seconds + kTurn : seconds;
}

}  // namespace

bool StallRule::pass(double seconds, std::int64_t count, double most) {
    const bool moved = count_ != count;
    count_ = count;
    still_s_ = moved ? 0 : still_s_ + std::min(seconds, most);
    return limit_s_ > 0 && still_s_ >= limit_s_;
}

Watchdog::Watchdog(double seconds, TerminalProgress& progress)
    : limit_s_(seconds),
      rule_(limit_of_rank(seconds)),
      progress_(progress),
      ticker_(base::every(std::chrono::duration<double>(kPeriod),
                          [this](double passed) { look(passed); })) {}

void Watchdog::set_limit(double seconds) {
    const std::lock_guard lock(mutex_);
    limit_s_ = seconds;
    rule_ = StallRule(limit_of_rank(seconds));
}

void Watchdog::look(double seconds) try {
    const std::lock_guard lock(mutex_);
    progress_.tick();
    constexpr double kAfterTerm = 5;
    const bool stops = base::StopSignals::received() == SIGTERM && base::in_step;
    after_term_s_ = stops ? after_term_s_ + std::min(seconds, 2 * kPeriod) : 0;
    if (after_term_s_ >= limit_of_rank(kAfterTerm)) {
        base::log::error(
            fmt::format("stopped by SIGTERM while {}: the step did not end within {:.0f} s; job "
                        "aborted, nothing is stored",
                        progress_.doing(), kAfterTerm));
        comm::MpiEnvironment::abort(128 + SIGTERM);
    }
    if (!rule_.pass(seconds, base::progress_count(), 2 * kPeriod)) return;
    base::log::error(
        fmt::format("no progress for {:.0f} s while {}; job aborted", limit_s_, progress_.doing()),
        {"stall-timeout"});
    comm::MpiEnvironment::abort(base::number_of(base::ExitCode::environment));
} catch (const std::exception&) {
    // Out of memory: the next check may succeed.
}

}  // namespace ranklab::app
