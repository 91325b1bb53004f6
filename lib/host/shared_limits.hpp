// The CPU time that cgroups allow ranks which share it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/placement.hpp"

namespace ranklab::host {

/// The ranks that share a cgroup's limit, and what they run.
struct Limited {
    std::string host;
    double cpus = 0;
    int threads = 0;
    std::vector<int> ranks;

    double threads_per_cpu() const { return threads / cpus; }
    int for_each() const;  ///< threads for each rank, rounded down
};

/// By host and cgroup.
std::map<std::pair<std::string, std::string>, Limited> limits_of(const std::vector<Placement>& placements);

/// The least of them, in CPUs; nothing where there is none.
std::optional<double> least_limit(const CpuQuota& quota);

/// Takes from the threads that nobody asked for what the cgroups do not allow: the ranks that share a limit
/// have equal parts of it, rounded down, and one thread at least.
void settle_threads(std::vector<Placement>& placements);

/// What the cgroups allow all ranks of a host, in CPUs: "2", "none", "unknown"; by host where they differ.
std::string quota_text(const std::vector<Placement>& placements);

}  // namespace ranklab::host
