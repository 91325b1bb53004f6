// The launch guard: checks, as pure functions, for faults of a launch that falsify measurements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/load.hpp"
#include "host/topology.hpp"

namespace ranklab::host {

struct Finding {
    std::string id;      ///< "governor"; never changes, scripts may use it
    bool fatal = false;  ///< ends the job with exit code 5
    std::string what;    ///< the fault and its consequence
    std::string remedy;

    std::string sentence() const { return what + "; " + remedy + " [" + id + "]"; }
};

/// The folder of --output.
struct ResultsFolder {
    std::string path;
    std::string host;                ///< of rank 0, which writes
    std::vector<std::string> blind;  ///< hosts that do not see the folder
};

/// The network components and devices that a process uses, and the host's fast networks.
struct Network {
    std::string host = {};
    /// Loaded parts of MPI, UCX, libfabric and NCCL: "pml ob1, btl tcp", "UCX ib", "provider cxi";
    /// "" if the libraries have them built in.
    std::string components = {};
    std::string opened = {};  ///< network devices that the process has opened; "": none
    std::string up = {};      ///< fast networks whose link is up: "mlx5_0"; "": none

    static auto fields(auto& self) {
        return std::tie(self.host, self.components, self.opened, self.up);
    }
    std::string text() const;
};

/// To be called after MPI_Init, which loads components and opens devices.
Network network_of_process(const std::filesystem::path& root = system_root());

/// What the checks examine. If a part was not gathered, its check is CheckState::unknown.
struct Evidence {
    std::vector<Placement> placements = {};  ///< one per rank
    int connected = 0;                       ///< MPI's world size; 0: unknown
    std::string launcher = {};               ///< "Slurm's srun"; "": none detected
    std::optional<int> launched = {};        ///< processes started, by the launcher's variables
    std::optional<int> expected = {};        ///< --expect-ranks; overrides `launched`
    std::string own_launchers = {};          ///< launchers of this build's MPI library
    bool on_gpus = false;                    ///< ranks compute on their GPUs
    std::optional<ResultsFolder> folder = {};
    std::optional<std::vector<Use>> uses = {};  ///< one per rank
    std::vector<Network> networks = {};         ///< one per rank; empty outside of doctor
};

enum class CheckState { ok, found, unknown };

struct Check {
    std::string id;
    CheckState verdict = CheckState::unknown;
    Finding finding = {};  ///< set if `verdict` is found
};

/// One check per row of templates/findings.txt, in its order.
std::vector<Check> check_all(const Evidence& evidence);
/// The findings of a run: all but the governor, which only doctor reports.
std::vector<Finding> findings_of_run(const Evidence& evidence);

}  // namespace ranklab::host
