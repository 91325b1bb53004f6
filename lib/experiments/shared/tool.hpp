// The interface between app and programs with sub-commands (`ranklab data make cosmology ...`):
// each verb has options of its own, does its work on all ranks and gives a text to print. Tools
// read no argv and print nothing, and are not stored as runs.
#pragma once

#include <functional>
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

/// What a verb will do: its checked options with defaults filled in, and its work.
struct ToolPlan {
    std::vector<results::Setting> settings;
    std::vector<results::Setting> facts;  ///< shown after the options
    std::function<ToolReport(const ToolPlace&)> run;
};

struct Verb {
    std::string words;     ///< "make cosmology"
    std::string usage;     ///< what follows `words` in the usage line
    std::string summary;   ///< one sentence
    std::string examples;  ///< indented command lines
    options::Schema options;
    /// Settles the options, without work. Throws OptionError on all ranks if they are impossible.
    std::function<ToolPlan(const options::Options& given)> settle;
};

struct Tool {
    std::string command;  ///< "data"
    std::string summary;
    std::vector<Verb> verbs;
};

}  // namespace ranklab::experiments
