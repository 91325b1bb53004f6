// Private to this room: the training loss of stored runs, for gnuplot.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/figures/gnuplot.hpp"
#include "results/run.hpp"

namespace ranklab::report::figures {

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

/// Into `folder`, which is there: RUN.dat for each run that has losses, and plot_losses.gp, which makes
/// loss_steps.svg, loss_samples.svg, loss_seconds.svg and, where a run stored rates, learning_rate.svg.
/// Nothing where no run has losses. EnvironmentError where the folder cannot be written.
std::optional<Drawing> prepare_losses(const std::vector<results::Run>& runs,
                                      const std::filesystem::path& folder);

}  // namespace ranklab::report::figures
