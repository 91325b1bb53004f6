// Where each rank sits, and what is wrong with it: the launch guard. Pure functions on plain structs, so
// that every finding can be tested without a cluster.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"

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
    std::string own_gpu = {};     ///< name and UUID of the one it would use, "" where it sees none
    CpuQuota quota = {};
    bool threads_by_default = false;  ///< nobody gave their number

    static auto fields(auto& self) {
        return std::tie(self.rank, self.local_rank, self.host, self.cpus, self.cores, self.threads,
                        self.build, self.gpus, self.cpu, self.own_gpu, self.quota, self.threads_by_default);
    }
};

/// This rank's place; `threads` 0 means one per core of the cpuset (settle_threads has the last word).
Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus, const std::string& own_gpu = "");

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

struct Finding {
    bool fatal = false;            ///< the job must not run: exit 5
    std::string sentence;          ///< what is wrong and how to mend it
    base::Settings settings = {};  ///< that mend it
};

/// What the launcher started against what MPI connected. The finding is fatal: N processes that do not know
/// of each other would each print plausible numbers. `expected` is the number that the user gave, which
/// overrules the launcher.
std::optional<Finding> check_connected(int world_size, const std::string& launcher,
                                       std::optional<int> launched, std::optional<int> expected);

/// Threads against cpusets and cgroups' limits, ranks that share cores, programs that differ. `launcher` as
/// of check_connected: what mends it is how that one starts.
std::vector<Finding> check_placements(const std::vector<Placement>& placements,
                                      const std::string& launcher = "");

}  // namespace ranklab::host
