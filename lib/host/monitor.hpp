// --monitor: a thread of each host's first rank samples what the host and its ranks use, from /proc
// (proc(5), Documentation/accounting/psi.rst). gpu_monitor samples the GPUs.
#pragma once

#include <sys/types.h>

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "base/ticker.hpp"
#include "host/energy.hpp"
#include "host/gpu_monitor.hpp"
#include "host/process.hpp"

namespace ranklab::host {

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

/// Counters of a process with its children, or of a host: totals since the start of the process or
/// host, except the current values threads and rss_bytes. NaN if the system lacks a counter.
struct Counters {
    double cpu_s = kNotKnown;   ///< sum over threads, or over the host's CPUs
    double wait_s = kNotKnown;  ///< process only: runnable threads waiting for a CPU
    double threads = kNotKnown;
    double rss_bytes = kNotKnown;  ///< of a host: MemTotal - MemAvailable
    double page_faults = kNotKnown;
    double read_bytes = kNotKnown, written_bytes = kNotKnown;   ///< process only: by system calls
    double sent_bytes = kNotKnown, received_bytes = kNotKnown;  ///< host only: without loopback
    double stalled_s = kNotKnown;  ///< host only: at least one thread waited for a CPU (PSI)
};

/// One sample; rates since the previous sample.
struct MonitorRow {
    double time_s = 0;  ///< since the monitor began
    std::string host;
    int rank = -1;  ///< -1: the host
    double cpu_percent = kNotKnown, wait_percent = kNotKnown, threads = kNotKnown,
           rss_bytes = kNotKnown, page_faults_per_s = kNotKnown, read_bytes_per_s = kNotKnown,
           written_bytes_per_s = kNotKnown, sent_bytes_per_s = kNotKnown,
           received_bytes_per_s = kNotKnown, pressure_percent = kNotKnown;

    static auto fields(auto& self) {
        return std::tie(self.time_s, self.host, self.rank, self.cpu_percent, self.wait_percent,
                        self.threads, self.rss_bytes, self.page_faults_per_s, self.read_bytes_per_s,
                        self.written_bytes_per_s, self.sent_bytes_per_s, self.received_bytes_per_s,
                        self.pressure_percent);
    }
};

/// All samples of a host, in time order.
struct Monitored {
    std::string host = {};  ///< "" on a rank without a monitor
    std::vector<MonitorRow> rows = {};
    GpuSamples gpus = {};
    Energy cpu_energy = {};

    static auto fields(auto& self) {
        return std::tie(self.host, self.rows, self.gpus, self.cpu_energy);
    }
};

class Monitor : base::Immovable {
  public:
    /// Samples this host every `interval_s` until stop().
    Monitor(const std::vector<MonitoredRank>& ranks, double interval_s);

    /// Takes a last sample.
    Monitored stop();

  private:
    struct Subject {
        int rank;
        pid_t pid;
        Counters last;
    };
    void tick();
    void sample();

    std::vector<Subject> subjects_;
    std::vector<MonitorRow> rows_;
    std::string host_;
    base::Clock::time_point began_, last_;
    double interval_s_;
    std::size_t ticks_ = 0, ticks_a_sample_ = 1, most_rows_ = std::size_t{1} << 17U;
    CpuEnergy cpu_energy_;
    GpuMonitor gpus_;
    std::optional<base::Ticker> ticker_;  // declared last: its thread uses the other members
};

}  // namespace ranklab::host
