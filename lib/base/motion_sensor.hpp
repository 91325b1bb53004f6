// Looks whether this process works: by its beats, and where there are none by what the kernel tells of its
// threads and worker processes. For the watchdog.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "base/motion.hpp"

namespace ranklab::base {

/// seen: a beat since the last look; or something Unhurried; or a file's bytes went to or fro; or processor
/// time was used by the threads and worker processes, those aside that wait for other ranks (Waiting), and of
/// our threads only while the main one does not. unknown: a thread or worker process is inside a call on a
/// file or waits for a processor, or there is AtWork, or there is no /proc. While beats come the kernel is
/// not asked; the first look without one is the one that later ones are compared with.
class MotionSensor {
  public:
    /// Called by one thread, which is an observer.
    Motion look();

  private:
    struct Usage {
        std::uint64_t cpu_ns = 0;
        std::uint64_t bytes = 0;
    };
    struct Sample {
        std::map<std::string, Usage> tasks;  // by their folders in /proc
        bool may_work = false;               // one is inside a call on a file, or waits for a processor
    };
    Sample take(const IdleThreads& idle) const;
    static void add_process(Sample& sample, const std::string& process, const IdleThreads& idle);
    bool moved(const Sample& now, const IdleThreads& idle, double seconds) const;

    std::int64_t beats_ = beats();
    bool compares_ = false;  // last_ is of the look before
    Sample last_;
    std::chrono::steady_clock::time_point when_;
};

namespace detail {

/// A thread's processor time, and its time of waiting for a processor, by its files in /proc: `schedstat`,
/// and of `stat` what follows the name. Kernels without scheduler statistics have no schedstat, or zeros in
/// it; stat counts in ticks, mostly of 10 ms.
std::uint64_t processor_ns(const std::string& schedstat, const std::string& stat);

}  // namespace detail

}  // namespace ranklab::base
