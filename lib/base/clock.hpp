// Durations in seconds on the monotonic clock, and a thread that calls a function periodically.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace ranklab::base {

using Clock = std::chrono::steady_clock;

inline double seconds_of(Clock::duration time) {
    return std::chrono::duration<double>(time).count();
}
inline double seconds_between(Clock::time_point begin, Clock::time_point end) {
    return seconds_of(end - begin);
}
inline double seconds_since(Clock::time_point begin) {
    return seconds_between(begin, Clock::now());
}

/// Calls `tick(seconds since the last call)` about every `period` on a thread of its own, which
/// blocks kStopSignals, until the returned object is destroyed.
std::jthread every(std::chrono::duration<double> period, std::function<void(double seconds)> tick);

}  // namespace ranklab::base
