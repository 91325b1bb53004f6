// Private to this room: the training loss of stored runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/figures/figure.hpp"
#include "results/run.hpp"

namespace ranklab::report::figures {

/// One run's points: after each step, warm-up included.
struct LossCurve {
    std::string title;
    std::vector<double> steps;    ///< 1, 2, ...
    std::vector<double> samples;  ///< of all ranks, without repeats, up to and with the step
    std::vector<double> seconds;  ///< of all steps so far, the slowest rank of each
    std::vector<double> loss;
    std::vector<double> rate;  ///< the learning rate; empty where the run stored none
};

/// Of a run read with its samples; without points where it has no training losses, or stored no times.
LossCurve loss_curve(const results::Run& run);

/// The newest runs that have losses, each a line: over steps, samples and time, and their learning rates.
std::vector<Figure> losses_of_runs(const std::vector<results::Run>& runs);
/// Of the same runs all points: FOLDER/RUN.dat. EnvironmentError where it cannot be written.
std::vector<std::filesystem::path> write_losses(const std::vector<results::Run>& runs,
                                                const std::filesystem::path& folder);
}  // namespace ranklab::report::figures
