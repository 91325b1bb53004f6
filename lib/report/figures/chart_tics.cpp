#include "report/figures/gnuplot.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostTics = 8;
constexpr std::size_t kMostByteTics = 5;

bool has_range(double low, double high) {
    return low > 0 && high > low && std::isfinite(high);
}

std::vector<double> decimals_between(double low, double high) {
    std::vector<double> found;
    if (!has_range(low, high)) return found;
    const bool only_powers = high / low > 500;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    const int every = only_powers ? 1 + (last - first) / static_cast<int>(kMostTics) : 1;
    for (int power = first; power <= last; power += every) {
        for (const int digit : {1, 2, 5}) {
            const double value = digit * std::pow(10.0, power);
            if (value >= low && value <= high && (digit == 1 || !only_powers)) found.push_back(value);
        }
    }
    return found;
}

std::string seconds_text(double seconds) {
    if (seconds < 0.9999e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
    if (seconds < 0.9999e-3) return fmt::format("{:.3g} us", seconds * 1e6);
    return seconds < 0.9999 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string bytes_text(double bytes) {
    static constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
    return fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

}  // namespace

std::vector<Tic> plain_tics(const std::vector<double>& values) {
    std::vector<Tic> tics;
    const std::size_t every = values.size() / (kMostTics + 1) + 1;
    for (std::size_t i = 0; i < values.size(); i += every)
        tics.push_back({values[i], fmt::format("{}", values[i])});
    return tics;
}

std::vector<Tic> decimal_tics(double low, double high) {
    std::vector<Tic> tics;
    for (const double value : decimals_between(low, high))
        tics.push_back({value, value >= 1000 && value < 1e7 ? fmt::format("{:.0f}", value)
                                                            : fmt::format("{:.3g}", value)});
    return tics;
}

std::vector<Tic> second_tics(double low, double high) {
    std::vector<Tic> tics;
    for (const double value : decimals_between(low, high)) tics.push_back({value, seconds_text(value)});
    return tics;
}

std::vector<Tic> byte_tics(double low, double high) {
    std::vector<Tic> tics;
    if (!has_range(low, high)) return tics;
    const int first = static_cast<int>(std::ceil(std::log2(low)));
    const int last = static_cast<int>(std::floor(std::log2(high)));
    const int every = 1 + (last - first) / static_cast<int>(kMostByteTics);
    for (int power = first; power <= last; ++power)  // 1 MiB is a mark wherever it lies on the axis
        if (power % every == 0) tics.push_back({std::exp2(power), bytes_text(std::exp2(power))});
    return tics;
}

std::string axis_tics(const char* axis, const std::vector<Tic>& tics) {
    if (tics.size() < 2) return "";
    std::string list;
    for (const auto& tic : tics)
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", gnuplot_quoted(tic.text), tic.at);
    return fmt::format("set {}tics ({}) nomirror\n", axis, list);
}

}  // namespace ranklab::report::figures
