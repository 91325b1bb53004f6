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
/// Each number once, whatever overlaps.
std::size_t count_of(NumberRanges ranges);
/// The sets, by their places, that share a number, directly or through others: each place once.
std::vector<std::vector<std::size_t>> connected(const std::vector<NumberRanges>& sets);

}  // namespace ranklab::base
