// The ticking thread: does something small every so often, beside the work.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace ranklab::base {

/// From construction to destruction `tick(seconds)` is called on a thread of its own, about every
/// `period`; `seconds` is how long the last call ago is. The thread takes no signals.
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

/// A thread that no signal reaches: they are the main thread's.
std::thread thread_without_signals(std::function<void()> work);

}  // namespace ranklab::base
