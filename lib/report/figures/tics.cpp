#include "report/figures/tics.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kMostTics = 8, kMostByteTics = 5, kLongest = 120;

bool has_range(double low, double high) {
    return low > 0 && high > low && std::isfinite(high);
}

std::string axis_tics(const char* axis, const std::vector<std::pair<double, std::string>>& tics) {
    if (tics.size() < 2) return "";
    std::vector<std::string> list;
    for (const auto& [at, text] : tics) list.push_back(fmt::format("{} {}", gnuplot_quoted(text), at));
    return fmt::format("set {}tics ({}) nomirror\n", axis, base::join(list, ", "));
}

}  // namespace

std::string gnuplot_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : base::shortened(base::one_line(text), kLongest))
        out += c == '\'' ? std::string("''") : std::string(1, c);
    return out + "'";
}

std::string plain_tics(const char* axis, const std::vector<double>& values) {
    std::vector<std::pair<double, std::string>> tics;
    const std::size_t every = values.size() / (kMostTics + 1) + 1;
    for (std::size_t i = 0; i < values.size(); i += every)
        tics.emplace_back(values[i], fmt::format("{}", values[i]));
    return axis_tics(axis, tics);
}

std::string decimal_tics(const char* axis, double low, double high, const std::string& unit) {
    std::vector<std::pair<double, std::string>> tics;
    if (!has_range(low, high)) return "";
    const bool only_powers = high / low > 500;
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    const int every = only_powers ? 1 + (last - first) / static_cast<int>(kMostTics) : 1;
    for (int power = first; power <= last; power += every)
        for (const int digit : {1, 2, 5})
            if (const double value = digit * std::pow(10.0, power);
                value >= low && value <= high && (digit == 1 || !only_powers))
                tics.emplace_back(value, readable(value * (1 + 1e-12), unit));
    return axis_tics(axis, tics);
}

std::string byte_tics(const char* axis, double low, double high) {
    std::vector<std::pair<double, std::string>> tics;
    if (!has_range(low, high)) return "";
    const int first = static_cast<int>(std::ceil(std::log2(low)));
    const int last = static_cast<int>(std::floor(std::log2(high)));
    const int every = 1 + (last - first) / static_cast<int>(kMostByteTics);
    for (int power = first; power <= last; ++power)  // 1 MiB is a mark wherever it lies on the axis
        if (power % every == 0) tics.emplace_back(std::exp2(power), size_text(std::exp2(power)));
    return axis_tics(axis, tics);
}

}  // namespace ranklab::report::figures
