// What every program's work looks like to app: options in, Run out. Experiments read no argv and print
// nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::experiments {

/// What an experiment is given on every rank.
struct Surroundings {
    comm::Communicator& control;  ///< control plane: options, verdicts, timings
    options::Options& options;    ///< the same on all ranks
    base::ProgressSink& progress;
};

/// One catalogue, for --list.
struct Listing {
    std::string title;
    std::vector<std::pair<std::string, std::string>> entries;  ///< name, summary
};

/// One run of several that a command makes: what it has in place of the options given.
struct Variant {
    std::vector<std::pair<std::string, std::string>> options;  ///< name, value
};

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

    /// Settles what the options leave open and refuses what cannot be (OptionError): the same on all ranks,
    /// no work. Returns what a dry run shows beside the options ("parameters").
    virtual std::vector<results::Setting> resolve(options::Options& options, int world_size) const = 0;

    /// The runs that the options ask for, to be made one after the other; empty: one run, as the options are.
    virtual std::vector<Variant> variants(const options::Options&) const { return {}; }
    /// One of those runs on one line, where their table is what people look at; "": each is shown whole.
    virtual std::string line_of(const results::Run&) const { return ""; }
    /// The runs of all variants beside each other. Stored as a run of its own.
    virtual results::Table compare(const std::vector<results::Run>&) const { return {}; }

    /// Does it. The Run holds config-independent parts: measurements, tables, warnings, verdict; the same on
    /// all ranks, complete on rank 0. A failed verification is a Run with valid = false and an exit code, its
    /// reason first among the warnings; what makes the work impossible throws.
    virtual results::Run run(const Surroundings& surroundings) = 0;
};

}  // namespace ranklab::experiments
