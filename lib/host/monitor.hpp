// --monitor: a thread of each host's first rank samples what the host and its ranks use, from /proc
// (proc(5), Documentation/accounting/psi.rst) and RAPL (Linux's power capping framework); another
// thread samples the GPUs, because a call of the driver may block.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "device/gpu_counters.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"

namespace ranklab::host {

inline constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

struct Energy {
    double joules = kNotKnown;
    std::string why_not = {};  ///< why `joules` is NaN; otherwise ""

    static auto fields(auto& self) { return std::tie(self.joules, self.why_not); }
};

/// Measures the energy of all processor packages, including other processes' work on them.
class CpuEnergy {
  public:
    explicit CpuEnergy(const std::filesystem::path& root = system_root());
    /// Call it often: if a counter may wrap around between two calls, the energy becomes unknown.
    void sample();
    /// From construction to the last sample. Unknown if a counter did not move.
    Energy energy() const;

  private:
    struct Package {
        std::filesystem::path counter;
        double range_uj, last_uj;
        bool moved = false;
    };
    double read_uj(const std::filesystem::path& file);

    std::vector<Package> packages_;
    Energy energy_;
    base::Clock::time_point sampled_ = base::Clock::now();
};

/// One sample of one GPU.
struct GpuRow {
    double time_s = 0;  ///< since the monitor began
    std::string host, gpu, name;
    int rank = -1;               ///< lowest rank that computes on it; -1: none
    device::GpuReading is = {};  ///< energy_J counts from the first sample

    static auto fields(auto& self) {
        return std::tie(self.time_s, self.host, self.gpu, self.name, self.rank, self.is);
    }
};

struct GpuSamples {
    std::vector<GpuRow> rows;
    Energy energy;  ///< sum over GPUs, from the first sample to the last

    static auto fields(auto& self) { return std::tie(self.rows, self.energy); }
};

struct MonitoredRank {
    int rank = 0;
    pid_t pid = 0;
    OwnGpu gpu = {};  ///< the GPU that the rank computes on
};
/// The lowest rank that computes on the GPU; -1: none. Compares PCI ids, too: a part of a GPU (MIG)
/// has a UUID that NVML's list of GPUs lacks.
int rank_on(const std::vector<MonitoredRank>& ranks, const std::string& uuid,
            const std::string& pci_id);

class GpuMonitor : base::Immovable {
  public:
    GpuMonitor(std::vector<MonitoredRank> ranks, double interval_s, base::Clock::time_point began);
    ~GpuMonitor() { stop(); }

    /// Takes a last sample. If the driver still blocks after `patience`, detaches the thread and
    /// returns the samples so far.
    GpuSamples stop(std::chrono::duration<double> patience = std::chrono::seconds(2));

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;  // a detached thread outlives the monitor
    std::thread thread_;
};

/// Counters of a process with its children, or of a host: totals since the start of the process or
/// host, except the current values threads and rss_bytes. NaN if the system lacks a counter.
struct Counters {
    double cpu_s = kNotKnown;   ///< sum over threads, or over the host's CPUs
    double wait_s = kNotKnown;  ///< process only: time that runnable threads waited for a CPU
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
    std::jthread ticker_;  // declared last: its thread uses the other members
};

}  // namespace ranklab::host
