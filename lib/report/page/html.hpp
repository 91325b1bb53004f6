// One self-contained page of the runs in a results file: opened from a disk, mailed or printed, it needs
// nothing else.
#pragma once

#include <filesystem>
#include <string>

#include "report/model/chosen_runs.hpp"

namespace ranklab::report::page {

struct HtmlOptions {
    /// The folder of published figures (results/reference/*.csv); empty: none are shown.
    std::filesystem::path reference;
    std::size_t most_groups = 60;  ///< rows of the summary; the rest is counted
};

/// UTF-8 HTML. Figures are drawn by gnuplot; where it is missing the page says so in their places, their
/// numbers are there all the same, and one sentence goes to the log. Reads summaries of all runs one by one,
/// and samples of the few that are drawn. Throws what ChosenRuns::visit throws.
std::string html_page(const model::ChosenRuns& runs, const HtmlOptions& options = {});

}  // namespace ranklab::report::page
