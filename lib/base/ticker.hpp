// A background thread that calls a function periodically.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace ranklab::base {

/// Calls `tick(seconds since the last call)` about every `period` on its own thread, while the
/// object lives. The thread blocks kStopSignals.
class Ticker {
  public:
    using Seconds = std::chrono::duration<double>;
    Ticker(Seconds period, std::function<void(double seconds)> tick);

  private:
    std::jthread thread_;
};

}  // namespace ranklab::base
