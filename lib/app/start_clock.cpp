#include "app/start_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/launcher.hpp"

namespace ranklab::app {
namespace {

constexpr double kPeriod = 0.5;

// One speaks first; its launcher ends the others then.
double turn() {
    const int rank = comm::read_launcher().rank.value_or(0);
    return rank == 0 ? 0 : std::min(8.0, 3 + 0.1 * rank);
}

}  // namespace

StartClock::StartClock(double seconds, double shortest)
    : limit_(std::max(seconds, shortest) + turn()),
      ticker_(base::Ticker::Seconds(kPeriod), [this](double passed) { tick(passed); }) {}

void StartClock::tick(double seconds) {
    passed_ += std::min(seconds, 2 * kPeriod);  // not what this process was stopped for itself
    if (passed_ < limit_) return;
    base::log::error(fmt::format("{} has not ended within {:.3g} s: another rank is stopped or dead, or the "
                                 "nodes do not reach each other; the job is ended",
                                 what_.load(), limit_),
                     {"stall-timeout"});
    std::_Exit(base::number_of(base::ExitCode::environment));
}

}  // namespace ranklab::app
