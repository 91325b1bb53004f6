// The training loss of stored runs, drawn by gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report {

/// One run's points: after each step, warm-up included.
struct LossCurve {
    std::string title;
    std::vector<double> samples;  ///< of all ranks, without repeats, up to and with the step
    std::vector<double> seconds;  ///< of all steps so far, the slowest rank of each
    std::vector<double> loss;
    std::vector<double> rate;  ///< the learning rate; empty where the run stored none
};

/// Of a run read with its samples; without points where it has no training losses, or stored no times.
LossCurve loss_curve(const results::Run& run);

/// Into `folder` (made if missing): RUN.dat for each run that has losses, plot_losses.gp, and by gnuplot
/// loss_steps.svg, loss_samples.svg, loss_seconds.svg and learning_rate.svg. Returns the files written.
/// OptionError where no run has losses; EnvironmentError where the folder cannot be written or gnuplot is
/// missing or fails: data and script are there then all the same.
std::vector<std::filesystem::path> plot_losses(const std::vector<results::Run>& runs,
                                               const std::filesystem::path& folder);

}  // namespace ranklab::report
