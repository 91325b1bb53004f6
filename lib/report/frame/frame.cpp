#include "report/frame/frame.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::report {
namespace {

// Orders numbers by value, and before texts.
std::tuple<bool, double, std::string> order_of(const Cell& cell) {
    const std::string text = exact(cell);
    const auto number = base::number_in(text);
    return {!number, number.value_or(0), text};
}

constexpr double kKiB = 1024;

// A unit for people: worth `per_one` stored units, used from `from` stored units on.
struct Shown {
    std::string_view unit, name;
    double per_one, from;
};

constexpr std::array kShown{
    Shown{"s", "s", 1, 1},
    Shown{"s", "ms", 1e-3, 1e-3},
    Shown{"s", "us", 1e-6, 0},
    Shown{"us", "s", 1e6, 1e6},
    Shown{"us", "ms", 1e3, 1e3},
    Shown{"us", "us", 1, 0},
    Shown{"B", "GiB", kKiB* kKiB* kKiB, kKiB* kKiB* kKiB},
    Shown{"B", "MiB", kKiB* kKiB, kKiB* kKiB},
    Shown{"B", "KiB", kKiB, kKiB},
    Shown{"B", "B", 1, 0},
    Shown{"MiB/s", "GiB/s", kKiB, 10 * kKiB},
    Shown{"GB/s", "GB/s", 1, 0.1},
    Shown{"GB/s", "MB/s", 1e-3, 0},
};

Shown shown_in(double value, std::string_view unit) {
    for (const auto& one : kShown)
        if (one.unit == unit && std::abs(value) >= one.from) return one;
    return {unit, unit == "1" ? "" : unit, 1, 0};
}

// Speedups and efficiencies have three decimals.
bool is_ratio(double value, std::string_view unit) {
    return unit == "1" && std::abs(value) >= 0.01 && std::abs(value) < 10;
}

}  // namespace

std::vector<Column> columns_of(const std::string& text) {
    std::vector<Column> columns;
    for (const auto& part : base::split(text, '|')) {
        auto words = base::split(base::trim(part), ' ');
        const std::string name = std::exchange(words.front(), "");
        Column column{.name = name.substr(0, name.find_first_of("*+"))};
        if (name.ends_with('*')) column.role = Role::key;
        column.interval = name.ends_with("+-");
        if (words.size() > 1 && words[1].starts_with('['))
            column.unit = std::exchange(words[1], "").substr(1), column.unit.pop_back();
        std::erase(words, "");
        column.head = base::join(words, " ");
        columns.push_back(std::move(column));
    }
    return columns;
}

bool Row::has(CaveatKind kind) const {
    return std::ranges::find(caveats, kind, &Caveat::kind) != caveats.end();
}

const Cell& Row::at(std::size_t column) const {
    static const Cell kEmpty;
    return column < cells.size() ? cells[column] : kEmpty;
}

std::size_t Frame::find(std::string_view column, std::optional<Role> role) const {
    const auto found = std::ranges::find_if(columns, [&](const Column& one) {
        return one.name == column && (!role || one.role == *role);
    });
    return static_cast<std::size_t>(found - columns.begin());
}

Places Frame::all(Role role) const {
    Places found;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].role == role) found.push_back(i);
    return found;
}

bool Frame::has_numbers(std::size_t column) const {
    return std::ranges::any_of(rows, [&](const Row& row) { return row.at(column).is_number(); });
}

bool Frame::has_caveats() const {
    return std::ranges::any_of(rows, [](const Row& row) { return !row.caveats.empty(); });
}

std::size_t Frame::add_column(Column column) {
    const std::size_t place = find(column.name, column.role);
    if (place == columns.size()) columns.push_back(std::move(column));
    return place;
}

void Frame::set(std::size_t row, Column column, Cell cell) {
    auto& cells = rows[row].cells;
    std::size_t place = cells.size();  // most rows are filled in the order of the columns
    if (place >= columns.size() || columns[place].name != column.name ||
        columns[place].role != column.role)
        place = add_column(std::move(column));
    if (cells.size() <= place) cells.resize(place + 1);
    cells[place] = std::move(cell);
}

Frame Frame::select(const Places& chosen) const {
    Frame some{.title = title, .notes = notes};
    for (const std::size_t column : chosen)
        if (column < columns.size()) some.columns.push_back(columns[column]);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        some.rows.push_back({{}, rows[row].caveats, rows[row].members});
        for (const std::size_t column : chosen)
            if (column < columns.size()) some.rows.back().cells.push_back(at(row, column));
    }
    return some;
}

std::vector<std::pair<std::vector<std::string>, Places>> Frame::group_by(const Places& keys) const {
    using Texts = std::vector<std::string>;
    InsertionOrderedMap<Texts, std::pair<Texts, Places>> met;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        Texts key;
        for (const std::size_t column : keys) key.push_back(exact(at(row, column)));
        auto& group = met[key];
        group.first = key;
        group.second.push_back(row);
    }
    return met.all();
}

void Frame::sort(const Places& keys) {
    std::ranges::stable_sort(rows, {}, [&](const Row& row) {
        std::vector<std::tuple<bool, double, std::string>> order;
        for (const std::size_t column : keys) order.push_back(order_of(row.at(column)));
        return order;
    });
}

void Frame::drop_empty_columns() {
    Places kept;
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i].is_key() ||
            std::ranges::any_of(rows, [&](const Row& row) { return !row.at(i).empty(); }))
            kept.push_back(i);
    *this = select(kept);
}

std::pair<std::string, std::string> named_unit(std::string_view column) {
    struct Ending {
        std::string_view ending, unit, kept;  // kept: the part that is not a unit
    };
    static constexpr std::array kEndings{Ending{"samples_per_s", "samples/s", ""},
                                         Ending{"files_per_s", "files/s", "files"},
                                         Ending{"MiB_per_s", "MiB/s", ""},
                                         Ending{"_MiBps", "MiB/s", ""},
                                         Ending{"_GBps", "GB/s", ""},
                                         Ending{"_GFLOP_per_s", "GFLOP/s", ""},
                                         Ending{"_per_s", "/s", ""},
                                         Ending{"_us", "us", ""},
                                         Ending{"_s", "s", ""},
                                         Ending{"_bytes", "B", ""},
                                         Ending{"percent", "%", "percent"},
                                         Ending{"_ppm", "ppm", ""}};
    std::string name(column), unit;
    for (const auto& [ending, one, kept] : kEndings) {
        if (!name.ends_with(ending)) continue;
        unit = one;
        name.replace(name.size() - ending.size(), ending.size(), kept);
        break;
    }
    if (name.ends_with('_')) name.pop_back();
    if (name.empty()) name = "rate";
    std::ranges::replace(name, '_', ' ');
    return {name, unit};
}

std::string without_unit(std::string_view name) {
    return named_unit(name).first;
}

std::string exact(double number) {
    return std::isnan(number) ? "" : fmt::format("{}", number);
}

std::string exact(const Cell& cell) {
    return cell.is_number() ? exact(cell.number) : cell.text;
}

nlohmann::ordered_json json_rows(const Frame& frame) {
    auto rows = nlohmann::ordered_json::array();
    for (std::size_t row = 0; row < frame.rows.size(); ++row) {
        auto& json = rows.emplace_back(nlohmann::ordered_json::object());
        for (std::size_t i = 0; i < frame.columns.size(); ++i) {
            const auto& [name, unit, role, interval, head] = frame.columns[i];
            const Cell& cell = frame.at(row, i);
            json[name] = cell.text;
            if (cell.text.empty()) json[name] = cell.number;
            if (!interval) continue;
            json[name + "_low"] = cell.interval.low;
            json[name + "_high"] = cell.interval.high;
        }
    }
    return rows;
}

std::string json_line(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string digits(double value) {
    if (!std::isfinite(value)) return "n/a";
    const double size = std::abs(value);
    if (size >= 1e15 || (size < 1e-3 && size > 0)) return fmt::format("{:.3g}", value);
    const int behind = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    return fmt::format("{:.{}f}", value, behind);
}

std::string readable(double value, std::string_view unit) {
    if (!std::isfinite(value)) return "n/a";
    if (is_ratio(value, unit)) return fmt::format("{:.3f}", value);
    const Shown shown = shown_in(value, unit);
    return fmt::format("{}{}{}", digits(value / shown.per_one), shown.name.empty() ? "" : " ",
                       shown.name);
}

std::pair<double, std::string> shown_unit(double value, std::string_view unit) {
    const Shown shown = shown_in(value, unit);
    return {shown.per_one, std::string(shown.name)};
}

std::string readable_interval(const stats::Interval& interval, double value,
                              std::string_view unit) {
    if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return "";
    if (is_ratio(value, unit)) return fmt::format("{:.3f} .. {:.3f}", interval.low, interval.high);
    const Shown shown = shown_in(value, unit);
    return fmt::format("{} .. {}", digits(interval.low / shown.per_one),
                       digits(interval.high / shown.per_one));
}

std::string readable(double value, const stats::Interval& interval, std::string_view unit) {
    const std::string range = readable_interval(interval, value, unit);
    return readable(value, unit) + (range.empty() ? "" : " (" + range + ")");
}

std::string readable(const Cell& cell, const Column& column) {
    if (!cell.is_number()) return cell.text;
    if (column.unit.empty()) return fmt::format("{}", cell.number);
    return readable(cell.number, column.unit);
}

std::string counted(std::size_t count, const std::string& what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string size_text(double bytes) {
    std::string text = base::human_bytes(bytes);
    double whole = bytes;
    while (whole >= kKiB) whole /= kKiB;
    const auto zero = text.find(".0 ");
    if (zero != std::string::npos && whole == std::floor(whole)) text.erase(zero, 2);
    return text;
}

std::string percent_text(double percent) {
    return fmt::format("{:.{}f} %", percent, std::abs(percent) < 9.95 ? 1 : 0);
}

}  // namespace ranklab::report
