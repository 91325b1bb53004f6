// What moves in this process, and what only waits for others: the watchdog asks (motion_sensor.hpp). Work
// tells of itself here, from any room and thread, at the cost of a relaxed atomic.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/pinned.hpp"

namespace ranklab::base {

/// What was seen since the last look. unknown: something may go on of which nothing is seen, such as a call
/// that the kernel has not come back from, or a rank that tells nothing.
enum class Motion : char { none = '-', unknown = '?', seen = '+' };
/// The livelier of the two.
Motion livelier(Motion one, Motion other);

namespace detail {

inline std::atomic<std::int64_t> beats{0};
inline std::atomic<int> at_work{0};
inline std::atomic<int> unhurried{0};

/// One thread, as the sensor must know it.
struct ThreadNote {
    ThreadNote();
    ~ThreadNote();

    pid_t id;
    std::atomic<int> waits{0};          // Waiting scopes it is in
    std::atomic<bool> observes{false};  // an Observer
};
ThreadNote& own_note();

}  // namespace detail

/// A piece of work was done.
inline void beat() noexcept {
    detail::beats.fetch_add(1, std::memory_order_relaxed);
}
inline std::int64_t beats() noexcept {
    return detail::beats.load(std::memory_order_relaxed);
}

/// This thread waits for other ranks, as MPI does: by turning round and round. Until the scope ends its
/// processor time is no sign of work; the end of the wait is one.
class Waiting : Pinned {
  public:
    /// `others`: whether there are any; without them it is no wait.
    explicit Waiting(bool others = true) noexcept : count_(others ? 1 : 0) {
        note_.waits.fetch_add(count_, std::memory_order_relaxed);
    }
    ~Waiting() {
        note_.waits.fetch_sub(count_, std::memory_order_relaxed);
        beat();
    }

  private:
    detail::ThreadNote& note_ = detail::own_note();
    int count_;
};

/// Local work that may show neither processor time nor bytes for long, and in which no beat can be placed.
class AtWork : Pinned {
  public:
    AtWork() noexcept { detail::at_work.fetch_add(1, std::memory_order_relaxed); }
    ~AtWork() {
        detail::at_work.fetch_sub(1, std::memory_order_relaxed);
        beat();
    }
};

/// Work that nothing may end, however long it takes: handing a finished run over, to a lock that others hold
/// or to somebody who does not read yet. It counts as motion.
class Unhurried : Pinned {
  public:
    Unhurried() noexcept { detail::unhurried.fetch_add(1, std::memory_order_relaxed); }
    ~Unhurried() {
        detail::unhurried.fetch_sub(1, std::memory_order_relaxed);
        beat();
    }
};

/// This thread looks at the others, from here to its end: what it does is no work.
void observe_only();

/// The threads whose processor time says nothing now, and those that only look.
struct IdleThreads {
    std::vector<pid_t> waiting;
    std::vector<pid_t> observing;
};
IdleThreads idle_threads();

}  // namespace ranklab::base
