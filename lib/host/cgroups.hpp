// The limits of this process's control groups. `docker --cpus=2` and Kubernetes' limits leave all
// CPUs in the cpuset and stop the process for a part of each period.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "host/facts.hpp"

namespace ranklab::host {

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
