// The GPUs in --monitor, sampled by a thread of their own: a call of the driver may block.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "device/gpu_counters.hpp"
#include "host/energy.hpp"
#include "host/topology.hpp"

namespace ranklab::host {

/// A sample of a GPU.
struct GpuRow {
    double time_s = 0;  ///< since the monitor began
    std::string host, gpu, name;
    int rank = -1;               ///< that computes on it, the first of them; -1: none
    device::GpuReading is = {};  ///< its energy is that since the first sample

    static auto fields(auto& self) {
        return std::tie(self.time_s, self.host, self.gpu, self.name, self.rank, self.is);
    }
};

struct GpuSamples {
    std::vector<GpuRow> rows;
    Energy energy;  ///< of all GPUs, from the first sample to the last

    static auto fields(auto& self) { return std::tie(self.rows, self.energy); }
};

struct MonitoredRank {
    int rank = 0;
    pid_t pid = 0;
    OwnGpu gpu = {};  ///< that it computes on
};
/// The first rank that computes on it; -1: none. A part of a GPU (MIG) has its PCI id.
int rank_on(const std::vector<MonitoredRank>& ranks, const std::string& uuid,
            const std::string& pci_id);

class GpuMonitor : base::Immovable {
  public:
    GpuMonitor(std::vector<MonitoredRank> ranks, double interval_s, base::Clock::time_point began);
    ~GpuMonitor() { stop(); }

    /// Takes a last sample. A call that still blocks after `patience` is left alone with its
    /// thread.
    GpuSamples stop(std::chrono::duration<double> patience = std::chrono::seconds(2));

  private:
    struct Shared;
    std::shared_ptr<Shared> shared_;  // the thread may outlive the monitor
    std::thread thread_;
};

}  // namespace ranklab::host
