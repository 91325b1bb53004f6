// What a host was set to, and whether it is the job's alone: what `ranklab doctor` looks at beside the
// placements. Pure functions on plain structs; a fact that the system does not tell is no finding.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "host/activity.hpp"
#include "host/finding.hpp"

namespace ranklab::host {

/// Of one rank, and of its host.
struct Conditions {
    int rank = 0;
    std::string host;
    std::vector<std::string> governors = {};  ///< of the CPUs of its cpuset, each once
    std::string boost = {};                   ///< "on", "off", "" where the system does not say
    int job_cpus = 0;  ///< the most that Slurm gave the job on one of its hosts; 0: not known
    int host_cores = 0;

    static auto fields(auto& self) {
        return std::tie(self.rank, self.host, self.governors, self.boost, self.job_cpus, self.host_cores);
    }
};
Conditions own_conditions(int rank, const std::filesystem::path& root = system_root());

/// Clocks that follow the load, hosts of which one may go faster, hosts that the job may share with others.
std::vector<Finding> check_conditions(const std::vector<Conditions>& ranks);

/// The most of "48(x2),24": Slurm's form of a number for each host. 0 where it is none.
int most_cpus_in(const std::string& slurm_counts);

/// How far the wall clock of a host is ahead of rank 0's, and by how much that may be wrong.
struct ClockOffset {
    std::string host;
    double seconds = 0, uncertainty_s = 0;
};
inline constexpr double kMostApart = 0.1;  ///< seconds

/// Rank 0's is among them. Beyond kMostApart whatever the uncertainties are.
std::optional<Finding> check_clocks(const std::vector<ClockOffset>& clocks);

}  // namespace ranklab::host
