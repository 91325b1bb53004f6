#include "app/watchdog.hpp"

#include <algorithm>
#include <exception>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/mpi_environment.hpp"

namespace ranklab::app {
namespace {

// Often enough that a short time is kept well, seldom enough that nobody notices.
double period_of(double seconds) {
    return std::min(1.0, seconds / 4);
}

// A note takes a period on each line, to rank 0 and from there to all: as late it comes. The others leave
// rank 0 the word where it has one, and those that are farther from it leave it to those that are nearer.
double limit_of(double seconds, int rank, const comm::Lifeline& lifeline) {
    const double period = period_of(seconds);
    const double way = lifeline.depth() * period;
    if (rank == 0) return seconds + std::max(way, period);
    constexpr double kPerLevel = 2;
    return seconds + 2 * way + period + kPerLevel * (lifeline.level() - 1) + std::min(2.0, 0.1 * rank);
}

}  // namespace

Watchdog::Watchdog(double seconds, comm::Lifeline& lifeline, int rank)
    : seconds_(seconds),
      lifeline_(lifeline),
      rank_(rank),
      clock_(limit_of(seconds, rank, lifeline), period_of(seconds)),
      ticker_(base::Ticker::Seconds(period_of(seconds)), [this](double passed) { tick(passed); }) {}

void Watchdog::name_activity_of(TerminalProgress* progress) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
    worked_ = true;
}

std::string Watchdog::activity() {
    const std::lock_guard lock(mutex_);
    if (progress_ != nullptr) {
        progress_->tick();
        return progress_->last_activity();
    }
    return worked_ ? "ending" : "starting";
}

// A look takes memory, which the work may have all of: no reason to end it.
void Watchdog::tick(double seconds) {
    try {
        look(seconds);
    } catch (const std::exception&) {
        static_cast<void>(clock_.pass(seconds, base::Motion::unknown));
    }
}

void Watchdog::look(double seconds) {
    const auto own = sensor_.look();
    const std::string now = activity();
    const auto others = lifeline_.heard();
    lifeline_.tell(own, now);
    if (!clock_.pass(seconds, base::livelier(own, others))) return;
    base::log::error(stall_sentence(seconds_ * clock_.limits(), rank_, now, lifeline_.others()));
    comm::MpiEnvironment::abort(static_cast<int>(base::ExitCode::environment));
}

}  // namespace ranklab::app
