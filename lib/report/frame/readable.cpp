#include "report/frame/frame.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/text.hpp"

namespace ranklab::report {
namespace {

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
