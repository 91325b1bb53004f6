// Durations in seconds on the monotonic clock.
#pragma once

#include <chrono>

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

}  // namespace ranklab::base
