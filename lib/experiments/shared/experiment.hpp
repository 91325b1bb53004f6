// The interface between app and experiments. Experiments take options and return runs; they read no
// argv and print nothing.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "host/process.hpp"
#include "options/options.hpp"
#include "results/run.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {

/// Called on every rank when the counted work (without warm-up) begins and ends, outside of timed
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
    std::string version = {};  ///< of ranklab, for files that name the program that made them

    /// Ends the current part of the start-up and names it `part`.
    void started(const char* part) const {
        if (start_up != nullptr) start_up->done(part);
    }
};

/// Collective. `mine`: bytes that this rank needs for `what`. Unless `force` (nullopt: there is no
/// --force), throws EnvironmentError if a host's ranks need more than is free, OptionError if they
/// need more than the host has.
void need_memory(comm::Communicator& control, double mine, const std::string& what,
                 const base::Settings& settings, std::optional<bool> force);

/// Throws OptionError unless `path` (--trace) names a FILE.json in an existing folder and
/// results::TextFile may replace the file; EnvironmentError if the file cannot be written.
void check_trace_file(const std::string& path);

/// One catalogue, for --list.
struct Listing {
    std::string title;
    std::vector<std::pair<std::string, std::string>> entries;  ///< name, summary
};

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& catalogue) {
    std::vector<std::string> names;
    for (const auto& entry : catalogue) names.push_back(entry.name);
    return names;
}
/// Returns the catalogue's entry of that name, which the schema has checked.
template <class Entry>
Entry entry_of(const std::vector<Entry>& catalogue, const std::string& name) {
    for (const auto& entry : catalogue)
        if (entry.name == name) return entry;
    throw base::OptionError("unknown name '" + name + "'; --list shows what there is");
}
/// Returns the indexes of the names in `list` ("a,b"; "all": every name), each once, in the order
/// of `names`. Throws OptionError for an unknown name. Types may also have nccl-tests' names.
std::vector<std::size_t> chosen_of(const std::string& list, const char* option,
                                   const std::vector<std::string>& names);
template <class Entry>
Listing listing_of(std::string title, const std::vector<Entry>& catalogue) {
    Listing listing{std::move(title), {}};
    for (const auto& entry : catalogue) listing.entries.emplace_back(entry.name, entry.summary);
    return listing;
}

/// The runs of a process: one, or with `io --strategy a,b` one per strategy and one that compares
/// them. Complete on rank 0; exit codes and validity are equal on all ranks. If a verification
/// failed, the run has valid = false, an exit code, and the reason as its first warning.
struct Runs {
    std::vector<results::Run> all = {};
    std::exception_ptr failure = {};  ///< thrown after the runs are stored; null: no rank failed
    std::string text = {};            ///< what a command of `data` prints, on rank 0
};

/// A run with settled options: checked, with defaults filled in, and constant.
struct Plan {
    std::vector<options::Effective> settings = {};  ///< for header, dry run and results file
    /// What header and dry run show after the options ("parameters").
    std::vector<results::Setting> facts = {};
    bool uses_gpus = false;
    /// What a dry run does besides printing the plan. Collective.
    std::function<void(comm::Communicator& control)> rehearse = [](auto&) {};
    /// Collective. Throws if the work is impossible. The runs hold measurements, tables,
    /// warnings, verdicts and `config`.
    std::function<Runs(const RunContext& context)> run = {};
};

/// Returns the options that a run stores: all but requests.
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
    bool gpus = false;             ///< ranks may compute on GPUs: the launch check covers GPUs
    bool several_ranks = false;    ///< meant for several ranks: app warns of a single one
    int threads = 0;  ///< default of --threads; 0: the cores of the rank's cpuset and cgroup
    std::function<void()> read_ahead = {};  ///< of data files; rank 0 may call it while MPI starts
};

struct Experiment {
    std::string command;              ///< "train"
    std::string usage = "[options]";  ///< what follows the command in the usage line
    std::string summary;              ///< one sentence
    std::string examples = {};        ///< command lines as --help prints them
    options::Schema options = {};
    bool makes_runs = true;  ///< false: a verb of a Tool, which gives a text
    std::function<std::vector<Listing>()> listings = [] { return std::vector<Listing>{}; };

    /// Called before MPI starts, without the config file's options, and once more with them.
    std::function<LaunchNeeds(const options::Options& given)> needs = [](const auto&) {
        return LaunchNeeds{.mpi = false, .threads = 1};
    };

    /// Collective. Settles the options that are open: defaults by model, ranks and hosts. Throws
    /// OptionError on all ranks if options are impossible. --threads in `common` is settled before.
    std::function<Plan(const options::Options& given, const vocabulary::CommonSettings& common,
                       comm::Communicator& control)>
        settle;
};

/// A program with sub-commands (`ranklab data make cosmology ...`).
struct Tool {
    std::string command;  ///< "data"
    std::string summary;
    std::vector<Experiment> verbs;
};

Experiment train_experiment();
Experiment io_experiment();
Experiment comm_experiment();

}  // namespace ranklab::experiments
