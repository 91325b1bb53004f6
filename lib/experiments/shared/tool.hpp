// The interface between app and programs with sub-commands (`ranklab data make cosmology ...`):
// each verb has options of its own, does its work on all ranks and gives a text to print. Tools
// read no argv and print nothing, and are not stored as runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "experiments/shared/experiment.hpp"

namespace ranklab::experiments {

struct ToolPlace {
    RunContext context;
    std::string version;  ///< of ranklab, for files that name the program that made them
};

struct ToolReport {
    std::string text;  ///< for stdout, on rank 0
    /// A sentence that says what is wrong with the data (exit code 3), the same on all ranks.
    std::string wrong;
};

/// The settled options and words of a verb, and its work.
struct ToolPlan {
    std::vector<results::Setting> settings;
    std::vector<results::Setting> facts;  ///< shown after the options
    std::function<ToolReport(const ToolPlace&)> run;
};

class Verb {
  public:
    virtual ~Verb() = default;

    virtual std::string words() const = 0;     ///< "make cosmology"
    virtual std::string usage() const = 0;     ///< what follows them in the usage line
    virtual std::string summary() const = 0;   ///< one sentence
    virtual std::string examples() const = 0;  ///< indented command lines
    virtual void describe(options::Schema& schema) const = 0;
    /// Throws OptionError for impossible options: the same on all ranks, no work.
    virtual ToolPlan settle(const options::Options& given) const = 0;
};

class Tool {
  public:
    virtual ~Tool() = default;
    virtual std::string command() const = 0;  ///< "data"
    virtual std::string summary() const = 0;
    virtual std::vector<std::unique_ptr<Verb>> verbs() const = 0;
};

}  // namespace ranklab::experiments
