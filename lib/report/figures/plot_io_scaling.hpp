// Private to this room: the file-writing ladder's scaling over ranks and workers, for gnuplot.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "report/figures/gnuplot.hpp"
#include "results/run.hpp"

namespace ranklab::report::figures {

/// Into `folder`, which is there: io_scaling.dat and plot_io_scaling.gp, which makes io_scaling.svg: the
/// measured speedups of rungs that ran at several rank or worker counts, with their intervals and the line of
/// linear speedup. Nothing where none did.
std::optional<Drawing> prepare_io_scaling(const std::vector<results::Run>& runs,
                                          const std::filesystem::path& folder);

}  // namespace ranklab::report::figures
