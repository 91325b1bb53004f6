// The frame of an MPI program: options, MPI, the control plane, the launch guard (checks that can
// refuse a wrong launch), and the exit code that all ranks agree on.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/command_line.hpp"
#include "app/watchdog.hpp"
#include "comm/communicator.hpp"
#include "comm/mpi_environment.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/findings.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"
#include "options/options.hpp"
#include "results/run.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::app {

class Session {
  public:
    /// Starts the watchdog and MPI. Without MPI there is one rank, with the same guard, exit codes
    /// and watchdog.
    explicit Session(comm::Start start = comm::Start::with_mpi,
                     double stall_timeout_s = vocabulary::CommonSettings().stall_timeout);

    comm::Communicator& control() { return mpi_.control(); }
    host::StartUp& start_up() { return start_up_; }
    bool is_root() { return control().rank() == 0; }

    /// Collective. Returns the placements of all ranks. `threads` 0: one per core of the cpuset,
    /// fewer if cgroups limit CPU time.
    std::vector<host::Placement> gather_placements(int threads);
    /// Ends the job if this rank makes no progress for `seconds`; 0: never. See Watchdog.
    void watch(double seconds) { watchdog_.set_limit(seconds); }
    /// Prints nothing until TerminalProgress::speak(). The watchdog reports the activity set here.
    TerminalProgress& progress() { return progress_; }

    /// Runs `work` on every rank and catches its errors. An error becomes one line on stderr and
    /// an exit code; the ranks then agree on the largest code. A rank that failed
    /// waits 5 s for the others, and then aborts the job: other ranks may hang in a collective
    /// that the failed rank never joins.
    int conclude(const std::function<int()>& work);

  private:
    host::StartUp start_up_;
    TerminalProgress progress_;
    Watchdog watchdog_;  // before MPI, whose start may hang
    comm::MpiEnvironment mpi_;
};

/// A program that runs on all ranks.
struct Program {
    Command command;  ///< with an empty Command::work
    std::function<int(Session&, const options::Options&)> work;
    /// Answers options that need no ranks, such as --list; false if none of them is given.
    std::function<bool(const options::Options&)> answers_early = [](const auto&) { return false; };
    /// Called before MPI starts, unless there is a config file, which is read only afterwards.
    std::function<experiments::LaunchNeeds(const options::Options&)> needs = [](const auto&) {
        return experiments::LaunchNeeds{};
    };
};

/// Answers --help, --version and `answers_early` without MPI; otherwise starts a Session and works
/// on every rank. A single process reports wrong options before MPI_Init. In a job the ranks agree
/// first: if another rank left early, the launcher would kill rank 0 before it has printed the
/// error. A process without a launcher starts MPI only if the program needs it.
int run_mpi_program(const Program& program, const Words& words);

/// Collective, before any other exchange. Throws OptionError if the ranks' command lines or
/// programs differ, since their messages would not match.
void refuse_other_options(Session& session, const std::string& command_line);

/// Collective. Merges command line > config file > default. Rank 0 reads the config file and
/// broadcasts its text, so that only rank 0's host needs the file. Throws OptionError if the ranks'
/// command lines differ.
options::Options merge_config(Session& session, const options::Options& words,
                              const std::string& command_line);

/// Input of the launch guard. `on_gpus`: the ranks may compute on GPUs.
host::Evidence evidence_of(Session& session, const std::vector<host::Placement>& placements,
                           const vocabulary::CommonSettings& common, bool on_gpus);

/// Collective. Finds the hosts that do not see the folder of `output` (or the nearest existing one
/// above it), by a small file that rank 0 makes and removes. nullopt if `output` is "none", or if
/// rank 0 cannot write there (storing the run reports that).
std::optional<host::ResultsFolder> look_at_results_folder(
    comm::Communicator& control, const std::vector<host::Placement>& placements,
    const std::filesystem::path& output);
/// The ranks' placements and the launch guard's warnings.
struct Launch {
    std::vector<host::Placement> placements;
    std::vector<std::string> warnings;
};

/// Collective. Runs the launch guard, which includes look_at_results_folder: throws fatal findings;
/// the other ones become warnings of the run.
Launch examine_launch(Session& session, const vocabulary::CommonSettings& common,
                      const experiments::LaunchNeeds& needs);

}  // namespace ranklab::app
