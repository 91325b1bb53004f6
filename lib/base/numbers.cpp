#include "base/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/text.hpp"

namespace ranklab::base {

std::optional<NumberRanges> ranges_in(const std::string& text) {
    NumberRanges ranges;
    for (const auto& part : split(text, ',')) {
        const auto ends = split(part, '-');
        const auto first = number_in<std::size_t>(ends.front());
        const auto last = number_in<std::size_t>(ends.back());
        if (!first || !last || *last < *first || ends.size() > 2) return std::nullopt;
        ranges.emplace_back(*first, *last);
    }
    return ranges;
}

std::string few_ranges(const std::vector<int>& numbers, std::size_t most) {
    auto ranges = split(compact_ranges(numbers), ',');
    if (ranges.size() <= most) return join(ranges, ",");
    ranges.resize(most);
    return fmt::format("{},... ({} in all)", join(ranges, ","), numbers.size());
}

std::size_t count_of(NumberRanges ranges) {
    std::ranges::sort(ranges);
    std::size_t count = 0, next = 0;
    for (const auto& [first, last] : ranges) {
        const std::size_t from = std::max(first, next);
        if (last >= from) count += last - from + 1;
        next = std::max(next, last + 1);
    }
    return count;
}

// Sweeps over all ranges by first number. A range that begins before an earlier one ends overlaps
// the one that reaches farthest: their sets join (union-find).
std::vector<std::vector<std::size_t>> connected(const std::vector<NumberRanges>& sets) {
    // Tuples of first number, last number and the set's index.
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> all;
    for (std::size_t i = 0; i < sets.size(); ++i)
        for (const auto& [first, last] : sets[i]) all.emplace_back(first, last, i);
    std::ranges::sort(all);
    std::vector<std::size_t> leader(sets.size());
    std::iota(leader.begin(), leader.end(), 0U);
    const auto leader_of = [&](std::size_t i) {
        while (leader[i] != i) i = leader[i] = leader[leader[i]];
        return i;
    };
    std::size_t farthest = 0, of = sets.size();
    for (const auto& [first, last, i] : all) {
        if (of < sets.size() && first <= farthest) leader[leader_of(i)] = leader_of(of);
        if (of == sets.size() || last >= farthest) std::tie(farthest, of) = std::pair(last, i);
    }
    std::map<std::size_t, std::vector<std::size_t>> found;
    for (std::size_t i = 0; i < sets.size(); ++i) found[leader_of(i)].push_back(i);
    std::vector<std::vector<std::size_t>> together;
    for (auto& [first, places] : found) together.push_back(std::move(places));
    return together;
}

}  // namespace ranklab::base
