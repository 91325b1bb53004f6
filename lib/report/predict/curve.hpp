// Forecasts by curves through measured points, from a CSV file, stored runs or published curves.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "forecast/curve.hpp"
#include "report/frame/frame.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/reference.hpp"

namespace ranklab::report::predict {

/// One measured curve, with what a table shows of it.
struct Measured : forecast::ScalingCurve {
    std::string title;
    std::string quantity = {};  ///< "step_time_s", "rate"
    bool is_rate = false;       ///< rate of all ranks; the points hold the matching times
    std::vector<std::vector<Caveat>> caveats = {};  ///< of each point; empty: not from runs
    std::string sweep = {};  ///< "ranklab sweep train --model mnist-cnn"; "" if no run was stored
    std::vector<std::string> notes = {};
    /// Memory of a rank: fixed + per_sample x the samples computed at once; NaN: not known.
    double memory_fixed_bytes = stats::kNone, memory_bytes_per_sample = stats::kNone;
    double batch = 0;  ///< samples of a rank (weak) or of all ranks (strong)
};

/// Reads a CSV with the columns ranks, time_s or rate, optionally low, high (a 95 % interval) and
/// nodes. Rows with the same rank count are repeats, in order. Without `scaling`, times that fall
/// are strong scaling, others and rates weak. Throws DataError with the line.
Measured read_points(const std::filesystem::path& path, std::optional<forecast::Scaling> scaling);

/// Takes the curve with the most rank counts among the runs. Throws OptionError if there is none.
Measured points_of(const model::ChosenRuns& runs, std::optional<forecast::Scaling> scaling);

struct Prediction {
    /// The measured points, then one row per forecast. Column `what`: "measured", "forecast" or the
    /// code of a refusal, whose sentence is the row's caveat.
    Frame frame = {};
    forecast::Scaling scaling = forecast::Scaling::strong;
    /// The command that narrows the farthest forecast most per rank-hour, or ""; and the interval
    /// expected after it.
    std::string next = {};
    stats::Interval after = {};
};

/// `force`: forecasts beyond forecast::kReach, too.
Prediction predict(const Measured& measured, const forecast::Sources& sources,
                   const std::vector<double>& ranks, bool force);
/// The frame with "no forecast" in place of codes.
Frame for_people(Frame frame);
std::string json_of(const Prediction& prediction);

struct Validation {
    Frame curves, kinds;
};
/// Forecasts each published curve from its points up to a quarter of its largest scale, with the
/// priors of all other sources, and compares the error with two baselines' errors: the last
/// efficiency kept, and time = a + c log p. `kinds`: a summary by kind, and by whether the first
/// step to several nodes lies ahead, with the factor that the prior expects of it.
Validation validate(const std::vector<model::PublishedCurve>& curves);

}  // namespace ranklab::report::predict
