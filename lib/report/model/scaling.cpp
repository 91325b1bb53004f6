#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/text.hpp"
#include "report/model/series.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

// Of one rank with the code for several against the single-device code: the work is the same in any sense.
constexpr const char* kNoScaling = "same ranks";
// Above this many repetitions of one run the resampling would take longer than the report.
constexpr std::size_t kMostRepetitions = 20000;

// The first time that both have.
std::string common_time(const KeyedGroup& a, const KeyedGroup& b) {
    for (const auto& name : scaling_times())
        if (a.find(name) != nullptr && b.find(name) != nullptr) return name;
    return "";
}

bool same(const KeyedGroup& a, const KeyedGroup& b, const std::string& key) {
    const std::string value = a.factors.common(key);
    return !value.empty() && value == b.factors.common(key);
}

bool both_have(const KeyedGroup& a, const KeyedGroup& b, const std::string& key) {
    return !a.factors.common(key).empty() && !b.factors.common(key).empty();
}

std::optional<stats::Scaling> scaling_between(const KeyedGroup& base, const KeyedGroup& group) {
    if (same(base, group, "files") && same(base, group, "size")) return stats::Scaling::strong;
    if (!both_have(base, group, "batch-size") || !both_have(base, group, "global-batch-size")) return {};
    const bool local = same(base, group, "batch-size");
    const bool global = same(base, group, "global-batch-size");
    if (local == global) return {};
    return local ? stats::Scaling::weak : stats::Scaling::strong;
}

class AgainstBase {
  public:
    AgainstBase(const results::ResultFile& file, std::size_t ranks_key)
        : ratios_([&file](const std::string& id) { return file.read(id); }), ranks_key_(ranks_key) {}

    double ranks(const KeyedGroup& group) const {
        return std::strtod(group.key[ranks_key_].c_str(), nullptr);
    }

    ScalingRow row(const KeyedGroup& base, const KeyedGroup& group) {
        ScalingRow row;
        const std::string time = common_time(base, group);
        if (time.empty()) return row;
        const TimesOfBoth both = ratios_.of(time, base, group);
        row.within_runs = both.within_runs;
        row.speedup = both.speedup();
        const auto scaling = scaling_between(base, group);
        if (ranks(group) == ranks(base)) row.scaling = kNoScaling, row.efficiency = row.speedup;
        if (!scaling || !row.scaling.empty()) return row;
        row.scaling = *scaling == stats::Scaling::strong ? "strong" : "weak";
        row.efficiency = both.efficiency(ranks(group) / ranks(base), *scaling);
        return row;
    }

  private:
    Ratios ratios_;
    std::size_t ranks_key_;
};

bool is_single_device(const KeyedGroup& group) {
    return group.factors.common("mode") == "single";
}

std::string code_of(const KeyedGroup& base) {
    if (is_single_device(base)) return ", single-device code";
    return base.factors.differs("mode")
               ? ", single-device code and others in one: the key mode tells them apart"
               : "";
}

std::string base_line(const KeyedGroup& base, const std::vector<std::string>& keys) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < keys.size(); ++i)
        parts.push_back(fmt::format("{} = {}", keys[i], base.key[i]));
    for (const auto& name : scaling_times()) {
        const GroupValues* time = base.find(name);
        if (time == nullptr) continue;
        const stats::Summary s = stats::summarise(time->medians);
        return fmt::format("base: {}, {} {} s, {} run(s){}", base::join(parts, ", "), name, number(s.median),
                           s.n, code_of(base));
    }
    return "";
}

// A group's base is the single-device run of equal other keys; where there is none, the fewest ranks.
class Bases {
  public:
    Bases(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys, std::size_t place,
          const AgainstBase& against)
        : keys_(keys), place_(place) {
        const auto hosts = std::ranges::find(keys, "hosts") - keys.begin();
        one_host_ = std::ranges::none_of(groups, [&](const KeyedGroup& group) {
            return static_cast<std::size_t>(hosts) < keys.size() &&
                   group.key[static_cast<std::size_t>(hosts)].find(' ') != std::string::npos;
        });
        for (const auto& group : groups) {
            if (common_time(group, group).empty() || !(against.ranks(group) > 0)) continue;
            const SeriesKey key = key_of(group);
            const KeyedGroup*& base = fewest_[key];
            if (base == nullptr || against.ranks(group) < against.ranks(*base)) base = &group;
            if (!is_single_device(group)) continue;
            const KeyedGroup*& single = single_[key.work];
            if (single == nullptr || group.runs.size() > single->runs.size()) single = &group;
        }
    }

    const KeyedGroup* of(const KeyedGroup& group) const {
        const SeriesKey key = key_of(group);
        const auto single = single_.find(key.work);
        if (single != single_.end()) return single->second;
        const auto fewest = fewest_.find(key);
        return fewest == fewest_.end() ? nullptr : fewest->second;
    }

  private:
    // The other keys. Hosts count where each group ran on one: on several, more ranks need other ones.
    SeriesKey key_of(const KeyedGroup& group) const {
        SeriesKey key;
        for (std::size_t i = 0; i < keys_.size(); ++i)
            if (i != place_ && (keys_[i] != "hosts" || one_host_)) key.add(keys_[i], group.key[i]);
        return key;
    }

    const std::vector<std::string>& keys_;
    std::size_t place_;
    bool one_host_ = true;
    std::map<std::string, const KeyedGroup*> single_;
    std::map<SeriesKey, const KeyedGroup*> fewest_;
};

void add_notes(GroupScaling& scaling) {
    const auto any = [&](const auto& is) { return std::ranges::any_of(scaling.rows, is); };
    if (any([](const ScalingRow& row) { return row.scaling == "strong"; }))
        scaling.notes.emplace_back(
            "strong scaling (the same work for all ranks together): efficiency = speedup / (ranks / base "
            "ranks)");
    if (any([](const ScalingRow& row) { return row.scaling == "weak"; }))
        scaling.notes.emplace_back(
            "weak scaling (the same batch-size for each rank): efficiency = T(base) / T; the speedup of a "
            "step is of larger global batches");
    if (any([](const ScalingRow& row) {
            return row.scaling.empty() && !row.is_base && !std::isnan(row.speedup.ratio);
        }))
        scaling.notes.emplace_back(
            "no efficiency where the settings do not say that just one of batch-size and global-batch-size "
            "is the base's");
}

}  // namespace

std::string TimesOfBoth::interval_over(const stats::Interval& interval,
                                       const std::string& repetitions) const {
    const std::string what = within_runs ? repetitions : "runs";
    if (!std::isnan(interval.low)) return "interval by bootstrap over " + what;
    const bool few = std::min(base.size(), times.size()) < kRunsForInterval;
    return few ? fmt::format("no interval: a side has fewer than {} {}", kRunsForInterval, what)
               : "no interval";
}

TimesOfBoth Ratios::of(std::string_view measurement, const RunGroup& base, const RunGroup& group) {
    const auto& reference = base.find(measurement)->medians;
    const auto& times = group.find(measurement)->medians;
    if (reference.size() != 1 || times.size() != 1) return {reference, times, false};
    return {repetitions(measurement, base), repetitions(measurement, group), true};
}

// The median alone where the run stored no samples, or too many.
const std::vector<double>& Ratios::repetitions(std::string_view measurement, const RunGroup& of_one) {
    const auto [place, fresh] = read_.try_emplace({of_one.runs.back(), std::string(measurement)});
    if (!fresh) return place->second;
    const results::Run run = load_(of_one.runs.back());
    const results::Measurement* m = run.find(measurement);
    if (m != nullptr && m->columns > 0 && m->rows() <= kMostRepetitions) place->second = m->largest_of_rows();
    if (place->second.empty()) place->second = of_one.find(measurement)->medians;
    return place->second;
}

GroupScaling scaling_of(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys,
                        const results::ResultFile& file) {
    GroupScaling scaling;
    const auto found = std::ranges::find(keys, "ranks");
    if (found == keys.end()) return scaling;
    const auto place = static_cast<std::size_t>(found - keys.begin());
    AgainstBase against(file, place);
    const Bases bases(groups, keys, place, against);
    std::vector<const KeyedGroup*> used;
    for (const auto& group : groups) {
        const KeyedGroup* base = bases.of(group);
        if (base == nullptr || group.values.empty()) {
            scaling.rows.emplace_back();
            continue;
        }
        if (std::ranges::find(used, base) == used.end()) used.push_back(base);
        scaling.rows.push_back(base == &group ? ScalingRow{true, {1, {}}, {1, {}}, "", false}
                                              : against.row(*base, group));
    }
    for (const KeyedGroup* base : used) scaling.bases.push_back(base_line(*base, keys));
    add_notes(scaling);
    return scaling;
}

}  // namespace ranklab::report::model
