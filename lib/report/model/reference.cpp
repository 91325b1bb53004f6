#include "report/model/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/model/chosen_runs.hpp"

namespace ranklab::report::model {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> same_as(const base::CsvRow& row) {
    const auto& conditions = row.at("same_as");
    return conditions.empty() ? std::vector<std::string>() : base::split(conditions, ';');
}

// Throws DataError or OptionError if a cell is missing or malformed.
void check_reference(const base::CsvRow& row) {
    for (const char* column : {"experiment", "source", "quantity", "unit", "conditions", "note"})
        row.at(column);
    Selection checked(same_as(row));
    if (!is_curve(row)) {
        base::number_above_0(row.at("value"));
        return;
    }
    row.at("over"), row.at("figure");
    if (numbers_in(row.at("x")).size() != numbers_in(row.at("y")).size())
        throw base::DataError("y needs as many numbers as x");
}

const std::string& one_of(const std::vector<std::string>& words, const std::string& cell) {
    if (std::ranges::find(words, cell) == words.end())
        throw base::DataError(fmt::format("'{}' is not one of: {}", base::printable(cell, 40),
                                          base::join(words, ", ")));
    return cell;
}

forecast::Work work_of(const std::string& cell) {
    one_of({forecast::kWorks.begin() + 1, forecast::kWorks.end()}, cell);
    return static_cast<forecast::Work>(std::ranges::find(forecast::kWorks, cell) -
                                       forecast::kWorks.begin());
}

PublishedCurve curve_of(const base::CsvRow& row) {
    const auto& quantity = one_of({"rate", "rate-per-x", "time", "bandwidth"}, row.at("quantity"));
    const auto& beyond = row.at("first_beyond_one_node");
    PublishedCurve curve{.name = row.at("curve"),
                         .source = row.at("family"),
                         .work = work_of(row.at("work")),
                         .weak = one_of({"strong", "weak"}, row.at("kind")) == "weak",
                         .caution = one_of({"", "no-communication", "one-level", "contradicts",
                                            "other-configuration"},
                                           row.at("caution")),
                         .x = numbers_in(row.at("x")),
                         .rates_per_x = numbers_in(row.at("y")),
                         .first_beyond_one_node = beyond.empty() ? 0 : numbers_in(beyond).front()};
    if (curve.x.size() < 2 || curve.x.size() != curve.rates_per_x.size() ||
        !std::ranges::is_sorted(curve.x, std::less_equal()))
        throw base::DataError("y needs as many numbers as x, at least 2, and x must be ascending");
    for (std::size_t i = 0; i < curve.x.size(); ++i) {
        double& y = curve.rates_per_x[i];
        if (quantity == "rate") y /= curve.x[i];
        if (quantity == "time") y = 1 / (y * curve.x[i]);
    }
    return curve;
}

}  // namespace

std::vector<double> numbers_in(const std::string& cell) {
    std::vector<double> found;
    for (const auto& text : base::split(cell, ' ')) found.push_back(base::number_above_0(text));
    return found;
}

bool is_same_experiment(const base::CsvRow& reference, const results::Run& run) {
    const Selection same(same_as(reference));
    return !same.everything() && same.matches(run);
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
            References rows;
            base::read_csv(path, [&](const base::CsvRow& row) {
                check_reference(row);
                rows.push_back(row);
            });
            found.insert(found.end(), rows.begin(), rows.end());
        } catch (const base::DataError& problem) {
            base::log::warn(fmt::format(
                "published numbers left out: {}; the README in that folder describes the columns",
                problem.what()));
        }
    }
    return found;
}

std::string reference_lines(const results::Run& run, const References& references) {
    std::string text;
    for (const auto& row : references) {
        if (is_curve(row)) continue;
        const auto* m = run.find(row.at("quantity"));
        if (m == nullptr || !run.valid || !is_same_experiment(row, run)) continue;
        text += base::wrapped(
            "published: ",
            fmt::format("{} {} ({}; {}); here {}, on this hardware", row.at("quantity"),
                        readable(base::number_above_0(row.at("value")), row.at("unit")),
                        base::printable(row.at("experiment"), 80),
                        base::printable(row.at("conditions"), 160),
                        readable(m->summary.median, m->unit)));
    }
    return text;
}

forecast::ScalingCurve PublishedCurve::times() const {
    forecast::ScalingCurve found{
        .scaling = weak ? forecast::Scaling::weak : forecast::Scaling::strong,
        .work = work,
        .source = source};
    if (caution == "one-level") found.per_node = x.back();
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (first_beyond_one_node > 0 && !beyond_one_node(i)) found.per_node = x[i];
        found.points.push_back({x[i], {1 / (rates_per_x[i] * (weak ? 1 : x[i]))}});
    }
    return found;
}

forecast::Sources sources_of(const std::vector<PublishedCurve>& curves) {
    std::vector<forecast::ScalingCurve> known;
    for (const auto& curve : curves) {
        if (curve.caution == "contradicts") continue;
        known.push_back(curve.times());
        if (curve.caution == "no-communication") known.back().per_node = 0;
    }
    return forecast::Sources(known);
}

std::vector<PublishedCurve> read_published_curves(const fs::path& path) {
    std::vector<PublishedCurve> curves;
    base::read_csv(path, [&](const base::CsvRow& row) { curves.push_back(curve_of(row)); });
    return curves;
}

}  // namespace ranklab::report::model
