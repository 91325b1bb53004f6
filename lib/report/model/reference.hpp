// Published figures to compare with ours: results/reference/*.csv, whose README describes the
// columns.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

struct Reference {
    std::string document;  ///< of the file's line `# source:`
    std::string experiment, source, quantity, unit;
    double value = 0;
    std::string conditions, note;
    /// Conditions of a run of ours that is the same experiment (Selection); may be empty.
    std::vector<std::string> same_as;
};

/// Whether the run is of what the figure is of: it meets all of same_as, and there are any.
bool is_same_experiment(const Reference& reference, const results::Run& run);

struct References {
    std::vector<Reference> rows;
    /// A sentence for each file that could not be used; none of its rows is there.
    std::vector<std::string> problems;
};
/// All *.csv of the folder, by name; nothing where there is no such folder.
References read_references(const std::filesystem::path& folder);

/// Lines for the text of a run, one for each published figure of the same experiment that the run
/// measured too; "" where there is none.
std::string reference_lines(const results::Run& run, const References& references);

}  // namespace ranklab::report::model
