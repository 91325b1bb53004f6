// Sizes as users write them.

#include <charconv>
#include <limits>
#include <utility>

#include "options/field.hpp"

namespace ranklab::options {
namespace {

constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
    {"", 1},
    {"K", 1ULL << 10U},
    {"k", 1ULL << 10U},
    {"m", 1ULL << 20U},
    {"g", 1ULL << 30U},
    {"t", 1ULL << 40U},
    {"KB", 1ULL << 10U},
    {"M", 1ULL << 20U},
    {"G", 1ULL << 30U},
    {"T", 1ULL << 40U},
    {"KiB", 1ULL << 10U},
    {"MiB", 1ULL << 20U},
    {"GiB", 1ULL << 30U},
    {"TiB", 1ULL << 40U},
    {"kB", 1000ULL},
    {"MB", 1000ULL * 1000},
    {"GB", 1000ULL * 1000 * 1000},
    {"TB", 1000ULL * 1000 * 1000 * 1000},
};

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [unit, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc()) return std::nullopt;
    for (const auto& [name, factor] : kUnits) {
        if (name != std::string_view(unit, static_cast<std::size_t>(end - unit))) continue;
        if (number > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
        return number * factor;
    }
    return std::nullopt;
}

std::string bytes_text(std::uint64_t bytes) {
    std::string unit;
    for (const char* larger : {"K", "M", "G", "T"}) {
        if (bytes == 0 || bytes % 1024 != 0) break;
        bytes /= 1024;
        unit = larger;
    }
    return std::to_string(bytes) + unit;
}

}  // namespace ranklab::options
