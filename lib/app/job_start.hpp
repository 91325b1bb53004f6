// How an MPI program's job begins: one set of options on all ranks, and a launch that makes sense.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/session.hpp"
#include "comm/communicator.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/findings.hpp"
#include "options/options.hpp"
#include "results/run.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::app {

/// Collective, and first of all in every program: OptionError where the ranks' command lines differ, or their
/// programs, whose messages would be taken for each other's.
void refuse_other_options(Session& session, const std::string& command_line);

/// Collective. Command line > config file > default, merged on rank 0 and broadcast: a config file need be
/// only where rank 0 is. VerificationError where the ranks' command lines differ.
void settle_options(Session& session, options::Options& options, const std::string& command_line);

/// `connected`: ranks that MPI connects. `expected` < 1: --expect-ranks was not given.
host::Evidence evidence_of(const std::vector<host::Placement>& placements, int connected, int expected,
                           bool on_gpus);

/// Collective. On several hosts rank 0 makes and removes a small file in the folder of `output`, or in the
/// nearest one above it that exists. nullopt where it cannot, and for "none": storing says that.
std::optional<host::ResultsFolder> look_at_results_folder(comm::Communicator& control,
                                                          const std::vector<host::Placement>& placements,
                                                          const std::filesystem::path& output);
/// Where the ranks run, and what is wrong with that.
struct Launch {
    std::vector<host::Placement> placements;
    std::vector<std::string> warnings;
};

/// Collective. The launch guard: what is fatal throws, the rest becomes warnings of the run. `expected_ranks`
/// < 1: any number; `on_gpus`: whether the ranks may compute on theirs.
std::vector<std::string> guard_launch(Session& session, const std::vector<host::Placement>& placements,
                                      int expected_ranks, bool on_gpus);
/// Collective. The guard, a look at the results folder from every host, and --threads where the options leave
/// it open.
Launch examine_launch(Session& session, options::Options& options, const experiments::Experiment& experiment);
/// On rank 0, on stderr.
void warn_of(const Launch& launch, Session& session);

/// Collective, before the work: EnvironmentError or OptionError where the runs could not be stored.
void check_results_file(Session& session, const vocabulary::CommonSettings& common);
/// "# key: value" lines on stdout.
void print_settings(const std::vector<results::Setting>& settings);

}  // namespace ranklab::app
