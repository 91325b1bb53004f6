// Sizes as users write them.

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "options/field.hpp"

namespace ranklab::options {
namespace {

constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {{"K k KB KiB", 1ULL << 10U},
                                                                 {"M m MiB", 1ULL << 20U},
                                                                 {"G g GiB", 1ULL << 30U},
                                                                 {"T t TiB", 1ULL << 40U},
                                                                 {"kB", 1000ULL},
                                                                 {"MB", 1'000'000ULL},
                                                                 {"GB", 1'000'000'000ULL},
                                                                 {"TB", 1'000'000'000'000ULL}};

}  // namespace

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    std::uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [begin, error] = std::from_chars(text.data(), end, number);
    const std::string unit(begin, end);
    std::uint64_t factor = unit.empty() ? 1 : 0;
    for (const auto& [names, of] : kUnits)
        if (std::ranges::count(base::split(names, ' '), unit) > 0) factor = of;
    if (error != std::errc() || factor == 0 ||
        number > std::numeric_limits<std::uint64_t>::max() / factor)
        return std::nullopt;
    return number * factor;
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
