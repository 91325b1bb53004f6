// One self-contained page of the runs in a results file: opened from a disk, mailed or printed, it needs
// nothing else.
#pragma once

#include <filesystem>
#include <string>

#include "report/model/chosen_runs.hpp"

namespace ranklab::report::page {

/// UTF-8 HTML. `reference`: the folder of published figures (results/reference/*.csv); empty: none are shown.
/// Figures are drawn by gnuplot; where it is missing the page says so in their places, their numbers are
/// there all the same. Throws what ChosenRuns::visit throws.
std::string html_page(const model::ChosenRuns& runs, const std::filesystem::path& reference = {});

}  // namespace ranklab::report::page
