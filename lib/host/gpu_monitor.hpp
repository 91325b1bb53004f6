// Samples the GPUs for --monitor, in a separate thread because a call of the driver may block.
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

}  // namespace ranklab::host
