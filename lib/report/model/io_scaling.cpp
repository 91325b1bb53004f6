#include "report/model/io_scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "report/model/io_runs.hpp"
#include "report/model/surroundings.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;

// Options that change what a rung does: runs that differ in them are not points of one series.
// clang-format off
constexpr std::array kVariants{"layout", "async", "dynamic", "chunk-files", "fsync", "rename", "chunk", "fill",
                               "alignment", "hints", "allocation", "latest-format", "collective-metadata"};
// clang-format on
constexpr std::array kRankZeroAlone{"text-loop", "text-vectorized", "binary", "hdf5-serial"};

// Options of kVariants that are not the same in all runs.
std::vector<std::string> varying_options(const std::vector<const Run*>& runs) {
    std::vector<std::string> varying;
    for (const char* key : kVariants) {
        std::set<std::string> values;
        for (const Run* run : runs) values.insert(run->setting(key));
        if (values.size() > 1) varying.emplace_back(key);
    }
    return varying;
}

std::string variant_of(const Run& run, const std::vector<std::string>& varying) {
    std::string text;
    for (const auto& key : varying) {
        const std::string value = run.setting(key);
        if (!value.empty()) text += fmt::format("{}--{} {}", text.empty() ? "" : " ", key, value);
    }
    return text;
}

// What may differ along a series, since more ranks need it, does not count; where all ran on one node, hosts
// do.
class Surroundings {
  public:
    explicit Surroundings(const std::vector<const Run*>& runs) {
        for (const Run* run : runs) one_node_ = one_node_ && node_count(*run) <= 1;
        MetConditions met;
        for (const Run* run : runs) met.add(of(*run));
        differing_ = met.differing();
    }
    Conditions of(const Run& run) const {
        Conditions all = surroundings_of(run);
        std::erase_if(all, [&](const auto& one) {
            return follows_from_ranks(one.first) && !(one.first == "hosts" && one_node_);
        });
        return all;
    }
    // Of what is not the same in all runs.
    std::string text(const Run& run) const {
        std::vector<std::string> parts;
        const Conditions own = of(run);
        for (const auto& key : differing_)
            if (const auto found = own.find(key); found != own.end())
                parts.push_back(key + " " + found->second);
        return base::join(parts, ", ");
    }

  private:
    bool one_node_ = true;
    std::vector<std::string> differing_;
};

using SeriesKey = std::tuple<bool, std::string, std::string, std::string, std::string, std::string>;
using ByWidth = std::map<std::int64_t, const Group*>;

// Every group at its width in the series that it may belong to; newer ones replace older ones.
std::map<SeriesKey, ByWidth> grouped(const std::vector<const Group*>& groups) {
    std::vector<const Run*> runs;
    for (const Group* group : groups) runs.push_back(&group->newest);
    const auto varying = varying_options(runs);
    const Surroundings surroundings(runs);
    std::map<SeriesKey, ByWidth> series;
    for (const Group* group : groups) {
        const Run& run = group->newest;
        const bool processes = workers_of(run) > 0;
        const SeriesKey key{processes,           run.setting("strategy"),  run.setting("files"),
                            run.setting("size"), variant_of(run, varying), surroundings.text(run)};
        const Group*& place = series[key][processes ? workers_of(run) : ranks_of(run)];
        if (place == nullptr || place->last_utc <= group->last_utc) place = group;
    }
    return series;
}

}  // namespace

std::vector<ScalingSeries> scaling_series(const std::vector<const Group*>& groups) {
    std::vector<const Group*> used;
    for (const Group* group : groups) {
        const auto rung = group->newest.setting("strategy");
        const bool alone =
            std::find(kRankZeroAlone.begin(), kRankZeroAlone.end(), rung) != kRankZeroAlone.end();
        if (group->valid() && is_rung(group->newest) && !alone) used.push_back(group);
    }
    std::vector<ScalingSeries> series;
    for (const auto& [key, points] : grouped(used)) {
        const auto& [by_workers, rung, files, size, variant, surroundings] = key;
        if (points.size() < 2) continue;
        series.push_back({rung, files, size, variant, surroundings, by_workers, {}});
        for (const auto& [width, group] : points)
            series.back().points.push_back({static_cast<double>(width), group});
    }
    return series;
}

}  // namespace ranklab::report::model
