// The share of its job that a run used, as seff tells it of a Slurm job: from the table `job_use`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

struct HostUse {
    std::string host;
    double wall_s = 0;
    double cpu_s = 0;  ///< of its ranks together
    std::int64_t cpus = 0;
    double peak_rss_bytes = 0;      ///< the ranks' peaks together: the most that they can have had at a time
    double memory_asked_bytes = 0;  ///< 0: not known

    /// Of its CPUs' time; NaN where it is not known.
    double percent() const;
};

/// Host by host in the order of their ranks; empty where the run has no such table.
std::vector<HostUse> job_use(const results::Run& run);

/// "97 % of the time of 2 CPUs for 14.2 s (waiting in MPI counts); memory 812.3 MiB"; of several hosts the
/// one that used least and the one with the most memory are named. "" where nothing is known.
std::string use_text(const std::vector<HostUse>& hosts);

}  // namespace ranklab::report::model
