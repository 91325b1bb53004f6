// What stands out in the runs of a vet.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "campaign/vet.hpp"

namespace ranklab::campaign {
namespace {

using stats::FleetTest;
using stats::median_of_known;
using stats::RowCosts;

using Names = std::vector<std::string>;
using Links = std::map<std::pair<std::size_t, std::size_t>, RowCosts>;  // by their ends

VetFindings slow_of(const std::vector<Names>& rows, const std::vector<RowCosts>& costs,
                    const std::string& measure, const FleetTest& test) {
    VetFindings found;
    const auto fleet = stats::fleet_of(costs, test);
    for (std::size_t row = 0; row < rows.size(); ++row)
        if (const auto& one = fleet.rows[row]; one.slow)
            found.push_back({rows[row], measure, false, one.effect, one.seen, one.rounds});
    return found;
}

Links links_of(const VetSeries& series) {
    Links links;
    for (const auto& [round, a, b] : series.pairs) {
        auto& costs = links[{a, b}];
        costs.resize(series.costs[a].size(), stats::kNone);
        costs[round] = series.costs[a][round];
    }
    return links;
}

// A node is slow if more than half of its links are slow; otherwise only these links are.
bool is_slow_with_most(std::size_t row, const Links& links, double least) {
    std::vector<double> all, own;
    for (const auto& [ends, costs] : links) {
        all.push_back(median_of_known(costs));
        if (ends.first == row || ends.second == row) own.push_back(all.back());
    }
    const double slow = (1 + least / 2) * stats::quantile(all, 0.5);
    return 2 * std::ranges::count_if(own, [&](double cost) { return cost >= slow; }) >
           std::ssize(own);
}

}  // namespace

VetFindings slower_rows(const VetSeries& series, const FleetTest& test,
                        std::set<std::string> suspects) {
    const auto& names = series.names;
    std::vector<Names> rows, ends_of_links;
    for (const auto& name : names) rows.push_back({name});
    if (series.pairs.empty()) return slow_of(rows, series.costs, series.measure, test);
    const Links links = links_of(series);
    if (links.size() < 2) return {};  // no pair to compare the pair with
    auto costs = series.costs;
    for (const auto& [round, a, b] : series.pairs)
        if (suspects.contains(names[a]) && suspects.contains(names[b]))
            costs[a][round] = costs[b][round] = stats::kNone;
    auto found = slow_of(rows, costs, series.measure, test);
    std::erase_if(found, [&](const VetFinding& one) {
        const auto row = std::ranges::find(names, one.names.front()) - names.begin();
        return !is_slow_with_most(static_cast<std::size_t>(row), links, test.min_effect);
    });
    for (const auto& one : found) suspects.insert(one.names.front());
    costs.clear();
    for (const auto& [ends, of_link] : links) {
        if (suspects.contains(names[ends.first]) || suspects.contains(names[ends.second])) continue;
        ends_of_links.push_back({names[ends.first], names[ends.second]});
        costs.push_back(of_link);
    }
    std::ranges::move(slow_of(ends_of_links, costs, series.measure, test),
                      std::back_inserter(found));
    return found;
}

VetFindings confirmed(const VetFindings& first, VetFindings second) {
    std::erase_if(second, [&](VetFinding& one) {
        const auto before = std::ranges::find_if(first, [&](const VetFinding& other) {
            return other.names == one.names && other.measure == one.measure;
        });
        if (before == first.end()) return true;
        one.seen += before->seen;
        one.rounds += before->rounds;
        return false;
    });
    return second;
}

VetFindings slower_than_past(const VetSeries& now, const std::vector<VetSeries>& before,
                             FleetTest test) {
    std::vector<std::pair<std::string, double>> members;  // the rows that have costs
    for (std::size_t row = 0; row < now.costs.size(); ++row)
        if (const double cost = median_of_known(now.costs[row]); !std::isnan(cost))
            members.emplace_back(now.names[row], cost);
    test.alpha /= base::real(members.size());
    VetFindings found;
    for (const auto& [name, cost] : members) {
        std::vector<double> past;
        for (const auto& one : before) {
            const auto row = std::ranges::find(one.names, name) - one.names.begin();
            if (one.work == now.work && one.measure == now.measure && row < std::ssize(one.names))
                past.push_back(median_of_known(one.costs[static_cast<std::size_t>(row)]));
        }
        const double effect = stats::slower_than_before(cost, past, test);
        if (std::isnan(effect)) continue;
        found.push_back({{name}, now.measure, true, effect, past.size(), past.size()});
        if (now.pairs.empty() || members.size() != 2) continue;
        found.back().names.push_back(members.back().first);
        break;
    }
    return found;
}

std::string VetFinding::kind() const {
    return fmt::format("{}{}", names.size() == 2 ? "link" : "node", past ? "_before" : "");
}

std::string sentence(const VetFinding& one) {
    const auto slower = fmt::format("{}: {} takes {:.0f} % longer than",
                                    base::join(one.names, " - "), one.measure, 100 * one.effect);
    return one.past ? fmt::format("{} in its last {} vets", slower, one.seen)
                    : fmt::format("{} elsewhere, in {} of {} rounds", slower, one.seen, one.rounds);
}

}  // namespace ranklab::campaign
