#include "report/formats/screen.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/parts.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

struct Unit {
    const char* name;
    double seconds;
};

Unit unit_of(double seconds) {
    static constexpr std::array kUnits{Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}};
    for (const auto& unit : kUnits)
        if (std::abs(seconds) >= unit.seconds) return unit;
    return kUnits.back();
}

}  // namespace

std::string screen_line(std::string_view name, std::string_view value) {
    if (value.empty()) return "";
    return base::wrapped(fmt::format("  {:<14}", name), base::one_line(value));
}

std::string painted(std::string text, std::string_view word, Tone tone, const Screen& screen) {
    const auto at = text.find(word);
    if (!screen.colour || at == std::string::npos) return text;
    return text.replace(at, word.size(),
                        fmt::format("\033[{}m{}\033[0m", tone == Tone::bad ? "1;31" : "33", word));
}

std::string readable_time(double seconds) {
    if (!std::isfinite(seconds)) return "n/a";
    const Unit unit = unit_of(seconds);
    return fmt::format("{} {}", plain(seconds / unit.seconds), unit.name);
}

std::string readable_time(const stats::Summary& s) {
    const Unit unit = unit_of(s.median);
    if (!std::isfinite(s.ci95.low) || !std::isfinite(s.ci95.high))
        return fmt::format("{}, no interval{}", readable_time(s.median), s.n < 6 ? " (n < 6)" : "");
    return fmt::format("{}, 95 % interval {} .. {} {}", readable_time(s.median),
                       plain(s.ci95.low / unit.seconds), plain(s.ci95.high / unit.seconds), unit.name);
}

std::string counted_time(const results::Run& run, std::string_view measurement) {
    const results::Measurement* found = run.find(measurement);
    if (found == nullptr || !std::isfinite(found->summary.median)) return "";
    return fmt::format("{}, {} counted", readable_time(found->summary), found->summary.n);
}

std::string readable_percent(double percent) {
    return fmt::format("{:.{}f} %", percent, std::abs(percent) < 9.95 ? 1 : 0);
}

std::string verification_text(const results::Run& run) {
    const results::Table* table = run.find_table("verification");
    if (table == nullptr) return "";
    std::vector<std::string> passed, others;
    bool failed = false;
    for (std::size_t row = 0; row < model::row_count(*table); ++row) {
        const std::string check = model::text_at(*table, "check", row);
        const std::string result = model::text_at(*table, "result", row);
        failed = failed || result == "failed";
        if (result == "passed")
            passed.push_back(check);
        else if (result != "does not apply")
            others.push_back(
                fmt::format("{}: {} ({})", result, check, model::text_at(*table, "detail", row)));
    }
    if (failed) return "NO; " + base::join(others, "; ");
    if (!passed.empty()) others.insert(others.begin(), "yes: " + base::join(passed, ", "));
    return base::join(others, "; ");
}

}  // namespace ranklab::report::formats
