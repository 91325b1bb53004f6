// Published figures and scaling curves to compare with ours: results/reference/*.csv, whose README
// describes the columns.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

struct Reference {
    std::string document;  ///< of the file's line `# source:`
    std::string experiment, source, quantity, unit;
    double value = 0;
    std::string conditions, note;
    /// Conditions of a run of ours that is the same experiment (Selection); may be empty.
    std::vector<std::string> same_as;
};

/// Whether the run is of what the figure is of: it meets all of same_as, and there are any.
bool is_same_experiment(const Reference& reference, const results::Run& run);

struct References {
    std::vector<Reference> rows;
    /// A sentence for each file that could not be used; none of its rows is there.
    std::vector<std::string> problems;
};
/// All *.csv of the folder but the curves, by name; nothing where there is no such folder.
References read_references(const std::filesystem::path& folder);

/// Lines for the text of a run, one for each published figure of the same experiment that the run
/// measured too; "" where there is none.
std::string reference_lines(const results::Run& run, const References& references);

/// Why a curve is not to be taken as that of one code on one machine; the README describes each.
enum class CurveCaution { none, no_communication, one_level, contradicts, other_configuration };

struct PublishedCurve {
    std::string name, family;
    bool weak = false;  ///< each node or device keeps its work; otherwise all share one
    CurveCaution caution = CurveCaution::none;
    /// Ascending numbers of nodes or devices, at least 2, and at each the rate of one of them, in a
    /// unit of the curve's own.
    std::vector<double> x, rates_per_x;
    /// The least x on more than one node; 0: none is, or the source does not say.
    double first_beyond_one_node = 0;

    bool beyond_one_node(std::size_t point) const {
        return first_beyond_one_node > 0 && x[point] >= first_beyond_one_node;
    }
    /// Over the first point.
    double efficiency(std::size_t point) const { return rates_per_x[point] / rates_per_x[0]; }
};

/// The name of the file in the folder of published figures.
inline constexpr const char* kPublishedCurves = "curves.csv";
/// DataError with the line where the file cannot be read or a row of it is not a curve.
std::vector<PublishedCurve> read_published_curves(const std::filesystem::path& path);

}  // namespace ranklab::report::model
