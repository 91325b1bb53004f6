#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>

#include "base/cast.hpp"
#include "stats/order.hpp"
#include "stats/passes.hpp"
#include "stats/series.hpp"

namespace ranklab::stats {
namespace {

// Doubles as whole numbers in the same order, so that a value is found digit by digit: four passes over 16
// bits each (radix selection) need memory for 65,536 counts a rank, whatever n.
constexpr int kDigit = 16;
constexpr std::size_t kBins = std::size_t{1} << kDigit;

std::uint64_t key_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);  // -0 and 0 are equal
    return bits >> 63 != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

double value_of(std::uint64_t key) {
    return std::bit_cast<double>(key >> 63 != 0 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

// What is known of one rank's value: the leading digits, and its rank among the values that share them.
struct Search {
    std::uint64_t prefix = 0;
    std::size_t rank = 0;
};

void find_digit(const Source& source, std::vector<Search>& searches, int known) {
    const int rest = 64 - known;
    const auto prefix_of = [&](std::uint64_t key) { return known == 0 ? 0 : key >> rest; };
    std::map<std::uint64_t, std::vector<std::size_t>> counts;
    for (const Search& search : searches) counts[search.prefix].resize(kBins);
    for_each(source, [&](double value) {
        const std::uint64_t key = key_of(value);
        const auto found = counts.find(prefix_of(key));
        if (found != counts.end()) ++found->second[(key >> (rest - kDigit)) & (kBins - 1)];
    });
    for (Search& search : searches) {
        const auto& bins = counts[search.prefix];
        std::uint64_t digit = 0;
        while (digit + 1 < kBins && search.rank > bins[digit]) search.rank -= bins[digit++];
        search.prefix = (search.prefix << kDigit) | digit;
    }
}

}  // namespace

Overview overview(const Source& source) {
    Overview seen;
    for_each(source, [&](double value) {
        ++seen.n;
        seen.sum += value;
        seen.has_nan = seen.has_nan || std::isnan(value);
    });
    return seen;
}

std::vector<double> order_statistics(const Source& source, std::span<const std::size_t> ranks) {
    if (overview(source).has_nan) return std::vector<double>(ranks.size(), kNone);
    std::vector<Search> searches;
    for (const std::size_t rank : ranks) searches.push_back({0, rank});
    for (int known = 0; known < 64; known += kDigit) find_digit(source, searches, known);
    std::vector<double> values;
    for (const Search& search : searches) values.push_back(value_of(search.prefix));
    return values;
}

Summary summarise(const Source& source) {
    Summary summary;
    const Overview seen = overview(source);
    summary.n = seen.n;
    if (seen.n == 0 || seen.has_nan) return summary;
    ask(source, [&](auto x) { fill_order_statistics(summary, seen.n, x); });
    summary.mean = static_cast<double>(seen.sum / static_cast<long double>(seen.n));
    return summary;
}

}  // namespace ranklab::stats
