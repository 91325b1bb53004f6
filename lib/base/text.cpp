#include "base/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/utf8.hpp"

namespace ranklab::base {
namespace {

// Levenshtein's distance with one row of memory.
// Letters left out, put in, replaced, or swapped with the next one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, above, row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
    // Of a short word two letters are no slip.
    const std::size_t limit = word.size() < 4 ? word.size() / 2 : std::max<std::size_t>(2, word.size() / 3);
    std::size_t best = std::numeric_limits<std::size_t>::max();
    std::optional<std::string> found;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best && distance <= limit) {
            best = distance;
            found = candidate;
        }
    }
    return found;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string trim(std::string_view text) {
    const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return std::string(text);
}

std::string printable(std::string_view text, std::size_t most) {
    std::string shown;
    for (const char c : text.substr(0, most)) shown += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > most ? shown + "..." : shown;
}

std::string valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        const Letter letter = first_letter(text);
        valid += letter.shown(text);
        text.remove_prefix(letter.bytes);
    }
    return valid;
}

std::string shell_quote(const std::vector<std::string>& arguments) {
    std::vector<std::string> quoted;
    for (const auto& argument : arguments) {
        const bool plain =
            !argument.empty() && std::all_of(argument.begin(), argument.end(), [](unsigned char c) {
                return std::isalnum(c) != 0 ||
                       std::string_view("-_./=:,+%@").find(char(c)) != std::string_view::npos;
            });
        if (plain) {
            quoted.push_back(argument);
            continue;
        }
        std::string text = "'";
        for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        quoted.push_back(text + "'");
    }
    return join(quoted, " ");
}

std::string shape_text(std::span<const std::int64_t> shape) {
    return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string compact_ranges(const std::vector<int>& ids) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < ids.size();) {
        std::size_t j = i;
        while (j + 1 < ids.size() && ids[j + 1] == ids[j] + 1) ++j;
        parts.push_back(i == j ? fmt::format("{}", ids[i]) : fmt::format("{}-{}", ids[i], ids[j]));
        i = j + 1;
    }
    return join(parts, ",");
}

std::string human_bytes(double bytes) {
    if (std::isnan(bytes)) return "n/a";
    static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string human_duration(double seconds) {
    if (seconds < 60) return fmt::format("{:.0f} s", seconds);
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 3600) return fmt::format("{} min {:02d} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02d} min", whole / 3600, whole % 3600 / 60);
}

std::string utc_compact(std::int64_t unix_seconds) {
    return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

std::string utc_iso(std::int64_t unix_seconds) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

}  // namespace ranklab::base
