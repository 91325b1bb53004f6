// The machine as hwloc sees it; it is loaded once a process, which takes 10 ms.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "host/process.hpp"

namespace ranklab::host {
/// Logical CPUs that the calling thread may run on, ascending.
std::vector<int> cpuset();

/// `cpus` by physical core: the hardware threads of one core stand together. A CPU that hwloc does not know
/// is a core of its own.
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

/// Bytes that this process and others in its cgroups can still take without swapping; nullopt where the
/// system does not say it.
std::optional<std::int64_t> free_memory(const std::filesystem::path& root = "/");

}  // namespace ranklab::host
