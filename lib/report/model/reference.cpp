#include "report/model/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/chosen_runs.hpp"

namespace ranklab::report::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSource = "# source:";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // spreadsheets write it

// With the quotes of RFC 4180.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells{""};
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == ',' && !quoted)
            cells.emplace_back();
        else if (line[i] != '"')
            cells.back() += line[i];
        else if (quoted && line.compare(i, 2, "\"\"") == 0)
            cells.back() += line[i++];
        else
            quoted = !quoted;
    }
    for (auto& cell : cells) cell = base::trim(cell);
    return cells;
}

Reference reference_of(const CsvRow& row) {
    Reference found{row.source,           row.at("experiment"), row.at("source"),
                    row.at("quantity"),   row.at("unit"),       number_above_0(row.at("value")),
                    row.at("conditions"), row.at("note"),       {}};
    if (const auto& same_as = row.at("same_as"); !same_as.empty())
        found.same_as = base::split(same_as, ';');
    Selection checked(found.same_as);
    return found;
}

std::size_t place_in(const std::vector<std::string>& words, const std::string& cell) {
    const auto found = std::ranges::find(words, cell);
    if (found == words.end())
        throw base::DataError(
            fmt::format("'{}' is not a word of its column", base::printable(cell, 40)));
    return static_cast<std::size_t>(found - words.begin());
}

std::vector<double> numbers(const std::string& cell) {
    std::vector<double> found;
    for (const auto& text : base::split(cell, ' ')) found.push_back(number_above_0(text));
    return found;
}

PublishedCurve curve_of(const CsvRow& row) {
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

double number_above_0(const std::string& text) {
    const auto number = base::number_in(text);
    if (!number || !std::isfinite(*number) || *number <= 0)
        throw base::DataError(
            fmt::format("'{}' is not a number above 0", base::printable(text, 40)));
    return *number;
}

const std::string& CsvRow::at(const std::string& column) const {
    const auto found = cells.find(column);
    if (found == cells.end())
        throw base::DataError(fmt::format("the header has no column '{}'", column));
    return found->second;
}

void read_csv(const fs::path& path, const std::function<void(const CsvRow&)>& take) {
    std::ifstream file(path);
    std::vector<std::string> names;
    CsvRow row;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        if (number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
        if (line.starts_with(kSource)) row.source = base::trim(line.substr(kSource.size()));
        if (base::trim(line).empty() || line.starts_with('#')) continue;
        const auto cells = cells_of(line);
        if (names.empty()) {
            names = cells;
            continue;
        }
        try {
            if (cells.size() != names.size())
                throw base::DataError(
                    fmt::format("it has {} columns, not {}", cells.size(), names.size()));
            for (std::size_t i = 0; i < names.size(); ++i) row.cells[names[i]] = cells[i];
            take(row);
        } catch (const base::Error& error) {
            throw base::DataError(
                fmt::format("{} line {}: {}", path.string(), number, error.what()));
        }
    }
    if (row.cells.empty())
        throw base::DataError(fmt::format("{} holds no rows below a header", path.string()));
}

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
            read_csv(path, [&](const CsvRow& row) { rows.push_back(reference_of(row)); });
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
    read_csv(path, [&](const CsvRow& row) { curves.push_back(curve_of(row)); });
    return curves;
}

}  // namespace ranklab::report::model
