// Forecasts by curves fitted to measured points, which come from a CSV file, stored runs or
// published curves.
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

/// The points of one curve, and what was measured.
struct Measured {
    std::string title;
    std::string quantity = {};  ///< "step_time_s", "rate"
    bool is_rate = false;       ///< the quantity is a rate of all ranks; points hold times
    forecast::Scaling scaling = forecast::Scaling::strong;
    std::vector<forecast::CurvePoint> points = {};  ///< by ascending ranks
    double node_holds = 0;                          ///< ranks that fit on a node; 0: not known
    /// The command that measures more points, "ranklab sweep train --model mnist-cnn"; "" if the
    /// points are not stored runs.
    std::string sweep = {};
    std::vector<std::string> notes = {};
    /// Memory of a rank: fixed + per_sample x samples that it computes at once; NaN: not known.
    double memory_fixed_bytes = stats::kNone, memory_bytes_per_sample = stats::kNone;
    double batch = 0;  ///< samples of one rank (weak scaling) or of all ranks (strong scaling)
};

/// Reads a CSV with the columns ranks, time_s or rate, and optionally low, high (of a 95 %
/// interval) and nodes. Several rows with the same number of ranks are repetitions. `scaling`
/// nullopt: strong if the time falls by more than the square root of the ranks, else weak. Throws
/// DataError with the line.
Measured read_points(const std::filesystem::path& path, std::optional<forecast::Scaling> scaling);

/// The curve with the most points among the chosen runs. Throws OptionError if there is none.
Measured points_of(const model::ChosenRuns& runs, std::optional<forecast::Scaling> scaling);

struct Prediction {
    /// A row per measured point, then a row per forecast. The column `what` has "measured",
    /// "forecast" or the word for a refusal, whose sentence is the row's caveat.
    Frame frame;
    forecast::Scaling scaling;
    std::string next;  ///< the run that narrows the farthest forecast most for its cost, or ""
};

/// `force`: forecasts beyond forecast::kReach are not refused.
Prediction predict(const Measured& measured, const std::vector<double>& ranks, bool force);
std::string json_of(const Prediction& prediction);

struct Validation {
    Frame curves, refused, families;
};
/// Fits each published curve up to a quarter of its largest number of ranks, and forecasts up to 4
/// times the last fitted number. Compares the error with those of two naive forecasts: constant
/// efficiency from the last point on, and time = a + c log p.
Validation validate(const std::vector<model::PublishedCurve>& curves);

}  // namespace ranklab::report::predict
