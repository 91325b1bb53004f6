// Private to this room: figures over training steps.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/figures/figure.hpp"

namespace ranklab::report::figures {

/// Each row's largest, which is the slowest rank's, warm-up rows first.
std::vector<double> rows_of(const results::Run& run, std::string_view measurement);
/// 1, 2, ... last.
std::vector<double> numbers_to(std::size_t last);
/// Of long lines the least and the largest of each piece, so that no peak is lost.
std::vector<ChartPoint> line_points(const std::vector<double>& x, const std::vector<double>& y);

/// Groups of valid training runs with that measurement, the newest first, at most `most`.
std::vector<const model::Group*> newest_trained(const Source& source, std::size_t most,
                                                std::string_view measurement);

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
