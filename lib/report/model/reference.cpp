#include "report/model/reference.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/published_curves.hpp"

namespace ranklab::report::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view
    kFirstLine = "# ranklab reference, schema 1",
    kSource = "# source: ",
    kHeader = "experiment,source,quantity,unit,value,ranks,conditions,note,same_as";

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

Reference row_of(const std::vector<std::string>& cells, const std::string& document) {
    const auto value = base::number_in(cells[4]);
    if (!value || !std::isfinite(*value))
        throw base::DataError(fmt::format("'{}' is not a number", base::printable(cells[4], 40)));
    Reference row{document, cells[0], cells[1], cells[2], cells[3], *value, cells[6], cells[7], {}};
    if (!cells[8].empty()) row.same_as = base::split(cells[8], ';');
    Selection checked(row.same_as);
    return row;
}

}  // namespace

void read_rows(const fs::path& path, std::string_view first_line, std::string_view header,
               const TakeRow& take) {
    const std::size_t columns = cells_of(std::string(header)).size();
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
            if (cells.size() != columns)
                throw base::DataError(
                    fmt::format("it has {} columns, not {}", cells.size(), columns));
            take(cells, document);
        } catch (const base::Error& error) {
            throw base::DataError(fmt::format("line {}: {}", number, error.what()));
        }
    }
    if (!begun)
        throw base::DataError(
            fmt::format("it does not begin with '{}' and its header", first_line));
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
            read_rows(path, kFirstLine, kHeader, [&](const auto& cells, const auto& document) {
                rows.push_back(row_of(cells, document));
            });
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

}  // namespace ranklab::report::model
