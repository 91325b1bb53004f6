// How much CPU time the cgroups of this process allow, whatever its cpuset is: `docker --cpus=2` and
// Kubernetes' limits leave all CPUs in the cpuset and stop the process for a part of each period.
#pragma once

#include <filesystem>

#include "host/activity.hpp"
#include "host/placement.hpp"

namespace ranklab::host {

/// Of the process' own cgroups and those above them, as far as they are seen from here.
CpuQuota cpu_quota(const std::filesystem::path& root = system_root());

}  // namespace ranklab::host
