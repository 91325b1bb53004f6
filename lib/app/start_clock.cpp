#include "app/start_clock.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "comm/launcher.hpp"

namespace ranklab::app {
namespace {

// One speaks first; its launcher ends the others then.
double turn() {
    const int rank = comm::read_launcher().rank.value_or(0);
    return rank == 0 ? 0 : std::min(8.0, 3 + 0.1 * rank);
}

}  // namespace

StartClock::StartClock(double seconds, double shortest)
    : limit_(std::max(seconds, shortest) + turn()), deadline_(limit_, [this] {
          return fmt::format(
              "{} has not ended within {:.3g} s: another rank is stopped or dead, or the nodes do not reach "
              "each other",
              what_.load(), limit_);
      }) {}

}  // namespace ranklab::app
