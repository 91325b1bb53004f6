// The course of an MPI program: its options, MPI, the control plane, the launch guard, and the
// common exit code of all ranks.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/command_line.hpp"
#include "app/watchdog.hpp"
#include "base/handle.hpp"
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
    /// --stall-timeout, while a config file that may set it is not read yet.
    static constexpr double kStallTimeout = 600;

    /// Starts the watchdog. Without MPI there is one rank, with the same guard, exit codes and
    /// watchdog.
    explicit Session(comm::Start start = comm::Start::with_mpi,
                     double stall_timeout_s = kStallTimeout);

    comm::Communicator& control() { return mpi_.control(); }
    host::StartUp& start_up() { return start_up_; }
    bool is_root() { return control().rank() == 0; }

    /// Collective. Returns every rank's placement. `threads` 0: one per core of the cpuset, or
    /// fewer where the cgroups limit CPU time.
    std::vector<host::Placement> gather_placements(int threads);
    /// Ends the job where this rank makes no progress for `seconds`; 0: never. See Watchdog.
    void watch(double seconds) { watchdog_.set_limit(seconds); }
    /// While this lives, the watchdog reports the activity given to `progress` as the rank's.
    class Watch : base::Immovable {
      public:
        Watch(Watchdog& watchdog, TerminalProgress& progress) : watchdog_(watchdog) {
            watchdog_.name_activity_of(&progress);
        }
        ~Watch() {
            watchdog_.set_activity("ending");
            watchdog_.name_activity_of(nullptr);
        }

      private:
        Watchdog& watchdog_;
    };
    Watch watch(TerminalProgress& progress, double seconds);

    /// Runs `work` on every rank: the only catch of an MPI program. An error becomes one line on
    /// stderr and an exit code; the ranks then agree on the largest code. A rank that failed gives
    /// the others 5 s, since they may wait in a collective that it left, and then aborts the job.
    int conclude(const std::function<int()>& work);

  private:
    host::StartUp start_up_;
    Watchdog watchdog_;  // before MPI, whose start may hang
    comm::MpiEnvironment mpi_;
};

/// A program that runs on all ranks.
struct Program {
    ProgramText text;
    options::Schema schema;
    std::function<int(Session&, const options::Options&)> work;
    /// Does what needs no ranks, such as --list, and returns true; else returns false.
    std::function<bool(const options::Options&)> answers_early = [](const auto&) { return false; };
    /// Asked before MPI is started, unless a config file may say more.
    std::function<experiments::LaunchNeeds(const options::Options&)> needs = [](const auto&) {
        return experiments::LaunchNeeds{};
    };
};

/// Answers --help and --version, or `answers_early`, without MPI; otherwise starts a Session and
/// works on every rank. A single process reports wrong options before MPI_Init. In a job the ranks
/// agree first: a rank that left early would make the launcher kill rank 0 before it has printed
/// the error. A process without a launcher starts MPI only if the program needs it.
int run_mpi_program(const Program& program, const std::vector<std::string>& words);

/// Collective, before any other exchange: OptionError where the ranks' command lines or programs
/// differ, since their messages would be mixed up.
void refuse_other_options(Session& session, const std::string& command_line);

/// Collective. Merges command line > config file > default. Rank 0 reads the config file and
/// broadcasts its text: the file need be only where rank 0 is. Throws OptionError where the ranks'
/// command lines differ.
options::Options merge_config(Session& session, const options::Options& words,
                              const std::string& command_line);

/// `connected`: ranks that MPI connects. `expected` < 1: --expect-ranks was not given.
host::Evidence evidence_of(const std::vector<host::Placement>& placements, int connected,
                           int expected, bool on_gpus);

/// Collective. On several hosts rank 0 makes and removes a small file in the folder of `output`, or
/// in the nearest one above it that exists. nullopt where it cannot (storing the run then reports
/// that), and for "none".
std::optional<host::ResultsFolder> look_at_results_folder(
    comm::Communicator& control, const std::vector<host::Placement>& placements,
    const std::filesystem::path& output);
/// Where the ranks run, and what is wrong with that.
struct Launch {
    std::vector<host::Placement> placements;
    std::vector<std::string> warnings;
};

/// Collective. The launch guard: fatal findings throw, the others become warnings of the run.
/// `expected_ranks` < 1: any number; `on_gpus`: whether the ranks may compute on theirs.
std::vector<std::string> guard_launch(Session& session,
                                      const std::vector<host::Placement>& placements,
                                      int expected_ranks, bool on_gpus);
/// Collective. Runs the guard, and looks at the results folder from every host.
Launch examine_launch(Session& session, const vocabulary::CommonSettings& common,
                      const experiments::LaunchNeeds& needs);
/// With --threads as it was given, or as the placement of this rank has it.
vocabulary::CommonSettings with_threads(vocabulary::CommonSettings common, const Launch& launch,
                                        int rank);
/// On rank 0, on stderr.
void warn_of(const Launch& launch, Session& session);

/// Collective, before the work: EnvironmentError or OptionError where the runs could not be stored.
void check_results_file(Session& session, const vocabulary::CommonSettings& common);
/// "# key: value" lines on stdout.
void print_settings(const std::vector<results::Setting>& settings);

}  // namespace ranklab::app
