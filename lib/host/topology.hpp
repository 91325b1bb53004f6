// The machine's topology by hwloc (loaded once per process, in 10 ms), cgroup limits, and each
// rank's placement.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "host/process.hpp"

namespace ranklab::host {

/// The calling thread's cpuset: logical CPUs, ascending.
std::vector<int> cpuset();

/// Groups `cpus` by physical core. A CPU unknown to hwloc is its own core.
std::vector<std::vector<int>> cores_of(const std::vector<int>& cpus);
/// The cores of `cpus`, each named by its lowest CPU on the machine, ascending. All ranks of a host
/// use the same names.
std::vector<int> core_names(const std::vector<int>& cpus);
/// The number of physical cores of `cpus`.
int cores_in(const std::vector<int>& cpus);

/// The NUMA nodes of `cpus`, ascending.
std::vector<int> numa_nodes_of(const std::vector<int>& cpus);

/// CPUs near the PCI device ("0000:17:00.0"); empty if unknown.
std::vector<int> cpus_near(std::string pci_id);

/// Limits on CPU time by cgroups (version 2: cpu.max; version 1: cpu.cfs_quota_us).
struct CpuQuota {
    struct Limit {
        double cpus = 0;     ///< seconds of CPU time per second
        std::string cgroup;  ///< identifies the cgroup on its host
        static auto fields(auto& self) { return std::tie(self.cpus, self.cgroup); }
    };
    bool known = false;         ///< true if cgroups are visible; empty `limits` then mean unlimited
    std::vector<Limit> limits;  ///< of the process's cgroup and its parents

    static auto fields(auto& self) { return std::tie(self.known, self.limits); }
};
CpuQuota cpu_quota(const std::filesystem::path& root = system_root());
/// The lowest limit in CPUs; nullopt if unlimited.
std::optional<double> least_limit(const CpuQuota& quota);

/// The number after a word in a file: "MemAvailable: 123 kB", "inactive_file 123".
std::optional<std::int64_t> number_behind(const std::filesystem::path& file, std::string_view word);

/// Bytes that host and cgroup limits let the process allocate without swapping; nullopt if unknown.
std::optional<std::int64_t> free_memory(const std::filesystem::path& root = "/");

/// A rank's GPU.
struct OwnGpu {
    std::string name = {};  ///< "" if the rank sees no GPU
    std::string uuid = {};
    std::string pci_id = {};
    std::vector<int> cpus = {};  ///< near the GPU; empty if unknown

    static auto fields(auto& self) {
        return std::tie(self.name, self.uuid, self.pci_id, self.cpus);
    }
};

/// The host, CPUs, GPU and software of one rank.
struct Placement {
    int rank = 0;
    int local_rank = 0;
    std::string host;
    std::vector<int> cpus;        ///< cpuset
    std::vector<int> cores = {};  ///< core_names of `cpus`
    std::vector<int> numa = {};   ///< NUMA nodes of `cpus`
    int threads = 0;              ///< intra-op threads
    std::string build;            ///< version and revision of the program
    std::string gpus;             ///< names of the visible GPUs, or why there are none
    std::string cpu = {};         ///< processor model
    std::string governor = {};    ///< governor_of `cpus`
    OwnGpu own_gpu = {};
    CpuQuota quota = {};
    bool threads_by_default = false;          ///< `threads` was not set by the user
    std::vector<std::string> libraries = {};  ///< "MPI ...", "HDF5 ...": names and versions
    double shared_memory_bytes = 0;           ///< size of /dev/shm; 0: unknown

    static auto fields(auto& self) {
        return std::tie(self.rank, self.local_rank, self.host, self.cpus, self.cores, self.numa,
                        self.threads, self.build, self.gpus, self.cpu, self.governor, self.own_gpu,
                        self.quota, self.threads_by_default, self.libraries,
                        self.shared_memory_bytes);
    }
};

/// This rank's placement. `threads` 0 means one per core of the cpuset, which settle_threads may
/// lower.
Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus);

/// Lowers default thread counts to the cgroups' limits. Ranks that share a limit get equal parts of
/// it, rounded down to at least one thread.
void settle_threads(std::vector<Placement>& placements);

/// The lowest CPU limit over all ranks' cgroups, in CPUs: "2", "none", "unknown".
std::string quota_text(const std::vector<Placement>& placements);

/// Each rank's device, in the order of `placements`: with `on_gpus` its GPU, "NVIDIA H100
/// [GPU-<hex>]"; otherwise "cpu", with the processor's model if models differ.
std::vector<std::string> devices_of(const std::vector<Placement>& placements, bool on_gpus);

}  // namespace ranklab::host
