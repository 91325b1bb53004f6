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

namespace ranklab::experiments {

/// Marks the part of the work that is counted, on every rank and outside of timed parts: app
/// watches the hosts meanwhile.
struct CountedPart {
    std::function<void()> begins = [] {};
    std::function<void()> ends = [] {};  ///< may be called again where more came after all
};

/// The surroundings of an experiment, on every rank.
struct RunContext {
    comm::Communicator& control;  ///< control plane: options, verdicts, timings
    options::Options& options;    ///< settled; the same on all ranks
    base::ProgressSink& progress;
    host::StartUp* start_up = nullptr;  ///< nullptr: start-up is not measured
    CountedPart counting = {};

    /// This part of the start-up is done.
    void started(const char* part) const {
        if (start_up != nullptr) start_up->done(part);
    }
};

/// One catalogue, for --list.
struct Listing {
    std::string title;
    std::vector<std::pair<std::string, std::string>> entries;  ///< name, summary
};

/// The runs of a process: one, or one per strategy and their comparison (`io --strategy a,b`).
/// Complete on rank 0; exit codes and validity are the same on all ranks. A failed verification is
/// a run with valid = false and an exit code, its reason first among the warnings.
struct Runs {
    std::vector<results::Run> all;
    std::exception_ptr failure = {};  ///< a later strategy failed: thrown once `all` is stored
};

/// A planned run: its options, settled once.
class Plan {
  public:
    virtual ~Plan() = default;

    /// Facts that header and dry run show after the options ("parameters").
    virtual std::vector<results::Setting> facts() const = 0;
    /// Settles what follows from where the ranks are. Collective, no work.
    virtual void agree(options::Options&, comm::Communicator& /*control*/) {}
    /// The part of a dry run beyond printing the plan. Collective, after agree().
    virtual void rehearse(comm::Communicator& /*control*/) {}

    /// Collective. Throws where the work is impossible. The runs hold measurements, tables,
    /// warnings and verdicts; `config` where it differs from the context's options.
    virtual Runs run(const RunContext& context) = 0;
};

/// The effective options, as a run stores them.
std::vector<results::Setting> settings_of(const options::Options& options);

class Experiment {
  public:
    virtual ~Experiment() = default;

    virtual std::string command() const = 0;   ///< "train"
    virtual std::string summary() const = 0;   ///< one sentence
    virtual std::string examples() const = 0;  ///< command lines, for --help
    virtual void describe(options::Schema& schema) const = 0;
    virtual std::vector<Listing> listings() const = 0;

    /// Whether a process that no launcher started needs MPI for these options; asked before
    /// anything else. Without MPI the control plane is a communicator of one rank.
    virtual bool needs_mpi(const options::Options&) const { return true; }
    /// Whether other threads than the main one call MPI, which makes the library lock in each call;
    /// asked before MPI is started.
    virtual bool threads_call_mpi(const options::Options&) const { return true; }

    /// Whether the ranks may compute on GPUs, which the launch guard then looks at.
    virtual bool may_use_gpus(const options::Options&) const { return false; }
    /// Whether the options ask for several ranks: one alone looks like a slow single device.
    virtual bool wants_ranks(const options::Options&) const { return false; }
    /// The default of --threads: 0 for the cores of the rank's cpuset, as far as its cgroup allows.
    virtual int default_threads() const { return 0; }

    /// Settles the options that are open and refuses impossible ones (OptionError): the same on all
    /// ranks, no work.
    virtual std::unique_ptr<Plan> settle(options::Options& options, int world_size) = 0;
};

}  // namespace ranklab::experiments
