#include "experiments/collectives/policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "stats/summary.hpp"

namespace ranklab::experiments {

std::string text_of(Between between) {
    constexpr std::array kTexts{
        "nothing between two calls, the loop timed as a whole and divided by its calls",
        "a barrier after each call, inside its time", "nothing between two calls, each of them timed",
        "a barrier between two calls, outside their times",
        "each call begun by all ranks at an agreed moment of a common clock, and timed from there"};
    return kTexts.at(static_cast<std::size_t>(between));
}

std::string text_of(OverRanks over_ranks) {
    constexpr std::array kTexts{"rank 0's time", "the mean of the ranks' times",
                                "the shortest of the ranks' times", "the longest of the ranks' times"};
    return kTexts.at(static_cast<std::size_t>(over_ranks));
}

double over_ranks(std::span<const double> of_ranks, OverRanks policy) {
    std::vector<double> there;
    std::ranges::copy_if(of_ranks, std::back_inserter(there), [](double s) { return !std::isnan(s); });
    if (there.empty()) return stats::kNone;
    switch (policy) {
        case OverRanks::rank_0:
            return there.front();
        case OverRanks::mean:
            return std::accumulate(there.begin(), there.end(), 0.0) / static_cast<double>(there.size());
        case OverRanks::shortest:
            return *std::ranges::min_element(there);
        case OverRanks::longest:
            break;
    }
    return *std::ranges::max_element(there);
}

}  // namespace ranklab::experiments
