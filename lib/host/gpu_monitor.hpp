// The GPUs in --monitor, sampled by a thread of their own: a call of the driver may block.
#pragma once

#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "base/handle.hpp"
#include "host/energy.hpp"
#include "host/topology.hpp"

namespace ranklab::host {

/// A sample of a GPU; NaN and "" where the library does not say.
struct GpuRow {
    double time_s = 0;  ///< since the monitor began
    std::string host, gpu, name;
    int rank = -1;  ///< that computes on it, the first of them; -1: none
    double busy_percent, memory_bytes, power_W, temperature_C, clock_MHz;
    std::string throttle;
    double energy_J;  ///< since the first sample

    static auto fields(auto& self) {
        return std::tie(self.time_s, self.host, self.gpu, self.name, self.rank, self.busy_percent,
                        self.memory_bytes, self.power_W, self.temperature_C, self.clock_MHz,
                        self.throttle, self.energy_J);
    }
};

struct GpuSamples {
    std::vector<GpuRow> rows;
    Energy energy;  ///< of all GPUs, from the first sample to the last

    static auto fields(auto& self) { return std::tie(self.rows, self.energy); }
};

/// The GPU that a rank of this host computes on.
struct GpuOfRank {
    int rank;
    OwnGpu gpu;
};
/// The first rank that computes on it; -1: none. A part of a GPU (MIG) has its PCI id.
int rank_on(const std::vector<GpuOfRank>& ranks, const std::string& uuid,
            const std::string& pci_id);

class GpuMonitor : base::Pinned {
  public:
    GpuMonitor(std::vector<GpuOfRank> ranks, double interval_s, base::Clock::time_point began);
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
