// Where each rank sits, and what is wrong with it: the launch guard. Pure functions on plain structs, so
// that every finding can be tested without a cluster.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"

namespace ranklab::host {

/// What one rank knows of its own place.
struct Placement {
    int rank = 0;
    int local_rank = 0;
    std::string host;
    std::vector<int> cpus;     ///< logical CPUs of its cpuset
    int cores = 0;             ///< physical cores among them
    int threads = 0;           ///< intra-op threads it will use
    std::string build;         ///< version and revision of its program
    std::string gpus;          ///< names of the GPUs it sees, or why none
    std::string cpu = {};      ///< the processor's model
    std::string own_gpu = {};  ///< name and UUID of the one it would use, "" where it sees none

    static auto fields(auto& self) {
        return std::tie(self.rank, self.local_rank, self.host, self.cpus, self.cores, self.threads,
                        self.build, self.gpus, self.cpu, self.own_gpu);
    }
};

/// This rank's place; `threads` 0 means one per core of the cpuset.
Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus, const std::string& own_gpu = "");

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

/// Threads against cpusets, ranks that share cores, programs that differ.
std::vector<Finding> check_placements(const std::vector<Placement>& placements);

}  // namespace ranklab::host
