// The pairs of comm --op pairs.
#include <algorithm>
#include <numeric>
#include <random>

#include "experiments/collectives/sweep.hpp"

namespace ranklab::experiments {

std::vector<int> pair_members(const std::vector<std::string>& hosts) {
    std::vector<int> first_of_hosts, all(hosts.size());
    for (auto host = hosts.begin(); host != hosts.end(); ++host)
        if (std::find(hosts.begin(), host, *host) == host)
            first_of_hosts.push_back(static_cast<int>(host - hosts.begin()));
    std::iota(all.begin(), all.end(), 0);
    return first_of_hosts.size() > 1 ? first_of_hosts : all;
}

std::vector<int> partners_of_round(std::vector<int> members, std::size_t ranks, std::uint64_t round,
                                   std::uint64_t seed) {
    std::mt19937_64 random(seed * 1'000'003 + round);
    for (std::size_t i = members.size(); i > 1; --i)
        std::swap(members[i - 1], members[random() % i]);
    std::vector<int> partners(ranks);
    std::iota(partners.begin(), partners.end(), 0);
    for (std::size_t i = 1; i < members.size(); i += 2)
        std::swap(partners[static_cast<std::size_t>(members[i])],
                  partners[static_cast<std::size_t>(members[i - 1])]);
    return partners;
}

}  // namespace ranklab::experiments
