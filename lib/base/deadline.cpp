#include "base/deadline.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"

namespace ranklab::base {
namespace {

constexpr double kPeriod = 0.5;

}  // namespace

Deadline::Deadline(double seconds, std::function<std::string()> why)
    : left_(seconds),
      why_(std::move(why)),
      ticker_(Ticker::Seconds(kPeriod), [this](double passed) { pass(passed); }) {}

void Deadline::pass(double seconds) {
    left_ -= std::min(seconds, 2 * kPeriod);  // not what this process was stopped for itself
    if (left_ > 0) return;
    log::error(why_() + "; the job is ended", {"stall-timeout"});
    std::_Exit(number_of(ExitCode::environment));
}

}  // namespace ranklab::base
