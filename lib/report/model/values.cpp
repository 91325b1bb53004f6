#include "report/model/values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

namespace ranklab::report::model {
namespace {

std::size_t rows_of(const results::Column& column) {
    return std::visit([](const auto& values) { return values.size(); }, column.values);
}

// Of that name and with such a row; nullptr otherwise.
const results::Column* find_cell(const results::Table& table, const std::string& name, std::size_t row) {
    for (const auto& column : table.columns)
        if (column.name == name && row < rows_of(column)) return &column;
    return nullptr;
}

double last_of_epochs(const results::Run& run, const std::string& measurement) {
    const results::Table* epochs = run.find_table("epochs");
    const auto* values = epochs == nullptr ? nullptr : epochs->find<double>(measurement);
    return values == nullptr || values->empty() ? stats::kNone : values->back();
}

}  // namespace

std::size_t node_count(const results::Run& run) {
    std::set<std::string> hosts;
    for (const auto& row : run.hosts) hosts.insert(row.host);
    return hosts.size();
}

std::vector<std::pair<std::string, double>> fields_of(const stats::Summary& s) {
    return {{"n", static_cast<double>(s.n)},
            {"median", s.median},
            {"mean", s.mean},
            {"min", s.min},
            {"max", s.max},
            {"p95", s.p95},
            {"p99", s.p99},
            {"ci95_low", s.ci95.low},
            {"ci95_high", s.ci95.high}};
}

double final_value(const results::Run& run, const std::string& measurement) {
    for (const double value : {last_of_epochs(run, measurement), run.median(measurement)})
        if (std::isfinite(value)) return value;
    return stats::kNone;
}

std::size_t row_count(const results::Table& table) {
    std::size_t rows = table.columns.empty() ? 0 : std::numeric_limits<std::size_t>::max();
    for (const auto& column : table.columns) rows = std::min(rows, rows_of(column));
    return rows;
}

double number_at(const results::Table& table, const std::string& name, std::size_t row) {
    const results::Column* column = find_cell(table, name, row);
    if (column == nullptr) return stats::kNone;
    if (const auto* doubles = std::get_if<std::vector<double>>(&column->values)) return (*doubles)[row];
    if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&column->values))
        return static_cast<double>((*ints)[row]);
    return stats::kNone;
}

std::string text_at(const results::Table& table, const std::string& name, std::size_t row) {
    const results::Column* column = find_cell(table, name, row);
    if (column == nullptr) return "";
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column->values)) return (*texts)[row];
    if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&column->values))
        return std::to_string((*ints)[row]);
    return fmt::format("{:.4g}", number_at(table, name, row));
}

}  // namespace ranklab::report::model
