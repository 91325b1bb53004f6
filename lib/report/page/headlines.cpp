#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/conditions.hpp"
#include "report/model/messages.hpp"
#include "report/model/values.hpp"
#include "report/page/parts.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using model::Group;
using model::Groups;
using results::Run;

constexpr std::size_t kMostHeadlines = 6, kMostWarnings = 12;

// The first rate that is shown of a command.
std::string rate_of(const std::string& command) {
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, command))
        if (vocabulary::quantity(name).kind == vocabulary::Kind::rate) return name;
    return "";
}

// Settings that make it another task, not another way to do it.
std::string task_of(const Run& run) {
    if (run.command == "io")
        return fmt::format("Writing {} x {} x {} float64 on {}", run.setting("files"), run.setting("size"),
                           run.setting("size"), model::file_system_of(run));
    if (model::is_comm(run)) {
        std::string task = model::headline_task(run);
        for (const auto& [key, usual] : {std::pair{"average", "3"}, {"blocking", "3"}})
            if (const auto value = run.setting(key); !value.empty() && value != usual)
                task += fmt::format(", --{} {}", key, value);
        return run.setting("fault").empty() ? task : task + ", with a fault";
    }
    std::string task = run.setting("model");
    for (const char* key : {"data", "width"})
        if (const auto value = run.setting(key); !value.empty() && value != "1")
            task += std::string(", ") + key + " " + value;
    return task;
}

Data headline(const Input& input, const std::string& task, const std::vector<const Group*>& groups) {
    const Groups& all = input.source.groups;
    const std::string rate = rate_of(groups.front()->factor("command"));
    const Group& best = **std::ranges::max_element(
        groups, {}, [&](const Group* group) { return all.estimate(*group, rate).value; });
    const auto found = all.estimate(best, rate);
    const auto name = all.name(best);
    std::vector<std::string> doubts;
    for (const auto& doubt : best.doubts) doubts.push_back(sentence(doubt));
    const std::string each =
        best.cores.known() && best.factor("command") == "train"
            ? fmt::format(", {} a {}", digits(found.value / static_cast<double>(best.cores.count)),
                          best.cores.unit())
            : "";
    const std::string which =
        groups.size() == 1 ? "the only one measured" : fmt::format("highest of {} groups", groups.size());
    const std::string& newest = all.newest(best);
    return Object{
        {"workload", task},
        {"value", readable(found.value, found.unit)},
        {"interval", readable_interval(found.ci, found.value, found.unit)},
        {"name", name},
        {"link", input.shown.contains(newest)},
        {"run", newest},
        {"which", which + "; " + counted(best.runs.size(), "run")},
        {"machine", (best.cores.known() ? counted(best.cores.count, best.cores.unit()) : "cores not known") +
                        each + "; " + base::printable(best.factor("host.cpu"), 80)},
        {"doubts", doubts.empty() ? Data(false) : Data(base::join(doubts, "; "))}};
}

}  // namespace

Data headlines_of(const Input& input) {
    const Groups& groups = input.source.groups;
    InOrderMet<std::string, std::pair<std::string, std::vector<const Group*>>> workloads;
    for (const auto& group : groups.all) {
        if (!group.valid() || group.not_summed || !groups.has(group, rate_of(group.factor("command"))))
            continue;
        const std::string task = task_of(input.source.summaries(groups.newest(group)));
        auto& [name, some] = workloads[task];
        name = task, some.push_back(&group);
    }
    List all;
    for (const auto& [task, some] : workloads.all())
        if (all.size() < kMostHeadlines) all.push_back(headline(input, task, some));
    return all.empty() ? Data(false) : Data(Object{{"all", all}});
}

Data warnings_of(const Input& input) {
    List all;
    const auto add = [&](const std::string& text, bool bad) {
        if (all.size() < kMostWarnings) all.push_back(Object{{"text", text}, {"bad", bad}});
    };
    if (input.invalid > 0)
        add(fmt::format("{} invalid: none of their numbers is used", counted(input.invalid, "run")), true);
    std::map<Mark, std::size_t> marks;
    for (const auto& group : input.source.groups.all)
        for (const auto& doubt : group.doubts) ++marks[doubt.mark];
    for (const auto& [mark, groups] : marks) {
        std::string name = name_of(mark);
        std::ranges::replace(name, '_', ' ');
        add(fmt::format("{}: {}", counted(groups, "group"), name), false);
    }
    if (const auto& apart = input.source.groups.apart; !apart.empty())
        add("groups are kept apart by " + model::some_of(apart, 6) + " and are not points of one curve",
            false);
    for (const auto& [text, runs] : input.warnings)
        add(fmt::format("{}: {}", counted(runs, "run"), text), false);
    return all.empty() ? Data(false) : Data(Object{{"all", all}});
}

}  // namespace ranklab::report::page
