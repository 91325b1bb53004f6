// Stored runs, drawn.
#pragma once

#include <filesystem>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::figures {

/// Into `folder` (made if missing), by gnuplot, whatever the runs, read with their samples, have to show:
/// training losses (loss_*.svg, learning_rate.svg), the file-writing ladder (ladder.svg), its scaling over
/// ranks or workers (io_scaling.svg), training over ranks (weak_*.svg, strong_*.svg), phases (phases.svg),
/// gradient buckets (messages.svg), steps (steps_*.svg); each as .pdf too, data and scripts beside them.
/// Returns the files written. OptionError where there is nothing to draw; EnvironmentError where the folder
/// cannot be written or gnuplot is missing or fails: all data and scripts are there then all the same.
std::vector<std::filesystem::path> plot(const std::vector<results::Run>& runs,
                                        const std::filesystem::path& folder);

}  // namespace ranklab::report::figures
