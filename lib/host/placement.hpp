// Where each rank sits.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

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

/// What each rank computes on, by place in `placements`: its GPU's name and UUID where `on_gpus`, otherwise
/// "cpu", with the processor's model where the hosts' differ.
std::vector<std::string> devices_of(const std::vector<Placement>& placements, bool on_gpus);

}  // namespace ranklab::host
