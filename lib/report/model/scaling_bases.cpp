#include "report/model/scaling_bases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

constexpr const char* kOfRank = "batch-size";
constexpr const char* kOfAll = "global-batch-size";

bool same(const KeyedGroup& a, const KeyedGroup& b, const std::string& key) {
    const std::string value = a.factors.common(key);
    return !value.empty() && value == b.factors.common(key);
}

// How many work together: between two groups a way to do it, within one a mixture of several.
bool is_width(const std::string& key) {
    return key == "ranks" || key == "replicas";
}

bool is_batch(const std::string& key) {
    return key == kOfRank || key == kOfAll;
}

// Of settings alone; the surroundings are another matter.
bool is_work(const std::string& key) {
    return vocabulary::find_setting(key) != nullptr &&
           vocabulary::matters_to(vocabulary::Asker::group, key) && !vocabulary::is_between_ranks(key);
}

// Of what is not free: where two groups do other work, and of what one has several.
template <class IsFree>
std::vector<std::string> differing_in(const KeyedGroup& a, const KeyedGroup& b, IsFree is_free) {
    std::set<std::string> names(a.factors.keys().begin(), a.factors.keys().end());
    names.insert(b.factors.keys().begin(), b.factors.keys().end());
    std::erase_if(names, [&](const std::string& name) {
        return is_free(name) || a.factors.common(name) == b.factors.common(name);
    });
    return {names.begin(), names.end()};
}

template <class IsFree>
std::vector<std::string> differing_within(const KeyedGroup& group, IsFree is_free) {
    auto names = group.factors.differing();
    std::erase_if(names, is_free);
    return names;
}

}  // namespace

std::string common_time(const KeyedGroup& a, const KeyedGroup& b) {
    for (const auto& name : scaling_times())
        if (a.find(name) != nullptr && b.find(name) != nullptr) return name;
    return "";
}

bool is_single_device(const KeyedGroup& group) {
    return group.factors.common("mode") == "single";
}

bool did_the_same_work(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys) {
    const auto is_way = [](const std::string& key) { return key == "strategy" || !is_work(key); };
    if (!std::ranges::all_of(keys, is_way)) return false;
    const auto trains = [](const KeyedGroup& group) {
        return std::ranges::count(group.factors.keys(), kOfAll) > 0;
    };
    const bool of_all_counts = std::ranges::any_of(groups, trains);
    const auto is_free = [&](const std::string& name) {
        return is_way(name) || (of_all_counts && name == kOfRank);
    };
    return std::ranges::all_of(groups, [&](const KeyedGroup& group) {
        return differing_in(groups.front(), group, is_free).empty() &&
               differing_within(group, is_free).empty();
    });
}

Bases::Bases(const std::vector<KeyedGroup>& groups, const std::vector<std::string>& keys, std::size_t place)
    : groups_(groups), keys_(keys), place_(place), over_ranks_(keys[place] == "ranks") {
    const auto hosts = static_cast<std::size_t>(std::ranges::find(keys, "hosts") - keys.begin());
    one_host_ = std::ranges::none_of(groups, [&](const KeyedGroup& group) {
        return hosts < keys.size() && group.key[hosts].find(' ') != std::string::npos;
    });
    for (const auto& group : groups) pooled_.push_back(pooled_work(group));
    for (const auto& group : groups) {
        strong_.push_back(first_of(group, Kind::strong));
        weak_.push_back(first_of(group, Kind::weak));
    }
}

double Bases::width(const KeyedGroup& group) const {
    return base::number_in(group.key[place_]).value_or(0);
}

// The other keys, but for the batch, of which either half makes a kind of scaling. Hosts count where each
// group ran on one: on several, more ranks need other ones.
SeriesKey Bases::key_of(const KeyedGroup& group) const {
    SeriesKey key;
    for (std::size_t i = 0; i < keys_.size(); ++i)
        if (i != place_ && !is_batch(keys_[i]) && (keys_[i] != "hosts" || one_host_))
            key.add(keys_[i], group.key[i]);
    return key;
}

// What may differ between a group and its base, or within one.
bool Bases::is_free(const std::string& setting) const {
    return setting == keys_[place_] || !is_work(setting) ||
           (over_ranks_ && vocabulary::follows_ranks(setting));
}

std::vector<std::string> Bases::pooled_work(const KeyedGroup& group) const {
    return differing_within(group, [&](const std::string& name) { return is_free(name) && !is_width(name); });
}

std::vector<std::string> Bases::other_work(const KeyedGroup& base, const KeyedGroup& group) const {
    auto names =
        differing_in(base, group, [&](const std::string& name) { return is_free(name) || is_batch(name); });
    if (!over_ranks_ && !same(base, group, "ranks")) names.emplace_back("ranks");
    return names;
}

std::optional<Relation> Bases::relation(const KeyedGroup& base, const KeyedGroup& group) const {
    if (!pooled_[index(base)].empty() || !pooled_[index(group)].empty() || !other_work(base, group).empty())
        return std::nullopt;
    if (same(base, group, "files") && same(base, group, "size")) return Relation{Kind::strong};
    const auto all = base::number_in(group.factors.common(kOfAll));
    const auto base_all = base::number_in(base.factors.common(kOfAll));
    if (!all || !base_all || !(*base_all > 0) || base.factors.common(kOfRank).empty()) return std::nullopt;
    const bool of_rank = same(base, group, kOfRank), of_all = *all == *base_all;
    if (of_rank && of_all) return Relation{Kind::same};
    if (of_all && over_ranks_) return Relation{Kind::strong};
    if (of_rank && over_ranks_) return Relation{Kind::weak, *all / *base_all};
    return std::nullopt;
}

// The best base first: the single-device code, then the fewest.
std::vector<const KeyedGroup*> Bases::candidates(const KeyedGroup& group) const {
    std::vector<const KeyedGroup*> found;
    const SeriesKey key = key_of(group);
    const bool alone = is_single_device(group);
    const auto is_alone = [&](const KeyedGroup& one) { return over_ranks_ && is_single_device(one); };
    for (const auto& other : groups_) {
        if (!(width(other) > 0) || common_time(other, group).empty()) continue;
        const SeriesKey its = key_of(other);
        const bool narrower = width(other) < width(group);
        const bool other_code = is_alone(other) && !alone && width(other) <= width(group);
        if (narrower ? its == key || (is_alone(other) && its.work == key.work)
                     : other_code && its.work == key.work)
            found.push_back(&other);
    }
    std::ranges::stable_sort(found, [&](const KeyedGroup* a, const KeyedGroup* b) {
        if (is_alone(*a) != is_alone(*b)) return is_alone(*a);
        if (width(*a) != width(*b)) return width(*a) < width(*b);
        return a->runs.size() > b->runs.size();
    });
    return found;
}

// Where the best base pools different work, another one would be a surprise.
Bases::Base Bases::first_of(const KeyedGroup& group, Kind kind) const {
    for (const KeyedGroup* base : candidates(group)) {
        if (!pooled_[index(*base)].empty()) break;
        if (const auto found = relation(*base, group); found && found->is(kind)) return {base, found->work};
    }
    return {};
}

std::string Bases::why_none(const KeyedGroup& group) const {
    const auto all = candidates(group);
    if (all.empty() || strong(group).group != nullptr || weak(group).group != nullptr) return "";
    const KeyedGroup& base = *all.front();
    if (const auto& names = pooled_[index(group)]; !names.empty())
        return fmt::format("its runs are of different work ({})", some_of(names, 4));
    if (const auto& names = pooled_[index(base)]; !names.empty())
        return fmt::format("the base's runs are of different work ({})", some_of(names, 4));
    if (const auto names = other_work(base, group); !names.empty())
        return fmt::format("other work than the base's ({})", some_of(names, 4));
    return fmt::format("just one of {} and {} has to be the base's", kOfRank, kOfAll);
}

}  // namespace ranklab::report::model
