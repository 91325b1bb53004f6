#include "base/numbers.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace ranklab::base {

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

}  // namespace ranklab::base
