#include "base/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <boost/locale/utf.hpp>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/numbers.hpp"

namespace ranklab::base {
namespace {

// Damerau-Levenshtein distance: letters deleted, inserted, replaced or swapped with the next one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, above, row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before = std::exchange(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min(
                {above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

// Two wrong letters in a short word are too many: "gpus" does not mean "ops".
std::size_t most_slips(std::size_t letters) {
    return letters < 4 ? letters / 2 : std::max<std::size_t>(2, letters / 3);
}

std::string lower_case(std::string_view text) {
    return boost::algorithm::to_lower_copy(std::string(text));
}

// Whether `word` begins a part of `candidate`: "hdf5" in "hdf5-serial", "time" in "step_time_s".
bool begins_a_part(const std::string& word, const std::string& candidate) {
    for (std::size_t at = candidate.find(word); at != std::string::npos;
         at = candidate.find(word, at + 1))
        if (at == 0 || std::string_view("-_. ").find(candidate[at - 1]) != std::string_view::npos)
            return true;
    return false;
}

// More than kMostAlike candidates do not help; a word below kLeastLetters begins too many names.
constexpr std::size_t kMostAlike = 4, kLeastLetters = 3;

std::vector<std::string> alike(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t kTooMany = std::numeric_limits<std::size_t>::max();
    const std::string lower = lower_case(word);
    const auto slips = [&](const std::string& candidate) {
        const std::size_t distance = edit_distance(lower, lower_case(candidate));
        return distance <= most_slips(std::min(word.size(), candidate.size())) ? distance
                                                                               : kTooMany;
    };
    const auto near = std::ranges::min_element(candidates, {}, slips);
    if (near != candidates.end() && slips(*near) != kTooMany) return {*near};
    std::vector<std::string> found;
    if (word.size() < kLeastLetters) return found;
    for (const auto& candidate : candidates)
        if (begins_a_part(lower, lower_case(candidate))) found.push_back(candidate);
    return found.size() > kMostAlike ? std::vector<std::string>() : found;
}

std::string quoted(const std::string& argument) {
    const auto is_plain = [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("-_./=:,+%@").find(char(c)) != std::string_view::npos;
    };
    if (!argument.empty() && std::ranges::all_of(argument, is_plain)) return argument;
    std::string text = "'";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

bool steers(char32_t code) {
    const auto within = [code](char32_t low, char32_t high) { return code >= low && code <= high; };
    return code < 0x20 || within(0x7F, 0x9F) || within(0x200E, 0x200F) || within(0x2028, 0x202E) ||
           within(0x2066, 0x2069);
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view before) {
    std::vector<std::string> names;
    for (const auto& one : alike(word, candidates))
        names.push_back(fmt::format("{}{}", before, printable(one, 60)));
    if (names.empty()) return "";
    const std::string last = names.back();
    names.pop_back();
    return fmt::format("did you mean {}{}{}?", join(names, ", "), names.empty() ? "" : " or ",
                       last);
}

std::string or_did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const std::string question = did_you_mean(word, candidates);
    return question.empty() ? "" : fmt::format(" ({})", question);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    boost::algorithm::split(parts, text, [separator](char c) { return c == separator; });
    return parts;
}

std::string trim(std::string_view text) {
    return boost::algorithm::trim_copy(std::string(text));
}

std::string printable(std::string_view text, std::size_t most) {
    std::string shown;
    for (const char c : text.substr(0, most)) shown += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > most ? shown + "..." : shown;
}

std::string shell_quote(const std::vector<std::string>& arguments) {
    std::vector<std::string> all;
    for (const auto& argument : arguments) all.push_back(quoted(argument));
    return join(all, " ");
}

std::string shell_path(const std::string& path) {
    return shell_quote({path.starts_with('-') ? "./" + path : path});
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

std::optional<std::set<std::size_t>> numbers_in(const std::string& text) {
    constexpr std::size_t kMost = 65535;
    std::set<std::size_t> numbers;
    for (const auto& part : split(text, ',')) {
        const auto ends = split(part, '-');
        const auto first = number_in<std::size_t>(ends.front());
        const auto last = number_in<std::size_t>(ends.back());
        if (!first || !last || *last < *first || *last > kMost || ends.size() > 2)
            return std::nullopt;
        for (std::size_t number = *first; number <= *last; ++number) numbers.insert(number);
    }
    return numbers;
}

std::string few_ranges(const std::vector<int>& numbers, std::size_t most) {
    auto ranges = split(compact_ranges(numbers), ',');
    if (ranges.size() <= most) return join(ranges, ",");
    ranges.resize(most);
    return fmt::format("{},... ({} in all)", join(ranges, ","), numbers.size());
}

std::string human_bytes(double bytes) {
    if (std::isnan(bytes)) return "n/a";
    static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string human_duration(double seconds) {
    if (seconds < 60) return fmt::format("{:.0f} s", seconds);
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 3600) return fmt::format("{} min {:02d} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02d} min", whole / 3600, whole % 3600 / 60);
}

std::uint64_t fingerprint(std::string_view text) {
    std::uint64_t hash = 14695981039346656037U;
    for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    return hash;
}

std::string utc_compact(std::int64_t unix_seconds) {
    return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

std::string utc_iso(std::int64_t unix_seconds) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

std::string one_line(std::string_view text, std::string_view kept) {
    namespace utf = boost::locale::utf;
    std::string line;
    for (auto at = text.begin(); at != text.end();) {
        auto next = at;
        const auto code = utf::utf_traits<char>::decode(next, text.end());
        const bool good = utf::is_valid_codepoint(code);
        if (!good) next = at + 1;
        const bool blank = good && steers(code) && kept.find(*at) == std::string_view::npos;
        line += blank ? " " : good ? std::string_view(at, next) : "\xEF\xBF\xBD";
        at = next;
    }
    return line;
}

}  // namespace ranklab::base
