// The interface between app and programs with sub-commands (`ranklab data make cosmology ...`):
// each verb has options of its own, does its work on all ranks and gives a text to print. Tools
// read no argv and print nothing, and are not stored as runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

struct ToolPlace {
    RunContext context;
    std::string version;  ///< of ranklab, for files that say what made them
};

struct ToolReport {
    std::string text;  ///< for stdout, on rank 0
    /// A sentence that says what is wrong with the data (exit code 3), the same on all ranks.
    std::string wrong;
};

class Verb {
  public:
    virtual ~Verb() = default;

    virtual std::string words() const = 0;     ///< "make cosmology"
    virtual std::string usage() const = 0;     ///< what follows them in the usage line
    virtual std::string summary() const = 0;   ///< one sentence
    virtual std::string examples() const = 0;  ///< indented command lines
    virtual void describe(options::Schema& schema) const = 0;
    /// Works as Experiment::settle; returns what a dry run shows after the options. The words after
    /// the verb are options.positional().
    virtual std::vector<results::Setting> resolve(options::Options& options) const = 0;
    virtual ToolReport run(const ToolPlace& place) = 0;
};

class Tool {
  public:
    virtual ~Tool() = default;
    virtual std::string command() const = 0;  ///< "data"
    virtual std::string summary() const = 0;
    virtual std::vector<std::unique_ptr<Verb>> verbs() const = 0;
};

}  // namespace ranklab::experiments
