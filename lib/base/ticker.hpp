// A thread that does something small at regular intervals while the work goes on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ranklab::base {

/// From construction to destruction it calls `tick(seconds)` on a thread of its own about every
/// `period`; `seconds` is the time since the last call. The thread takes no kStopSignals.
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
    std::thread thread_;  // last: it uses the others
};

/// A thread that none of kStopSignals reaches: they are the main thread's.
std::thread thread_without_signals(std::function<void()> work);

}  // namespace ranklab::base
