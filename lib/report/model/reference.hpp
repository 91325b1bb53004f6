// Published numbers and scaling curves, to compare runs with: results/reference/*.csv. The README
// there describes the columns.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/csv.hpp"
#include "forecast/curve.hpp"
#include "results/run.hpp"

namespace ranklab::report::model {

/// Published numbers, each with its source document. A row with a column `x` is a curve: `y` are
/// values of the quantity over the setting `over`.
using References = std::vector<base::CsvRow>;
inline bool is_curve(const base::CsvRow& reference) {
    return reference.cells.contains("x");
}
/// The numbers of a cell, separated by blanks. Throws DataError if one is not above 0.
std::vector<double> numbers_in(const std::string& cell);
/// Whether the row's cell same_as has conditions, and the run meets all of them.
bool is_same_experiment(const base::CsvRow& reference, const results::Run& run);
/// Reads all *.csv of the folder except kPublishedCurves; nothing if there is no such folder. Warns
/// of a file that cannot be read, and leaves out the numbers in it.
References read_references(const std::filesystem::path& folder);

/// A line per published number of the run's experiment whose quantity the run measured.
std::string reference_lines(const results::Run& run, const References& references);

struct PublishedCurve {
    std::string name, source;  ///< source: publication and framework; its curves are related
    forecast::Work work = forecast::Work::unknown;
    bool weak = false;  ///< each node or device keeps its work; else all share one work
    /// The column `caution` of the file, a code that results/reference/README.md lists, such as
    /// "contradicts"; "": none.
    std::string caution;
    /// At least two ascending numbers of nodes or devices, and the rate per node or device at each,
    /// in any unit.
    std::vector<double> x, rates_per_x;
    /// The least x on more than one node; 0: none, or not known.
    double first_beyond_one_node = 0;

    bool beyond_one_node(std::size_t point) const {
        return first_beyond_one_node > 0 && x[point] >= first_beyond_one_node;
    }
    /// Relative to the first point.
    double efficiency(std::size_t point) const { return rates_per_x[point] / rates_per_x[0]; }
    /// The points as times, of one step each.
    forecast::ScalingCurve times() const;
};

/// The name of the file in the folder of published numbers.
inline constexpr const char* kPublishedCurves = "curves.csv";
/// Throws DataError with the line if the file cannot be read or a row is not a curve.
std::vector<PublishedCurve> read_published_curves(const std::filesystem::path& path);
/// Learns from all curves that are not contradictory. Curves without communication do not teach
/// what the step from one node to several costs.
forecast::Sources sources_of(const std::vector<PublishedCurve>& curves);

}  // namespace ranklab::report::model
