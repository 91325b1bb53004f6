#include "report/model/baselines.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

constexpr const char *kOfRank = "batch-size", *kOfAll = "global-batch-size";

bool same(const Group& a, const Group& b, const std::string& key) {
    const std::string value = a.factor(key);
    return !value.empty() && value == b.factor(key);
}

bool is_batch(const std::string& key) {
    return key == kOfRank || key == kOfAll;
}

}  // namespace

bool is_work(const std::string& key) {
    return vocabulary::find_setting(key) != nullptr &&
           vocabulary::matters_to(vocabulary::Asker::group, key) &&
           !vocabulary::setting_row(key).between_ranks;
}

Baselines::Baselines(const Groups& groups, const std::string& over)
    : groups_(groups),
      place_(static_cast<std::size_t>(std::ranges::find(groups.keys, over) - groups.keys.begin())),
      over_ranks_(over == "ranks") {
    const auto hosts =
        static_cast<std::size_t>(std::ranges::find(groups.keys, "hosts") - groups.keys.begin());
    one_host_ = std::ranges::none_of(groups.all, [&](const Group& group) {
        return hosts < groups.keys.size() && group.key[hosts].find(' ') != std::string::npos;
    });
    for (std::size_t i = 0; i < groups.all.size(); ++i) keys_.push_back(key_of(i));
}

double Baselines::width(std::size_t group) const {
    return base::number_in(groups_.all[group].key[place_]).value_or(0);
}

// The other keys, but for the batch, of which either half makes a kind of scaling. Hosts count where each
// group ran on one: on several, more ranks need other ones.
CurveKey Baselines::key_of(std::size_t group) const {
    CurveKey key;
    for (std::size_t i = 0; i < groups_.keys.size(); ++i) {
        const std::string& name = groups_.keys[i];
        const bool follows = over_ranks_ && (name == "nodes" || vocabulary::setting_row(name).follows_ranks);
        if (i == place_ || is_batch(name) || follows || (name == "hosts" && !one_host_)) continue;
        (is_between_ranks(name) ? key.between_ranks : key.work) +=
            name + "=" + groups_.all[group].key[i] + "\n";
    }
    return key;
}

// What may differ between a group and its baseline, or within one.
bool Baselines::is_free(const std::string& setting) const {
    return setting == groups_.keys[place_] || !is_work(setting) ||
           (over_ranks_ && vocabulary::setting_row(setting).follows_ranks);
}

bool Baselines::is_alone(const Group& group) const {
    return over_ranks_ && group.factor("mode") == "single";
}

// How many work together is within one group a mixture of several.
std::vector<std::string> Baselines::pooled_work(const Group& group) const {
    std::vector<std::string> names = group.differing;
    std::erase_if(names,
                  [&](const auto& name) { return is_free(name) && name != "ranks" && name != "replicas"; });
    return names;
}

std::vector<std::string> Baselines::differing_work(const Group& base, const Group& group) const {
    auto names = differing_factors(base, group,
                                   [&](const std::string& name) { return is_free(name) || is_batch(name); });
    if (!over_ranks_ && !same(base, group, "ranks")) names.emplace_back("ranks");
    return names;
}

std::optional<Baselines::Relation> Baselines::relation(const Group& base, const Group& group) const {
    if (!pooled_work(base).empty() || !pooled_work(group).empty() || !differing_work(base, group).empty())
        return std::nullopt;
    if (same(base, group, "files") && same(base, group, "size")) return Relation{Kind::strong};
    const auto all = base::number_in(group.factor(kOfAll)), base_all = base::number_in(base.factor(kOfAll));
    if (!all || !base_all || !(*base_all > 0) || base.factor(kOfRank).empty()) return std::nullopt;
    const bool of_rank = same(base, group, kOfRank), of_all = *all == *base_all;
    if (of_rank && of_all) return Relation{Kind::same};
    if (of_all && over_ranks_) return Relation{Kind::strong};
    if (of_rank && over_ranks_) return Relation{Kind::weak, *all / *base_all};
    return std::nullopt;
}

// The best baseline first: the single-device code, then the fewest.
std::vector<std::size_t> Baselines::candidates(std::size_t group) const {
    std::vector<std::size_t> found;
    const Group& it = groups_.all[group];
    const CurveKey& key = keys_[group];
    for (std::size_t i = 0; i < groups_.all.size(); ++i) {
        const Group& other = groups_.all[i];
        if (!(width(i) > 0) || common_time(groups_, other, it).empty()) continue;
        const bool alone = is_alone(other), same_work = keys_[i].work == key.work;
        const bool narrower = width(i) < width(group);
        const bool other_code = alone && !is_alone(it) && width(i) <= width(group);
        if (narrower ? keys_[i] == key || (alone && same_work) : other_code && same_work) found.push_back(i);
    }
    std::ranges::stable_sort(found, [&](std::size_t a, std::size_t b) {
        const Group &x = groups_.all[a], &y = groups_.all[b];
        if (is_alone(x) != is_alone(y)) return is_alone(x);
        if (width(a) != width(b)) return width(a) < width(b);
        return x.runs.size() > y.runs.size();
    });
    return found;
}

// Where the best baseline pools different work, another one would be a surprise.
Against Baselines::first_of(std::size_t group, Kind kind) const {
    for (const std::size_t base : candidates(group)) {
        if (!pooled_work(groups_.all[base]).empty()) break;
        const auto found = relation(groups_.all[base], groups_.all[group]);
        if (found && (found->kind == kind || found->kind == Kind::same)) return {base, found->work, {}};
    }
    return {};
}

std::vector<std::string> Baselines::other_work(std::size_t group) const {
    const auto all = candidates(group);
    if (all.empty() || strong(group).exists() || weak(group).exists()) return {};
    const Group &it = groups_.all[group], &base = groups_.all[all.front()];
    if (auto names = pooled_work(it); !names.empty()) return names;
    if (auto names = pooled_work(base); !names.empty()) return names;
    if (auto names = differing_work(base, it); !names.empty()) return names;
    return {kOfRank, kOfAll};
}

}  // namespace ranklab::report::model
