// The machine as hwloc sees it (loaded once per process, in 10 ms), and each rank's place on it.
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

/// Logical CPUs that the calling thread may run on, ascending.
std::vector<int> cpuset();

/// Groups `cpus` by physical core: each group has the hardware threads of one core. A CPU unknown
/// to hwloc is a core of its own.
std::vector<std::vector<int>> cores_of(const std::vector<int>& cpus);
/// The name of each of these cores, the same in all ranks of a host: its lowest CPU of the machine,
/// ascending.
std::vector<int> core_names(const std::vector<int>& cpus);
/// Hardware threads of one core count once.
int cores_in(const std::vector<int>& cpus);

/// NUMA nodes that `cpus` belong to, ascending.
std::vector<int> numa_nodes_of(const std::vector<int>& cpus);

/// CPUs near the PCI device ("0000:17:00.0"); empty where the system does not say.
std::vector<int> cpus_near(std::string pci_id);

/// CPU time that cgroups allow, in CPUs (cpu.max of version 2, cpu.cfs_quota_us of version 1).
struct CpuQuota {
    struct Limit {
        double cpus = 0;
        std::string cgroup;  ///< the same text in all processes of a host that share it
        static auto fields(auto& self) { return std::tie(self.cpus, self.cgroup); }
    };
    bool known = false;         ///< the system says it; without limits there is none
    std::vector<Limit> limits;  ///< of the process' own cgroup and those above it that have one

    static auto fields(auto& self) { return std::tie(self.known, self.limits); }
};
CpuQuota cpu_quota(const std::filesystem::path& root = system_root());
/// In CPUs; nullopt where there is none.
std::optional<double> least_limit(const CpuQuota& quota);

/// The number behind a word in a file: "MemAvailable: 123 kB", "inactive_file 123".
std::optional<std::int64_t> number_behind(const std::filesystem::path& file, std::string_view word);

/// The bytes that this process and others in its cgroups can still take without swapping; nullopt
/// where the system does not say.
std::optional<std::int64_t> free_memory(const std::filesystem::path& root = "/");

/// The GPU that a rank would use.
struct OwnGpu {
    std::string name = {};  ///< "" where it sees none
    std::string uuid = {};
    std::string pci_id = {};
    std::vector<int> cpus = {};  ///< near it; empty where the system does not say

    static auto fields(auto& self) {
        return std::tie(self.name, self.uuid, self.pci_id, self.cpus);
    }
};

/// Placement of one rank, as it sees itself.
struct Placement {
    int rank = 0;
    int local_rank = 0;
    std::string host;
    std::vector<int> cpus;        ///< logical CPUs of its cpuset
    std::vector<int> cores = {};  ///< physical cores among them (core_names)
    std::vector<int> numa = {};   ///< NUMA nodes of its cpuset
    int threads = 0;              ///< intra-op threads it will use
    std::string build;            ///< version and revision of its program
    std::string gpus;             ///< names of the GPUs it sees, or why none
    std::string cpu = {};         ///< the processor's model
    /// The governors of its CPUs: "performance", "powersave and performance"; "": unknown.
    std::string governor = {};
    OwnGpu own_gpu = {};
    CpuQuota quota = {};
    bool threads_by_default = false;          ///< the user did not give their number
    std::vector<std::string> libraries = {};  ///< versions as the libraries report them

    static auto fields(auto& self) {
        return std::tie(self.rank, self.local_rank, self.host, self.cpus, self.cores, self.numa,
                        self.threads, self.build, self.gpus, self.cpu, self.governor, self.own_gpu,
                        self.quota, self.threads_by_default, self.libraries);
    }
};

/// This rank's place; `threads` 0 means one per core of the cpuset (settle_threads may lower it).
Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus);

/// Limits thread counts that the user did not give to what the cgroups allow: ranks that share a
/// limit get equal parts, rounded down, but at least one thread.
void settle_threads(std::vector<Placement>& placements);

/// The least CPU time that a cgroup of a rank allows, in CPUs: "2", "none", "unknown".
std::string quota_text(const std::vector<Placement>& placements);

/// The device of each rank, in the order of `placements`: its GPU, "NVIDIA H100 [GPU-<hex>]", where
/// `on_gpus`, otherwise "cpu", with the processor's model where the hosts' differ.
std::vector<std::string> devices_of(const std::vector<Placement>& placements, bool on_gpus);

}  // namespace ranklab::host
