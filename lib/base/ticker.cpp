#include "base/ticker.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/clock.hpp"
#include "base/stop_signals.hpp"

namespace ranklab::base {

Ticker::Ticker(Seconds period, std::function<void(double)> tick) {
    const StopSignalsBlocked inherited;  // a new thread inherits the signal mask
    thread_ = std::jthread([period, tick = std::move(tick)](const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any wake;
        auto last = Clock::now();
        while (true) {
            wake.wait_for(lock, stop, period, [] { return false; });
            if (stop.stop_requested()) return;
            const auto before = std::exchange(last, Clock::now());
            tick(seconds_between(before, last));
        }
    });
}

}  // namespace ranklab::base
