// The answer first: the best rate of each workload, where it was measured and by what.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/messages.hpp"
#include "report/model/storage_place.hpp"
#include "report/model/values.hpp"
#include "report/page/sections.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using model::Group;
using Groups = std::vector<const Group*>;

constexpr std::size_t kMostWorkloads = 6, kMostHosts = 3;

struct Workload {
    std::string name;
    std::string measurement;  // the rate that they are ranked by
    Groups groups;
};

// The first rate that is shown of a command; "" where the vocabulary has none.
std::string rate_of(const std::string& command) {
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, command))
        if (vocabulary::quantity(name).kind == vocabulary::Kind::rate) return name;
    return "";
}

// Settings that make it another task, not another way to do it.
std::string task_of(const results::Run& run) {
    if (run.command == "io")
        return fmt::format("Writing {} × {}² float64", run.setting("files"), run.setting("size"));
    if (model::is_comm(run)) return model::headline_task(run);
    std::string task = run.setting("model").empty() ? run.command : run.setting("model");
    if (const auto data = run.setting("data"); !data.empty()) task += " on " + data;
    if (const auto width = run.setting("width"); !width.empty() && width != "1") task += ", width " + width;
    return task;
}

std::string place_of(const Group& group) {
    const auto found = group.conditions.find("file_system");
    return found == group.conditions.end() ? "" : " on " + found->second;
}

bool counts(const Group& group, const std::string& rate) {
    return group.valid() && !model::sums_no_gradients(group.newest, group.ranks) &&
           group.find(rate) != nullptr;
}

// In the order met.
std::vector<Workload> workloads_of(const model::GroupedRuns& grouped) {
    model::InOrderMet<std::string, Workload> met;
    for (const auto& group : grouped.groups()) {
        const std::string rate = rate_of(group.newest.command);
        if (rate.empty() || !counts(group, rate)) continue;
        const std::string name = task_of(group.newest) + place_of(group);
        Workload& workload = met[name];
        workload.name = name;
        workload.measurement = rate;
        workload.groups.push_back(&group);
    }
    return met.all();
}

const Group& best_of(const Workload& workload) {
    return **std::ranges::max_element(workload.groups, {}, [&](const Group* group) {
        return model::estimate(*group, workload.measurement).value;
    });
}

std::string how_many(const Workload& workload) {
    const std::size_t others = workload.groups.size();
    return others == 1 ? "the only one measured" : fmt::format("the best of {} measured", others);
}

// "2 ranks on n1: AMD EPYC"; of GPUs these.
std::string machine_of(const Group& group) {
    std::vector<std::string> hosts;
    std::set<std::string_view> met;
    for (const auto& row : group.newest.hosts)
        if (met.insert(row.host).second) hosts.push_back(row.host);
    std::string text = model::counted(group.ranks, "rank");
    if (!hosts.empty()) text += " on " + model::some_of(hosts, kMostHosts, ", ", 60);
    const auto name_of = [&](const char* key) {
        const auto found = group.conditions.find(key);
        return found == group.conditions.end() ? std::string() : base::printable(found->second, 80);
    };
    const std::string devices = name_of("devices"), cpu = name_of("host.cpu");
    const std::string what = devices.empty() || devices == "cpu" ? cpu : devices;
    return what.empty() ? text : text + ": " + what;
}

// What names the group beside the others of its command, in which a label already stands where it tells.
std::string title_of(const Group& group, const Groups& all) {
    const auto titles = model::group_titles(all);
    return titles[static_cast<std::size_t>(std::ranges::find(all, &group) - all.begin())];
}

// Why there is no interval.
std::string no_interval(const Group& group, const std::string& measurement) {
    if (!std::isnan(model::estimate(group, measurement).ci.low)) return "";
    const auto* values = group.find(measurement);
    if (values->medians.size() > 1) return fmt::format("no interval: {} runs", values->medians.size());
    const auto* m = group.newest.find(measurement);
    return m == nullptr ? "no interval" : fmt::format("no interval: n = {}", m->summary.n);
}

// "on 2 cores, 684.5 a core": what the rate costs. Of files whether they were brought to the disk, and where
// reading came from.
std::string cost_of(const Group& group, const std::string& measurement) {
    if (group.newest.command == "io") return model::place_text(model::storage_place(group.newest));
    if (model::is_comm(group.newest))
        return fmt::format("{} us a call",
                           model::number(model::estimate(group, vocabulary::kCallTime).value));
    const model::Cores& cores = group.cores.common();
    if (!cores.known()) return "cores not known: " + cores.why_not;
    const double each = model::estimate(group, measurement).value / static_cast<double>(cores.count);
    return fmt::format("{} a {} {}", model::number(each), cores.unit(), model::on_cores(cores));
}

Data headline(const PageInput& input, const Workload& workload) {
    const Group& best = best_of(workload);
    const Groups all = model::recent_groups(input.grouped(), best.newest.command, SIZE_MAX);
    const std::string unit = best.find(workload.measurement)->unit;
    const std::string title = title_of(best, all);
    const bool named = title.starts_with(best.label());
    Object data = run_link(input, best.newest.id, figures::cut(title, 120));
    data.insert(
        {{"workload", figures::cut(workload.name, 160)},
         {"words", words_data(figures::for_reading(figures::estimate_of(best, workload.measurement), unit))},
         {"unit", figures::unit_for_reading(unit)},
         {"no_interval", if_any(no_interval(best, workload.measurement))},
         {"runs", model::counted(best.runs.size(), "run")},
         {"how_many", how_many(workload)},
         {"label", if_any(named ? "" : figures::cut(best.label(), 60))},
         {"verdict", cell_data({verdict_of(best)})},
         {"cost", figures::cut(cost_of(best, workload.measurement), 200)},
         {"machine", figures::cut(machine_of(best), 200)}});
    return data;
}

}  // namespace

Data headlines_data(const PageInput& input) {
    const auto workloads = workloads_of(input.grouped());
    if (workloads.empty()) return false;
    List headlines;
    const std::size_t first = workloads.size() - std::min(workloads.size(), kMostWorkloads);
    for (std::size_t i = first; i < workloads.size(); ++i) headlines.push_back(headline(input, workloads[i]));
    return Object{{"all", headlines}, {"more", more_data(first, input.how_to.choose)}};
}

}  // namespace ranklab::report::page
