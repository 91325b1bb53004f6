// A background thread that calls a function periodically.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ranklab::base {

/// Calls `tick(seconds since the last call)` about every `period` on its own thread, while the
/// object lives. The thread blocks kStopSignals.
class Ticker {
  public:
    using Seconds = std::chrono::duration<double>;
    Ticker(Seconds period, std::function<void(double seconds)> tick);
    ~Ticker();

  private:
    void run();

    Seconds period_;
    std::function<void(double)> tick_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stop_ = false;
    std::thread thread_;  // last: it uses the other members
};

/// Starts a thread that blocks kStopSignals: the main thread receives them.
std::thread thread_without_signals(std::function<void()> work);

}  // namespace ranklab::base
