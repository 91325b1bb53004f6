// Sets of numbers as they are written: "0-3,8". CPUs and cores are such.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ranklab::base {

using NumberRanges = std::vector<std::pair<std::size_t, std::size_t>>;  ///< first and last of each

/// "0-3,8"; nothing where it is none.
std::optional<NumberRanges> ranges_in(const std::string& text);
/// "0-3,8" of ascending numbers; of more than `most` ranges the first ones and how many numbers there are:
/// "0,8,16,... (128 in all)". For a sentence; what is stored has them all (compact_ranges).
std::string few_ranges(const std::vector<int>& numbers, std::size_t most = 6);
/// Each number once, whatever overlaps.
std::size_t count_of(NumberRanges ranges);
/// The sets, by their places, that share a number, directly or through others: each place once.
std::vector<std::vector<std::size_t>> connected(const std::vector<NumberRanges>& sets);

}  // namespace ranklab::base
