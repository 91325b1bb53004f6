// Forecasts by curves through measured points: of a file of numbers, of stored runs, of published
// curves.
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

/// Points of one curve, and what they are.
struct Measured {
    std::string title;
    std::string quantity = {};  ///< "step_time_s", "rate"
    bool is_rate = false;       ///< of all ranks; the points hold the matching times
    forecast::Scaling scaling = forecast::Scaling::strong;
    std::vector<forecast::CurvePoint> points = {};  ///< by ascending ranks
    double node_holds = 0;                          ///< ranks; 0: not known
    /// "ranklab sweep train --model mnist-cnn"; "" where no run was stored.
    std::string sweep = {};
    std::vector<std::string> notes = {};
    /// A rank takes fixed + per_sample x the samples that it computes at once; NaN: not known.
    double memory_fixed_bytes = stats::kNone, memory_bytes_per_sample = stats::kNone;
    double batch = 0;  ///< samples of a rank (weak) or of all (strong)
};

/// A CSV with a header of ranks and time_s or rate, optionally low, high (of a 95 % interval) and
/// nodes; several rows of one number of ranks are processes, in order. `scaling` nullopt: strong
/// where the time falls by more than the square root of the ranks, else weak. DataError names the
/// line.
Measured read_points(const std::filesystem::path& path, std::optional<forecast::Scaling> scaling);

/// The curve with the most numbers of ranks among the chosen runs. OptionError where none is.
Measured points_of(const model::ChosenRuns& runs, std::optional<forecast::Scaling> scaling);

struct Prediction {
    /// A row a measured point, then a row a forecast; `what` is "measured", "forecast" or the word
    /// for a refusal, whose sentence is the row's caveat.
    Frame frame;
    forecast::Scaling scaling;
    std::string next;  ///< a run that narrows the farthest forecast most for its cost; ""
};

/// With `force` forecasts beyond forecast::kReach are not refused.
Prediction predict(const Measured& measured, const std::vector<double>& ranks, bool force);
std::string json_of(const Prediction& prediction);

struct Validation {
    Frame curves, refused, families;
};
/// Forecasts each published curve from its points up to a quarter of the largest, at up to 4 times
/// the last of these, and compares its error with those of two naive forecasts: the last efficiency
/// stays, and time = a + c log p.
Validation validate(const std::vector<model::PublishedCurve>& curves);

}  // namespace ranklab::report::predict
