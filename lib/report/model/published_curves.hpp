// Scaling curves that others published: results/reference/curves.csv, whose README describes the
// columns. Facts as published; what is computed from them is computed here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace ranklab::report::model {

/// In what y is. `rate`: of all together. `rate_per_x`: of each node or device. `time`: for the
/// whole work. `bandwidth`: of a collective, which does not share work among devices.
enum class CurveQuantity { rate, rate_per_x, time, bandwidth };

/// Why a curve is not to be taken as that of one code on one machine.
enum class CurveCaution {
    none,
    no_communication,     ///< its ranks exchange nothing
    one_level,            ///< it never leaves a node, or a machine with one memory
    contradicts,          ///< a point contradicts the others, or the algorithm changes
    other_configuration,  ///< some points were measured with other settings
};

struct PublishedCurve {
    std::string name, family;
    bool weak = false;  ///< each node or device keeps its work; otherwise all share one
    CurveQuantity quantity = CurveQuantity::rate;
    CurveCaution caution = CurveCaution::none;
    std::string x_unit, y_unit;  ///< "GPUs", "samples/s"
    std::vector<double> x, y;    ///< ascending x; equally many, at least 2
    /// The least x on more than one node; 0: none is, or the source does not say.
    double first_beyond_one_node = 0;
    std::string source, note;

    bool beyond_one_node(std::size_t point) const {
        return first_beyond_one_node > 0 && x[point] >= first_beyond_one_node;
    }
    /// The rate per node or device over that of the first point; of a time T0 x0 / (T x). NaN of a
    /// bandwidth.
    double efficiency(std::size_t point) const;
};

/// The name of the file in the folder of published figures.
inline constexpr const char* kPublishedCurves = "curves.csv";
/// DataError with the line where the file cannot be read or a row of it is not a curve.
std::vector<PublishedCurve> read_published_curves(const std::filesystem::path& path);

}  // namespace ranklab::report::model
