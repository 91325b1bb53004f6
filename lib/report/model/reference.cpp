#include "report/model/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/chosen_runs.hpp"

namespace ranklab::report::model {
namespace {

namespace fs = std::filesystem;

Reference reference_of(const base::CsvRow& row) {
    Reference found{
        row.source,           row.at("experiment"), row.at("source"),
        row.at("quantity"),   row.at("unit"),       base::number_above_0(row.at("value")),
        row.at("conditions"), row.at("note"),       {}};
    if (const auto& same_as = row.at("same_as"); !same_as.empty())
        found.same_as = base::split(same_as, ';');
    Selection checked(found.same_as);
    return found;
}

std::size_t place_in(const std::vector<std::string>& words, const std::string& cell) {
    const auto found = std::ranges::find(words, cell);
    if (found == words.end())
        throw base::DataError(fmt::format("'{}' is not one of: {}", base::printable(cell, 40),
                                          base::join(words, ", ")));
    return static_cast<std::size_t>(found - words.begin());
}

std::vector<double> numbers(const std::string& cell) {
    std::vector<double> found;
    for (const auto& text : base::split(cell, ' ')) found.push_back(base::number_above_0(text));
    return found;
}

PublishedCurve curve_of(const base::CsvRow& row) {
    const auto& quantity = row.at("quantity");
    place_in({"rate", "rate-per-x", "time", "bandwidth"}, quantity);
    const auto& beyond = row.at("first_beyond_one_node");
    PublishedCurve curve{.name = row.at("curve"),
                         .family = row.at("family"),
                         .weak = place_in({"strong", "weak"}, row.at("kind")) == 1,
                         .caution = CurveCaution(place_in({"", "no-communication", "one-level",
                                                           "contradicts", "other-configuration"},
                                                          row.at("caution"))),
                         .x = numbers(row.at("x")),
                         .rates_per_x = numbers(row.at("y")),
                         .first_beyond_one_node = beyond.empty() ? 0 : numbers(beyond).front()};
    if (curve.x.size() < 2 || curve.x.size() != curve.rates_per_x.size() ||
        !std::ranges::is_sorted(curve.x, std::less_equal()))
        throw base::DataError("x is not ascending, or has not as many numbers as y, at least 2");
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        double& y = curve.rates_per_x[i];
        if (quantity == "rate") y /= curve.x[i];
        if (quantity == "time") y = 1 / (y * curve.x[i]);
    }
    return curve;
}

}  // namespace

bool is_same_experiment(const Reference& reference, const results::Run& run) {
    return !reference.same_as.empty() && Selection(reference.same_as).matches(run);
}

References read_references(const fs::path& folder) {
    References found;
    std::set<fs::path> files;
    std::error_code error, ignored;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (at->path().extension() == ".csv" && at->path().filename() != kPublishedCurves &&
            at->is_regular_file(ignored))
            files.insert(at->path());
    for (const auto& path : files) {
        try {
            std::vector<Reference> rows;
            base::read_csv(path,
                           [&](const base::CsvRow& row) { rows.push_back(reference_of(row)); });
            found.rows.insert(found.rows.end(), rows.begin(), rows.end());
        } catch (const base::DataError& problem) {
            found.problems.push_back(
                fmt::format("published figures are left out: {} (see the "
                            "README beside it)",
                            problem.what()));
        }
    }
    return found;
}

std::string reference_lines(const results::Run& run, const References& references) {
    std::string text;
    for (const auto& row : references.rows) {
        const auto* m = run.find(row.quantity);
        if (m == nullptr || !run.valid || !is_same_experiment(row, run)) continue;
        text +=
            fmt::format("published: {} {} ({}; {}); here {}, on this hardware\n", row.quantity,
                        readable(row.value, row.unit), base::printable(row.experiment, 80),
                        base::printable(row.conditions, 160), readable(m->summary.median, m->unit));
    }
    return text;
}

std::vector<PublishedCurve> read_published_curves(const fs::path& path) {
    std::vector<PublishedCurve> curves;
    base::read_csv(path, [&](const base::CsvRow& row) { curves.push_back(curve_of(row)); });
    return curves;
}

}  // namespace ranklab::report::model
