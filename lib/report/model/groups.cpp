#include "report/model/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using namespace runs_columns;

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
}

}  // namespace

std::string Group::factor(const std::string& name) const {
    const auto found = factors.find(name);
    return found == factors.end() ? "" : found->second;
}

namespace {

// What all of these have, and of what they have several values.
void pool_factors(Group& group, const RunsFrame& runs) {
    if (group.runs.empty()) return;
    std::vector<Conditions> all;
    for (const std::size_t run : group.runs) all.push_back(runs.factors[run]);
    group.differing = differing_keys(all);
    group.factors = all.front();
    for (const auto& key : group.differing) group.factors.erase(key);
}

class GroupMaker {
  public:
    GroupMaker(const RunsFrame& runs, const std::vector<std::string>& wanted)
        : runs_(runs), frame_(runs.frame) {
        for (const auto& name : wanted) wanted_.push_back(frame_.find(std::string(kMeasured) + name));
    }

    Group group_of(const std::vector<std::size_t>& rows) const {
        Group group;
        for (const std::size_t row : rows) {
            if (!is(row, kValid))
                ++group.invalid;
            else if (!measured(row))
                ++group.without;
            else
                group.runs.push_back(row);
        }
        std::vector<Cores> cores;
        for (const std::size_t row : group.runs) cores.push_back(runs_.cores[row]);
        group.cores = common_cores(cores);
        pool_factors(group, runs_);
        group.not_summed = count(group, kSummed) > 0;
        group.doubts = doubts_of(group);
        return group;
    }

  private:
    bool is(std::size_t row, std::string_view doubt) const {
        return frame_.at(row, doubt_column(doubt)).text == "yes";
    }
    bool measured(std::size_t row) const {
        return std::ranges::any_of(wanted_,
                                   [&](std::size_t column) { return frame_.at(row, column).is_number(); });
    }
    std::size_t count(const Group& group, std::string_view doubt) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(group.runs, [&](std::size_t row) { return is(row, doubt); }));
    }
    std::string of_all(const Group& group, std::size_t some) const {
        return fmt::format("{} of {}", some, counted(group.runs.size(), "run"));
    }

    std::vector<Doubt> doubts_of(const Group& group) const {
        std::vector<Doubt> doubts;
        if (group.cores.oversubscribed()) {
            const auto crowded = static_cast<std::size_t>(std::ranges::count_if(
                group.runs, [&](std::size_t row) { return runs_.cores[row].oversubscribed(); }));
            const std::string some = crowded == group.runs.size() ? "" : ", " + of_all(group, crowded);
            doubts.push_back({Mark::oversubscribed, group.cores.crowded + some});
        }
        if (group.not_summed) doubts.push_back({Mark::not_summed});
        const auto add = [&](std::string_view column, Mark mark) {
            if (const std::size_t some = count(group, column); some > 0)
                doubts.push_back({mark, of_all(group, some)});
        };
        add(kLoad, Mark::other_load);
        if (group.runs.size() == 1) doubts.push_back({Mark::single_run});
        if (group.invalid > 0) doubts.push_back({Mark::left_out, fmt::to_string(group.invalid)});
        add(kConverged, Mark::not_converged);
        add(kExit, Mark::exit_7);
        add(kCut, Mark::cut_short);
        std::vector<std::string> differing = group.differing;
        std::erase_if(differing, [&](const auto& name) { return contains(runs_.asked.keys, name); });
        if (!differing.empty() && !runs_.asked.keys.empty())
            doubts.push_back({Mark::differs, some_of(differing, 4)});
        const bool unverified = std::ranges::any_of(group.runs, [&](std::size_t row) {
            const auto& verified = frame_.at(row, doubt_column(kVerified)).text;
            return !verified.empty() && verified != "yes";
        });
        if (unverified) doubts.push_back({Mark::not_verified});
        return doubts;
    }

    const RunsFrame& runs_;
    const Frame& frame_;
    std::vector<std::size_t> wanted_;
};

std::vector<std::size_t> columns_of(const Frame& frame, std::string_view prefix, bool keys) {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < frame.columns.size(); ++i)
        if (keys ? frame.columns[i].key : frame.columns[i].name.starts_with(prefix)) columns.push_back(i);
    return columns;
}

}  // namespace

Groups::Groups(RunsFrame runs) : runs_(std::move(runs)) {
    auto& wanted = runs_.asked.measurements;
    if (wanted.empty()) wanted = headline_measurements();
    const Frame& frame = runs_.frame;
    const auto asked = columns_of(frame, "", true), conditions = columns_of(frame, kCondition, false);
    std::vector<std::size_t> columns = asked;
    columns.insert(columns.end(), conditions.begin(), conditions.end());
    const GroupMaker maker(runs_, wanted);
    std::vector<std::vector<std::string>> met;
    for (const auto& [key, rows] : frame.group_by(columns)) {
        Group group = maker.group_of(rows);
        without += group.without;
        if (group.runs.empty() && group.invalid == 0) continue;
        group.key = key;
        all.push_back(std::move(group));
    }
    // Of the conditions those that differ are keys, too.
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool differs =
            std::ranges::any_of(all, [&](const Group& group) { return group.key[i] != all.front().key[i]; });
        if (i < asked.size() || differs) kept.push_back(i);
    }
    for (const std::size_t i : kept) {
        std::string name = frame.columns[columns[i]].name;
        if (i >= asked.size()) apart.push_back(name = name.substr(kCondition.size()));
        keys.push_back(name);
    }
    for (auto& group : all) {
        std::vector<std::string> key;
        for (const std::size_t i : kept) key.push_back(group.key[i]);
        group.key = std::move(key);
    }
    std::ranges::stable_sort(all, [](const Group& a, const Group& b) {
        return std::ranges::lexicographical_compare(a.key, b.key, in_order);
    });
    std::vector<const Group*> some;
    for (const auto& group : all) some.push_back(&group);
    if (runs_.asked.keys.empty()) names_ = titles(some);
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const auto ranks = static_cast<std::size_t>(std::ranges::find(keys, "ranks") - keys.begin());
        names_[i] += fmt::format(", {} rank{}", all[i].key[ranks], all[i].key[ranks] == "1" ? "" : "s");
    }
}

std::vector<double> Groups::values(const Group& group, std::string_view measurement) const {
    std::vector<double> values;
    const std::size_t column = runs_.frame.find(std::string(kMeasured) + std::string(measurement));
    for (const std::size_t row : group.runs)
        if (const Cell& cell = runs_.frame.at(row, column); cell.is_number()) values.push_back(cell.number);
    return values;
}

Estimate Groups::estimate(const Group& group, std::string_view measurement) const {
    const std::size_t column = runs_.frame.find(std::string(kMeasured) + std::string(measurement));
    const stats::Summary s = stats::summarise(values(group, measurement));
    Estimate found{s.median, s.ci95, s.n, {}};
    if (s.n > 0) found.unit = runs_.frame.columns[column].unit;
    for (const std::size_t row : group.runs)
        if (s.n == 1 && runs_.frame.at(row, column).is_number())
            found.ci = runs_.frame.at(row, column).interval;
    return found;
}

std::vector<std::string> Groups::measurements() const {
    std::vector<std::string> present;
    for (const auto& name : runs_.asked.measurements)
        if (std::ranges::any_of(all, [&](const Group& group) { return has(group, name); }))
            present.push_back(name);
    return present;
}

std::string Groups::name(const Group& group) const {
    if (runs_.asked.keys.empty()) return names_[static_cast<std::size_t>(&group - all.data())];
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (i < keys.size() - apart.size()) parts.push_back(fmt::format("{} = {}", keys[i], group.key[i]));
    return base::join(parts, ", ");
}

// The titles grow from part to part: only groups whose titles are still the same get another one.
std::vector<std::string> Groups::titles(const std::vector<const Group*>& some,
                                        const std::set<std::string>& but) const {
    static const std::set<std::string> kNamed{"model",   "strategy", "op",  "from-model",
                                              "command", "mode",     "sync"};
    const auto value = [&](const Group& group, const std::string& name) {
        const auto place = static_cast<std::size_t>(std::ranges::find(keys, name) - keys.begin());
        return place < keys.size() ? group.key[place] : std::string();
    };
    std::vector<std::string> titles;
    for (const Group* group : some) {
        std::vector<std::string> parts;
        for (const char* name : {"from-model", "model", "strategy", "op", "command"})
            if (parts.empty() && !value(*group, name).empty()) parts.push_back(value(*group, name));
        const std::string mode = but.contains("mode") ? "" : value(*group, "mode"),
                          sync = value(*group, "sync");
        if (!mode.empty()) parts.push_back(mode == "ddp" && !sync.empty() ? mode + " " + sync : mode);
        titles.push_back(base::join(parts, ", "));
    }
    std::vector<std::string> order{"batch-size", "global-batch-size", "files", "size", "data"};
    order.insert(order.end(), keys.begin(), keys.end());
    for (const auto& key : order) {
        if (kNamed.contains(key) || but.contains(key) || key == "ranks") continue;
        std::map<std::pair<std::string, std::string>, std::set<std::string>> values;  // by title and ranks
        const auto place_of = [&](std::size_t i) {
            return std::pair(titles[i], but.contains("ranks") ? "" : value(*some[i], "ranks"));
        };
        for (std::size_t i = 0; i < some.size(); ++i) values[place_of(i)].insert(value(*some[i], key));
        const auto before = titles;
        for (std::size_t i = 0; i < some.size(); ++i)
            if (const auto text = value(*some[i], key);
                !text.empty() && values[{before[i], place_of(i).second}].size() > 1)
                titles[i] += fmt::format(", {} {}", key, base::printable(text, 40));
    }
    return titles;
}

std::string Groups::common(const std::string& factor) const {
    std::set<std::string> values;
    for (const auto& group : all)
        if (group.valid()) values.insert(group.factor(factor));
    return values.size() == 1 ? *values.begin() : "";
}

}  // namespace ranklab::report::model
