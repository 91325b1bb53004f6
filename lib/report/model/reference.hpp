// Published figures to compare with ours: results/reference/*.csv, whose README describes the
// columns.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
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
/// All *.csv of the folder but the curves, by name; nothing where there is no such folder.
References read_references(const std::filesystem::path& folder);

/// Takes a row's cells, and the document of the last line `# source:` above it.
using TakeRow =
    std::function<void(const std::vector<std::string>& cells, const std::string& document)>;
/// Reads a CSV of facts: the first line, comments, the header, then rows with as many cells. Throws
/// a sentence's second half as DataError, with the line where a row or `take` is at fault.
void read_rows(const std::filesystem::path& path, std::string_view first_line,
               std::string_view header, const TakeRow& take);

/// Lines for the text of a run, one for each published figure of the same experiment that the run
/// measured too; "" where there is none.
std::string reference_lines(const results::Run& run, const References& references);

}  // namespace ranklab::report::model
