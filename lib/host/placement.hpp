// Where each rank sits, and what is wrong with it: the launch guard. Pure functions on plain structs, so
// that every finding can be tested without a cluster.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "host/finding.hpp"

namespace ranklab::host {

/// CPU time that cgroups allow, in CPUs (cpu.max of version 2, cpu.cfs_quota_us of version 1).
struct CpuQuota {
    struct Limit {
        double cpus = 0;
        std::string cgroup;  ///< the same text in all processes of a host that share it
        static auto fields(auto& self) { return std::tie(self.cpus, self.cgroup); }
    };
    bool known = false;         ///< the system says it; without limits there is none
    std::vector<Limit> limits;  ///< of the own cgroup and those above it that have one

    static auto fields(auto& self) { return std::tie(self.known, self.limits); }
};

/// The GPU that a rank would use.
struct OwnGpu {
    std::string name = {};  ///< "" where it sees none
    std::string uuid = {};
    std::string pci_id = {};
    std::vector<int> cpus = {};  ///< near it; none where the system does not say

    std::string text() const;  ///< "NVIDIA H100 [GPU-<hex>]", "" where it sees none
    static auto fields(auto& self) { return std::tie(self.name, self.uuid, self.pci_id, self.cpus); }
};

/// What one rank knows of its own place.
struct Placement {
    int rank = 0;
    int local_rank = 0;
    std::string host;
    std::vector<int> cpus;        ///< logical CPUs of its cpuset
    std::vector<int> cores = {};  ///< physical cores among them (core_names)
    int threads = 0;              ///< intra-op threads it will use
    std::string build;            ///< version and revision of its program
    std::string gpus;             ///< names of the GPUs it sees, or why none
    std::string cpu = {};         ///< the processor's model
    OwnGpu own_gpu = {};
    CpuQuota quota = {};
    bool threads_by_default = false;          ///< nobody gave their number
    std::vector<std::string> libraries = {};  ///< "MPI Open MPI v4.1.4": those that this program loaded

    static auto fields(auto& self) {
        return std::tie(self.rank, self.local_rank, self.host, self.cpus, self.cores, self.threads,
                        self.build, self.gpus, self.cpu, self.own_gpu, self.quota, self.threads_by_default,
                        self.libraries);
    }
};

/// This rank's place; `threads` 0 means one per core of the cpuset (settle_threads has the last word).
Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus);

/// The least of them, in CPUs; nothing where there is none.
std::optional<double> least_limit(const CpuQuota& quota);

/// Takes from the threads that nobody asked for what the cgroups do not allow: the ranks that share a limit
/// have equal parts of it, rounded down, and one thread at least.
void settle_threads(std::vector<Placement>& placements);

/// What the cgroups allow all ranks of a host, in CPUs: "2", "none", "unknown"; by host where they differ.
std::string quota_text(const std::vector<Placement>& placements);

/// What each rank computes on, by place in `placements`: its GPU's name and UUID where `on_gpus`, otherwise
/// "cpu", with the processor's model where the hosts' differ.
std::vector<std::string> devices_of(const std::vector<Placement>& placements, bool on_gpus);

/// What the launcher started against what MPI connected. The finding is fatal: N processes that do not know
/// of each other would each print plausible numbers. `expected` is the number that the user gave, which
/// overrules the launcher; `mend` names the launchers of this build's MPI library.
std::optional<Finding> check_connected(int world_size, const std::string& launcher,
                                       std::optional<int> launched, std::optional<int> expected,
                                       const std::string& mend);

/// What Slurm was asked for, against what was started by another launcher inside of its job. `job` and
/// `step`: tasks of the job, and of the step that this process is in.
std::optional<Finding> check_slurm_counts(int world_size, const std::string& launcher, std::optional<int> job,
                                          std::optional<int> step);

/// Ranks whose GPU is far from all their cores. `launcher` as of check_connected.
std::optional<Finding> check_gpu_distance(const std::vector<Placement>& placements,
                                          const std::string& launcher = "");

/// Threads against cpusets and cgroups' limits, ranks that share cores, programs and libraries that differ.
/// `launcher` as of check_connected: what mends it is how that one starts.
std::vector<Finding> check_placements(const std::vector<Placement>& placements,
                                      const std::string& launcher = "");

}  // namespace ranklab::host
