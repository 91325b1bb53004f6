#include "report/model/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "report/model/ratio.hpp"
#include "report/model/surroundings.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

// Of one rank with the code for several against the single-device code: the work is the same in any sense.
constexpr const char* kNoScaling = "same ranks";

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
    return base.factors.differing().contains("mode")
               ? ", single-device code and others in one: --group-by ranks,mode tells them apart"
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

// The values of the other keys; without those that mean nothing to a single device, where it is the base.
class Likeness {
  public:
    // Hosts count where each group ran on one: on several, more ranks need other ones.
    Likeness(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys, std::size_t place)
        : keys_(keys), place_(place) {
        const auto found = std::find(keys.begin(), keys.end(), "hosts");
        const auto hosts = static_cast<std::size_t>(found - keys.begin());
        hosts_count_ =
            found != keys.end() && std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
                return group.key[hosts].find(' ') == std::string::npos;
            });
    }

    std::vector<std::string> of(const KeyedGroup& group, bool to_single_device) const {
        std::vector<std::string> values = group.key;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const bool meaningless =
                to_single_device && (vocabulary::is_between_ranks(keys_[i]) || is_environment(keys_[i]));
            const bool elsewhere = keys_[i] == "hosts" && !hosts_count_;
            if (i == place_ || meaningless || elsewhere) values[i] = "";
        }
        return values;
    }

  private:
    // Variables for the launcher and the network.
    static bool is_environment(const std::string& key) { return key.starts_with("environment."); }

    const std::vector<std::string>& keys_;
    std::size_t place_;
    bool hosts_count_ = true;
};

// A group's base is the single-device run of equal other keys; where there is none, the fewest ranks.
class Bases {
  public:
    Bases(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys, std::size_t place,
          const AgainstBase& against)
        : likeness_(groups, keys, place) {
        for (const auto& group : groups) {
            if (common_time(group, group).empty() || !(against.ranks(group) > 0)) continue;
            const KeyedGroup*& base = fewest_[likeness_.of(group, false)];
            if (base == nullptr || against.ranks(group) < against.ranks(*base)) base = &group;
            if (!is_single_device(group)) continue;
            const KeyedGroup*& single = single_[likeness_.of(group, true)];
            if (single == nullptr || group.runs.size() > single->runs.size()) single = &group;
        }
    }

    const KeyedGroup* of(const KeyedGroup& group) const {
        const auto single = single_.find(likeness_.of(group, true));
        if (single != single_.end()) return single->second;
        const auto fewest = fewest_.find(likeness_.of(group, false));
        return fewest == fewest_.end() ? nullptr : fewest->second;
    }

  private:
    Likeness likeness_;
    std::map<std::vector<std::string>, const KeyedGroup*> single_, fewest_;
};

void add_notes(GroupScaling& scaling) {
    std::set<std::string> claimed;
    bool unclaimed = false;
    for (const auto& row : scaling.rows) {
        if (!row.scaling.empty()) claimed.insert(row.scaling);
        if (row.scaling.empty() && !row.is_base && !std::isnan(row.speedup.ratio)) unclaimed = true;
    }
    if (claimed.count("strong") != 0)
        scaling.notes.emplace_back(
            "strong scaling (the same work for all ranks together): efficiency = speedup / (ranks / base "
            "ranks)");
    if (claimed.count("weak") != 0)
        scaling.notes.emplace_back(
            "weak scaling (the same batch-size for each rank): efficiency = T(base) / T; the speedup of a "
            "step "
            "is of larger global batches");
    if (unclaimed)
        scaling.notes.emplace_back(
            "no efficiency where the settings do not say that just one of batch-size and global-batch-size "
            "is the "
            "base's");
}

}  // namespace

GroupScaling scaling_of(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys,
                        const results::ResultFile& file) {
    GroupScaling scaling;
    const auto found = std::find(keys.begin(), keys.end(), "ranks");
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
        if (std::find(used.begin(), used.end(), base) == used.end()) used.push_back(base);
        scaling.rows.push_back(base == &group ? ScalingRow{true, {1, {}}, {1, {}}, "", false}
                                              : against.row(*base, group));
    }
    for (const KeyedGroup* base : used) scaling.bases.push_back(base_line(*base, keys));
    add_notes(scaling);
    return scaling;
}

}  // namespace ranklab::report::model
