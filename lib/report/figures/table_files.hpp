// Private to this room: tables beside the figures, for a paper (LaTeX, booktabs) and for other programs
// (CSV).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/figures/figure.hpp"

namespace ranklab::report::figures {

/// A text, or a number that may have an interval.
struct FileCell {
    std::string text = {};
    double value = stats::kNone;
    stats::Interval interval = {};
};

struct FileTable {
    std::string name;     ///< of its files, without ending
    std::string caption;  ///< without markup
    std::vector<std::string> heads;
    std::vector<std::vector<FileCell>> rows;  ///< as many cells each as there are heads
};

/// What the chart's points say, but for the ideal.
FileTable table_of(const Figure& figure);
/// A row a group, for each command that has groups: "groups_train", as the page's summary has them.
std::vector<FileTable> group_tables(const Source& source);

/// FOLDER/NAME.csv with all digits, and FOLDER/NAME.tex with four; no .tex where it is longer than a page.
/// Returns the files. EnvironmentError where one cannot be written.
std::vector<std::filesystem::path> write_table(const FileTable& table, const std::filesystem::path& folder);

}  // namespace ranklab::report::figures
