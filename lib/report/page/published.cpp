// The user's scaling among published curves of its kind.
#include <algorithm>
#include <cmath>

#include "report/page/parts.hpp"

namespace ranklab::report::page {
namespace {

constexpr double kSame = 0.01;      // factors are equal if their logarithms differ by less
constexpr std::size_t kFewest = 5;  // with fewer curves nothing is called usual

// The efficiencies at that factor, of curves with communication that reach several nodes.
std::vector<double> published_at(const std::vector<model::PublishedCurve>& published, bool weak,
                                 bool beyond, double factor) {
    std::vector<double> found;
    for (const auto& curve : published) {
        if (curve.weak != weak || curve.first_beyond_one_node == 0 ||
            curve.caution == "contradicts" || curve.caution == "no-communication")
            continue;
        for (std::size_t i = 1; i < curve.x.size(); ++i)
            if (curve.beyond_one_node(i) == beyond &&
                std::abs(std::log(curve.x[i] / curve.x[0] / factor)) < kSame)
                found.push_back(curve.efficiency(i));
    }
    return found;
}

}  // namespace

Frame placed_among(const std::vector<model::PublishedCurve>& published,
                   const std::vector<figures::Section>& scaling) {
    Frame frame;
    for (const char* name : {"series", "kind", "ranks"})
        frame.columns.push_back({.name = name, .role = Role::key});
    for (const char* name : {"nodes", "published_curves"}) frame.columns.push_back({.name = name});
    frame.columns.push_back({.name = "efficiency", .unit = "1", .interval = true});
    for (const char* name : {"published_p10", "published_median", "published_p90"})
        frame.columns.push_back({.name = name, .unit = "1"});
    frame.columns.push_back({.name = "place"});
    frame.notes = {"published: at the same multiple of their base, on one node or several as here",
                   "usual: between their 10 % and 90 % quantiles; fewer than 5 curves have none"};
    for (const auto& section : scaling) {
        const bool weak = section.id == "weak-scaling";
        const Frame& table = section.tables.front();
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            const Cell& own = table.at(row, "efficiency");
            const Cell& nodes = table.at(row, "nodes");
            const double factor = table.at(row, "speedup").number / own.number;
            if (table.rows[row].has(CaveatKind::oversubscribed) || !(factor > 1 + kSame)) continue;
            const auto others = published_at(published, weak, nodes.number > 1, factor);
            const auto at = [&](double q) {
                return others.size() < kFewest ? stats::kNone : stats::quantile(others, q);
            };
            const char* const place = others.size() < kFewest ? "too few published"
                                      : own.number < at(0.1)  ? "below most"
                                      : own.number > at(0.9)  ? "above most"
                                                              : "usual";
            frame.rows.push_back(
                {{table.at(row, "series"), weak ? "weak" : "strong", table.at(row, "ranks"), nodes,
                  others.size(), own, at(0.1), at(0.5), at(0.9), place},
                 {}});
        }
    }
    return frame;
}

}  // namespace ranklab::report::page
