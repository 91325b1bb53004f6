// What names a group beside others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/model/grouped_runs.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/surroundings.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using Groups = std::vector<const Group*>;
using Texts = std::vector<std::string>;

constexpr std::size_t kLongestLabel = 60;  // letters

// In a title these have a form of their own.
constexpr std::array kNotInTitles{"model",      "strategy",          "mode",      "sync",
                                  "batch-size", "global-batch-size", "from-model"};
constexpr std::array kNotInTitlesOfRecords{"files", "size", "workers", "sweep-workers"};

template <class Names>
bool contains(const Names& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

std::string main_name(const Run& run) {
    if (const auto model = run.setting("from-model"); !model.empty()) return "buckets of " + model;
    for (const char* key : {"model", "strategy", "op"})
        if (const auto value = run.setting(key); !value.empty()) return value;
    return run.command;
}

// The place that shows it makes it fit for it.
std::string short_label(const std::string& label) {
    std::size_t at = 0;
    for (std::size_t letters = 0; at < label.size() && letters < kLongestLabel; ++letters)
        at += base::first_letter(std::string_view(label).substr(at)).bytes;
    return at < label.size() ? label.substr(0, at) + "…" : label;
}

std::string named_value(const Group& group, const std::string& key) {
    const auto condition = group.conditions.find(key);
    return condition == group.conditions.end() ? group.newest.setting(key)
                                               : base::printable(condition->second, 40);
}

Texts differing_keys(const Groups& groups) {
    MetConditions met;
    for (const Group* group : groups) met.add(group->told_by());
    return met.differing();
}

std::string join_of(const Run& run, const Texts& differing, bool labelled) {
    const std::string mode = run.setting("mode"), sync = run.setting("sync");
    if (labelled && mode == "ddp" && sync == "none") return "without sync";  // no label hides that
    const bool name_sync =
        !sync.empty() && mode != "single" && (sync != "none" || mode == "ddp") && contains(differing, "sync");
    if (!contains(differing, "mode") && !name_sync) return "";
    return !name_sync ? mode : sync == "none" ? mode + " without sync" : mode + " " + sync;
}

// Of ranks that share one batch the parts differ of themselves, of ranks that each have theirs the sum: the
// other one names the group.
std::string batch_of(const Run& run, const Texts& differing, Named named) {
    const std::string batch = run.setting("batch-size"), all = run.setting("global-batch-size");
    const bool of_all = named == Named::batch_of_all;
    if (all.empty() || !contains(differing, of_all ? "global-batch-size" : "batch-size")) return "";
    return batch == all ? "batch " + all : of_all ? all + " global" : batch + "/rank";
}

// What has a form of its own in a title, where it differs. The main name always, unless a label stands for
// it.
Texts special_parts(const Run& run, const Texts& differing, Named named, bool labelled) {
    if (named == Named::records)
        return {fmt::format("{} over {}", main_name(run), workers_of(run) > 0 ? "workers" : "ranks"),
                fmt::format("{} × {}²", run.setting("files"), run.setting("size"))};
    const bool unnamed = labelled && !contains(differing, "model") && !contains(differing, "strategy");
    Texts parts{unnamed ? "" : main_name(run), join_of(run, differing, labelled),
                batch_of(run, differing, named)};
    std::erase(parts, "");
    return parts;
}

bool is_plain(const std::string& key, bool following, Named named) {
    if (contains(kNotInTitles, key)) return false;
    if (named == Named::records && contains(kNotInTitlesOfRecords, key)) return false;
    return (vocabulary::follows_ranks(key) || follows_from_ranks(key)) == following;
}

// The titles grow from part to part. Only groups whose titles are still the same get another part.
class Growing {
  public:
    Growing(const Groups& groups, const Texts& labels, Named named)
        : groups_(groups), named_(named), titles_(groups.size()) {
        add_labels(labels);
        for (const auto& alike : alike_ones(false)) add_special(alike);
        if (named == Named::settings) add_settings();
        for (const auto& alike : alike_ones(false)) add_plain(alike, false);
        for (const auto& alike : alike_ones(true)) add_plain(alike, true);
        for (const auto& alike : alike_ones(true)) add_nodes(alike);
    }

    const Texts& titles() const { return titles_; }

  private:
    using Places = std::vector<std::size_t>;

    void add(std::size_t place, const std::string& part) {
        std::string& title = titles_[place];
        if (!part.empty()) title += (title.empty() ? "" : ", ") + part;
    }

    std::vector<Places> alike_ones(bool of_as_many_ranks) const {
        std::map<std::tuple<std::string, std::size_t, std::string>, Places> alike;
        for (std::size_t i = 0; i < groups_.size(); ++i)
            alike[{groups_[i]->newest.command, of_as_many_ranks ? groups_[i]->ranks : 0, titles_[i]}]
                .push_back(i);
        std::vector<Places> all;
        for (auto& [title, places] : alike) all.push_back(std::move(places));
        return all;
    }

    Groups at(const Places& places) const {
        Groups some;
        for (const std::size_t i : places) some.push_back(groups_[i]);
        return some;
    }

    // A label that all have names none of them.
    void add_labels(const Texts& labels) {
        std::map<std::string, std::set<std::string>> of_command;
        for (std::size_t i = 0; i < groups_.size(); ++i)
            of_command[groups_[i]->newest.command].insert(labels[i]);
        for (std::size_t i = 0; i < groups_.size(); ++i)
            if (of_command[groups_[i]->newest.command].size() > 1) add(i, short_label(labels[i]));
    }

    void add_special(const Places& places) {
        const Texts differing = differing_keys(at(places));
        for (const std::size_t i : places) {
            const bool labelled = !titles_[i].empty();
            for (const auto& part : special_parts(groups_[i]->newest, differing, named_, labelled))
                add(i, part);
        }
    }

    // Also of those that other parts tell apart.
    void add_settings() {
        for (const auto& key : differing_keys(groups_)) {
            const bool set = std::ranges::none_of(
                groups_, [&](const Group* group) { return group->conditions.contains(key); });
            for (std::size_t i = 0; set && is_plain(key, false, named_) && i < groups_.size(); ++i)
                if (const auto value = value_at(i, key); !value.empty()) add(i, key + " " + value);
        }
    }

    // A key that splits no further what others have told apart is left out.
    void add_plain(const Places& places, bool following) {
        std::vector<Places> open{places};
        for (const auto& key : differing_keys(at(places)))
            if (is_plain(key, following, named_)) open = split(open, key);
    }

    std::vector<Places> split(const std::vector<Places>& open, const std::string& key) {
        std::vector<Places> all;
        for (const auto& places : open) {
            std::map<std::string, Places> by_value;
            for (const std::size_t i : places) by_value[value_at(i, key)].push_back(i);
            for (auto& [value, some] : by_value) {
                if (by_value.size() > 1 && !value.empty())
                    for (const std::size_t i : some) add(i, key + " " + value);
                all.push_back(std::move(some));
            }
        }
        return all;
    }

    std::string value_at(std::size_t place, const std::string& key) const {
        const Group& group = *groups_[place];
        const bool meaningless = is_single_device(group.newest) && vocabulary::is_between_ranks(key);
        return meaningless ? "" : named_value(group, key);
    }

    void add_nodes(const Places& places) {
        std::set<std::size_t> nodes;
        for (const std::size_t i : places) nodes.insert(groups_[i]->nodes);
        for (const std::size_t i : places)
            if (nodes.size() > 1) add(i, counted(groups_[i]->nodes, "node"));
    }

    const Groups& groups_;
    Named named_;
    Texts titles_;
};

}  // namespace

std::vector<std::string> group_titles(const Groups& groups, Named named) {
    Texts labels;
    for (const Group* group : groups) labels.push_back(group->label());
    return group_titles(groups, labels, named);
}

std::vector<std::string> group_titles(const Groups& groups, const Texts& labels, Named named) {
    return Growing(groups, labels, named).titles();
}

}  // namespace ranklab::report::model
