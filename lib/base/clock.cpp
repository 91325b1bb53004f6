#include "base/clock.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/stop_signals.hpp"

namespace ranklab::base {

std::jthread every(std::chrono::duration<double> period, std::function<void(double seconds)> tick) {
    const StopSignalsBlocked inherited;  // a new thread inherits the signal mask
    return std::jthread([period, tick = std::move(tick)](const std::stop_token& stop) {
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
