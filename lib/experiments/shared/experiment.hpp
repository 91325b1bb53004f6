// The interface between app and experiments, which take options and return runs. They read no argv
// and print nothing.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "host/process.hpp"
#include "options/options.hpp"
#include "results/run.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// Called on every rank where the counted work (without warm-up) begins and ends, outside of timed
/// parts. In between, app monitors the hosts.
struct CountedPart {
    std::function<void()> begins = [] {};
    std::function<void()> ends = [] {};  ///< may be called again after more counted work
};

/// What an experiment needs to run, on every rank.
struct RunContext {
    comm::Communicator& control;  ///< control plane: options, verdicts, timings
    base::ProgressSink& progress;
    host::StartUp* start_up = nullptr;  ///< nullptr: start-up is not measured
    CountedPart counting = {};

    /// Ends the part of the start-up with this name.
    void started(const char* part) const {
        if (start_up != nullptr) start_up->done(part);
    }
};

/// One catalogue, for --list.
struct Listing {
    std::string title;
    std::vector<std::pair<std::string, std::string>> entries;  ///< name, summary
};

/// The runs of a process: one, or with `io --strategy a,b` one per strategy and one that compares
/// them. Complete on rank 0; exit codes and validity are equal on all ranks. If a verification
/// failed, the run has valid = false, an exit code, and the reason as its first warning.
struct Runs {
    std::vector<results::Run> all;
    std::exception_ptr failure = {};  ///< error of a failed strategy, thrown once `all` is stored
};

/// A run with settled options: checked, with defaults filled in, and constant.
class Plan {
  public:
    virtual ~Plan() = default;

    /// The settled options, for header, dry run and results file.
    virtual std::vector<options::Effective> settings() const = 0;
    /// Facts that header and dry run show after the options ("parameters").
    virtual std::vector<results::Setting> facts() const = 0;
    virtual bool uses_gpus() const { return false; }
    virtual bool prints_as_nccl_tests() const { return false; }
    /// What a dry run does besides printing the plan. Collective.
    virtual void rehearse(comm::Communicator& /*control*/) const {}

    /// Collective. Throws if the work is impossible. The runs hold measurements, tables,
    /// warnings and verdicts; `config` only if it differs from settings().
    virtual Runs run(const RunContext& context) const = 0;
};

/// The options as a run stores them.
inline std::vector<results::Setting> settings_of(const std::vector<options::Effective>& settled) {
    std::vector<results::Setting> settings;
    for (const auto& [row, value] : settled) {
        if (row->role == options::Role::request) continue;
        const bool number = row->type == options::Type::integer || row->type == options::Type::real;
        settings.push_back({row->name, value, number});
    }
    return settings;
}

/// The settled options of a run: those of `rows`, which bind Settings, then the common ones.
template <class Settings>
std::vector<options::Effective> effective(const options::Schema& rows, const Settings& settings,
                                          const vocabulary::CommonSettings& common) {
    auto all = options::effective(rows, settings);
    for (auto& one : options::effective(vocabulary::common_settings(), common))
        all.push_back(std::move(one));
    return all;
}

/// What a run needs of its launch, judged by options that are not settled yet.
struct LaunchNeeds {
    /// False: without a launcher MPI is not started, and the control plane has one rank.
    bool mpi = true;
    bool mpi_from_threads = true;  ///< threads besides the main one call MPI, which must then lock
    bool gpus = false;             ///< ranks may compute on GPUs: the launch is checked for that
    bool several_ranks = false;    ///< made for several ranks: warns if there is only one
    int threads = 0;  ///< default of --threads; 0: the cores of the rank's cpuset and cgroup
};

class Experiment {
  public:
    virtual ~Experiment() = default;

    virtual std::string command() const = 0;   ///< "train"
    virtual std::string summary() const = 0;   ///< one sentence
    virtual std::string examples() const = 0;  ///< command lines, for --help
    virtual void describe(options::Schema& schema) const = 0;
    virtual std::vector<Listing> listings() const = 0;

    /// Called before MPI starts, without the config file's options, and once more with them.
    virtual LaunchNeeds needs(const options::Options& /*given*/) const { return {}; }

    /// Collective. Settles the options that are open: defaults by model, ranks and hosts. Throws
    /// OptionError on all ranks if options are impossible. In `common` --threads is settled.
    virtual std::unique_ptr<Plan> settle(const options::Options& given,
                                         const vocabulary::CommonSettings& common,
                                         comm::Communicator& control) const = 0;
};

}  // namespace ranklab::experiments
