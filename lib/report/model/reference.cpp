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

constexpr const char
    *kFirstLine = "# ranklab reference, schema 1",
    *kHeader = "experiment,source,quantity,unit,value,ranks,conditions,note,same_as",
    *kFirstLineOfCurves = "# ranklab curves, schema 1",
    *kHeaderOfCurves =
        "curve,family,kind,quantity,x_unit,first_beyond_one_node,y_unit,x,y,caution,source,note";
constexpr std::string_view kSource = "# source: ";

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
    return cells;
}

Reference reference_of(const std::vector<std::string>& cells, const std::string& document) {
    const auto value = base::number_in(cells[4]);
    if (!value || !std::isfinite(*value))
        throw base::DataError(fmt::format("'{}' is not a number", base::printable(cells[4], 40)));
    Reference row{document, cells[0], cells[1], cells[2], cells[3], *value, cells[6], cells[7], {}};
    if (!cells[8].empty()) row.same_as = base::split(cells[8], ';');
    Selection checked(row.same_as);
    return row;
}

// Reads a CSV of facts: the first line, comments, the header, then rows with as many cells. Throws
// a sentence's second half.
template <class RowOf>
auto read_rows(const fs::path& path, std::string_view first_line, const std::string& header,
               RowOf row_of) {
    std::vector<decltype(row_of({}, ""))> rows;
    std::ifstream file(path);
    std::string line, document;
    bool begun = false;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        if (line.ends_with('\r')) line.pop_back();
        if (number == 1 && line != first_line) break;
        if (line.starts_with(kSource)) document = base::trim(line.substr(kSource.size()));
        if (line.empty() || line.starts_with('#')) continue;
        if (!begun && line != header) break;
        if (!std::exchange(begun, true)) continue;
        try {
            const auto cells = cells_of(line);
            if (const auto columns = cells_of(header).size(); cells.size() != columns)
                throw base::DataError(
                    fmt::format("it has {} columns, not {}", cells.size(), columns));
            rows.push_back(row_of(cells, document));
        } catch (const base::Error& error) {
            throw base::DataError(fmt::format("line {}: {}", number, error.what()));
        }
    }
    if (!begun)
        throw base::DataError(
            fmt::format("it does not begin with '{}' and its header", first_line));
    return rows;
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
    for (const auto& text : base::split(cell, ' ')) {
        found.push_back(base::number_in(text).value_or(0));
        if (!std::isfinite(found.back()) || found.back() <= 0)
            throw base::DataError(
                fmt::format("'{}' is not a number above 0", base::printable(text, 40)));
    }
    return found;
}

PublishedCurve curve_of(const std::vector<std::string>& cells, const std::string&) {
    const auto& quantity = cells[3];
    place_in({"rate", "rate-per-x", "time", "bandwidth"}, quantity);
    PublishedCurve curve{
        .name = cells[0],
        .family = cells[1],
        .source = cells[10],
        .weak = place_in({"strong", "weak"}, cells[2]) == 1,
        .caution = CurveCaution(place_in(
            {"", "no-communication", "one-level", "contradicts", "other-configuration"}, cells[9])),
        .x = numbers(cells[7]),
        .rates_per_x = numbers(cells[8]),
        .first_beyond_one_node = cells[5].empty() ? 0 : numbers(cells[5]).front()};
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
            const auto rows = read_rows(path, kFirstLine, kHeader, reference_of);
            found.rows.insert(found.rows.end(), rows.begin(), rows.end());
        } catch (const base::DataError& problem) {
            found.problems.push_back(fmt::format(
                "the published figures in '{}' are left out, since {}: see the README beside them",
                path.string(), problem.what()));
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
    try {
        return read_rows(path, kFirstLineOfCurves, kHeaderOfCurves, curve_of);
    } catch (base::DataError& error) {
        error.add_context(
            fmt::format("the published curves in '{}' cannot be used", path.string()));
        throw;
    }
}

}  // namespace ranklab::report::model
