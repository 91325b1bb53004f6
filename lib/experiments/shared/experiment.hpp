// What every program's work looks like to app: options in, Run out. Experiments read no argv and print
// nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "host/start_up.hpp"
#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// Where the part of the work is that is counted, for who watches the machine meanwhile: on every rank, and
/// outside of what is timed. Empty: nobody watches.
struct CountedPart {
    std::function<void()> begins = {};
    std::function<void()> ends = {};  ///< again where more came after all
};

/// What an experiment is given on every rank.
struct Surroundings {
    comm::Communicator& control;  ///< control plane: options, verdicts, timings
    options::Options& options;    ///< settled; the same on all ranks
    base::ProgressSink& progress;
    host::StartUp* start_up = nullptr;  ///< where this is the first run that the process makes
    /// Secures what is measured so far (ADR 0011): it lies on the disk, marked as incomplete, until run()
    /// has returned and the whole run is stored in its place. Each call replaces what was kept before. Not
    /// collective: rank 0's copy counts, others may call it too. Costs some file writes with fsync, so call
    /// it outside of what is timed, and where work repeats by a KeepPace. Never throws. Empty: keeps nothing.
    std::function<void(const results::Run& so_far)> keep = {};
    CountedPart counting = {};

    /// The part of the start-up that the process was at is done.
    void started(const char* part) const {
        if (start_up != nullptr) start_up->done(part);
    }
};

/// One catalogue, for --list.
struct Listing {
    std::string title;
    std::vector<std::pair<std::string, std::string>> entries;  ///< name, summary
};

/// One run of several that a command makes: what it has in place of the options given.
struct Variant {
    std::vector<std::pair<std::string, std::string>> options;  ///< name, value
    int round = 0;        ///< in which it begins, where variants take turns (--order interleaved)
    int ranks = 0;        ///< of the job's, which make it while the others sleep; 0: all
    bool spread = false;  ///< one of each host in turn, and not host after host
};

/// A run under way, made repetition by repetition, so that others can take turns with it; a run that is one
/// piece is one repetition. Collective; what it was begun with outlives it.
class Work {
  public:
    virtual ~Work() = default;
    /// Makes the next repetition. True while there is another one to make: the same on all ranks.
    virtual bool repeat() = 0;
    /// Whether the run has what the last repeat() made: not where a signal or the time limit cut it.
    virtual bool was_whole() const { return true; }
    /// Others have their turn now: gives back what they may need, such as room on the disk.
    virtual void rest() {}
    /// After the last repetition, once.
    virtual results::Run finish() = 0;
};

/// What a run will be: its options, settled once.
class Plan {
  public:
    virtual ~Plan() = default;

    /// What header and dry run show beside the options ("parameters").
    virtual std::vector<results::Setting> facts() const = 0;
    /// Settles what follows from where the ranks are. Collective, no work.
    virtual void agree(options::Options&, comm::Communicator& /*control*/) {}
    /// What a dry run does beyond saying what the run would be. Collective, after agree().
    virtual void rehearse(comm::Communicator& /*control*/) {}

    /// Begins the run; collective. The Run that it ends with holds config-independent parts: measurements,
    /// tables, warnings, verdict; the same on all ranks, complete on rank 0. A failed verification is a Run
    /// with valid = false and an exit code, its reason first among the warnings; what makes the work
    /// impossible throws.
    virtual std::unique_ptr<Work> begin(const Surroundings& surroundings) = 0;
};

/// Of a run that is one piece.
class OnePiece : public Plan {
  public:
    std::unique_ptr<Work> begin(const Surroundings& surroundings) final;

  protected:
    virtual results::Run run(const Surroundings& surroundings) = 0;

  private:
    class Piece;
};

/// All repetitions of a run, one after the other. Collective.
results::Run run_whole(Plan& plan, const Surroundings& surroundings);

class Experiment {
  public:
    virtual ~Experiment() = default;

    virtual std::string command() const = 0;   ///< "train"
    virtual std::string summary() const = 0;   ///< one sentence
    virtual std::string examples() const = 0;  ///< command lines, for --help
    virtual void describe(options::Schema& schema) const = 0;
    virtual std::vector<Listing> listings() const = 0;

    /// Asked of a process that no launcher started, before anything else is done: whether it needs MPI for
    /// these options. Where it does not, the control plane is a communicator of one rank without MPI.
    virtual bool needs_mpi(const options::Options&) const { return true; }
    /// Asked before MPI is started: whether other threads than the main one call it, for which the library
    /// locks in each call.
    virtual bool threads_call_mpi(const options::Options&) const { return true; }

    /// --threads where nothing is said: 0 for the cores of the rank's cpuset, as far as its cgroup allows.
    virtual int default_threads() const { return 0; }

    /// Settles what the options leave open and refuses what cannot be (OptionError): the same on all ranks,
    /// no work.
    virtual std::unique_ptr<Plan> settle(options::Options& options, int world_size) = 0;

    /// Options that take several values, separated by commas: variants() makes a run of each.
    virtual std::vector<std::string> several() const { return {}; }
    /// The runs that the options ask for, by --order one after the other or in turns; empty: one run, as the
    /// options are.
    virtual std::vector<Variant> variants(const options::Options&) const { return {}; }
    /// One of those runs on one line, where their table is what people look at; "": each is shown whole.
    virtual std::string line_of(const results::Run&) const { return ""; }
    /// The runs of all variants beside each other. Stored as a run of its own.
    virtual std::vector<results::Table> compare(const std::vector<results::Run>&) const { return {}; }
    /// Facts of the run that holds those tables.
    virtual std::vector<results::Fact> facts_of(const std::vector<results::Run>&) const { return {}; }
};

}  // namespace ranklab::experiments
