// Faults of a launch that spoil its numbers: a table of findings, each with its test. Pure
// functions on plain structs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/load.hpp"
#include "host/topology.hpp"

namespace ranklab::host {

struct Finding {
    std::string id;      ///< "governor": the same in later versions
    bool fatal = false;  ///< the job must not run: exit 5
    std::string what;    ///< what is wrong, and what follows
    std::string remedy;

    std::string sentence() const { return what + "; " + remedy + " [" + id + "]"; }
};

/// The folder of --output, as the hosts see it.
struct ResultsFolder {
    std::string path;
    std::string host;                ///< rank 0's
    std::vector<std::string> blind;  ///< hosts that do not see it
};

/// The input of the tests. A part that was not gathered makes its findings unknown.
struct Evidence {
    std::vector<Placement> placements = {};  ///< of the ranks that work
    int connected = 0;                       ///< ranks that MPI connects; 0: not known
    std::string launcher = {};               ///< "Slurm's srun"; "" where none is seen
    std::optional<int> launched = {};        ///< processes that it says it started
    std::optional<int> expected = {};        ///< --expect-ranks, which overrules the launcher
    std::string own_launchers = {};          ///< those of this build's MPI library
    bool on_gpus = false;                    ///< the ranks compute on theirs
    std::optional<ResultsFolder> folder = {};
    std::optional<std::vector<Use>> uses = {};  ///< of all ranks
};

enum class CheckState { ok, found, unknown };

struct Check {
    std::string id;
    CheckState verdict = CheckState::unknown;
    Finding finding = {};  ///< where it was found
};

/// All rows of the table, in its order.
std::vector<Check> check_all(const Evidence& evidence);
/// The findings that a run reports: only doctor reports a governor that follows the load.
std::vector<Finding> findings_of_run(const Evidence& evidence);

}  // namespace ranklab::host
