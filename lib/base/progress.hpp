// How an experiment tells of its progress without knowing who looks: app shows a bar or lines, the
// watchdog counts the beats.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/motion.hpp"

namespace ranklab::base {

class ProgressSink {
  public:
    virtual ~ProgressSink() = default;
    /// `done` of `total` units of work are finished; `note` is short ("loss 0.41").
    /// `rate` is in units of `rate_unit` a second. Called often: must be cheap.
    virtual void update(std::int64_t done, std::int64_t total, double rate, std::string_view rate_unit,
                        std::string_view note) = 0;
    /// What the units of work are, where they are not steps ("files").
    virtual void counts(std::string_view) {}
    /// What the rank is doing now ("reading data", "step 12"): named if the job stalls.
    virtual void activity(std::string_view what) = 0;
    /// Something else than a unit of work was done: a sign of life for the watchdog, as each of the above is.
    static void beat() noexcept { base::beat(); }
    /// The work is over: the bar is taken away.
    virtual void finish() = 0;
};

}  // namespace ranklab::base
