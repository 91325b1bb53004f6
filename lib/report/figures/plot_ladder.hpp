// Private to this room: the picture of the file-writing ladder, for gnuplot.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "report/figures/gnuplot.hpp"
#include "results/run.hpp"

namespace ranklab::report::figures {

/// Into `folder`, which is there: ladder.dat and plot_ladder.gp, which makes ladder.svg: the newest ladder's
/// job times as bars, with their intervals, on a logarithmic axis where they are more than 20 x apart; below
/// them the speedup over text-loop (or, without it, over the first rung, which is then named). Nothing where
/// no run is of `io`. EnvironmentError where the folder cannot be written.
std::optional<Drawing> prepare_ladder(const std::vector<results::Run>& runs,
                                      const std::filesystem::path& folder);

}  // namespace ranklab::report::figures
