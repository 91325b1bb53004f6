#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/frame/readable.hpp"
#include "report/model/conditions.hpp"
#include "report/model/messages.hpp"
#include "report/model/network.hpp"
#include "report/model/values.hpp"
#include "report/page/parts.hpp"
#include "report/page/templates.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using model::Group;
using model::Groups;
using results::Run;

constexpr std::size_t kMostHeadlines = 6, kMostWarnings = 12;

// The measurements of the page's tables and figures.
std::vector<std::string> measurements() {
    std::vector<std::string> names;
    for (const char* command : {"train", "io", "comm"})
        for (auto& name : vocabulary::shown_at(vocabulary::Shown::summary, command))
            names.push_back(std::move(name));
    return names;
}

std::string lead_of(const model::ChosenRuns& runs, const Groups& groups) {
    const auto headers = runs.headers();
    if (headers.empty()) return "No run of this file was asked for, or it has none.";
    const auto [first, last] = std::ranges::minmax(headers, {}, &results::RunHeader::started_utc);
    const std::string chosen = runs.text().empty() ? "" : "; chosen: " + runs.text();
    return fmt::format("{} in {}, {} .. {}{}.", counted(headers.size(), "run"),
                       counted(groups.all.size(), "group"), first.started_utc, last.started_utc,
                       chosen);
}

// The first rate that is shown of a command.
std::string rate_of(const std::string& command) {
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, command))
        if (vocabulary::quantity(name).kind == vocabulary::Kind::rate) return name;
    return "";
}

// Settings that make it another task, not another way to do it.
std::string task_of(const Run& run) {
    if (run.command == "io")
        return fmt::format("Writing {} x {} x {} float64 on {}", run.setting(setting::kFiles),
                           run.setting(setting::kSize), run.setting(setting::kSize),
                           model::file_system_of(run));
    if (model::is_comm(run)) return model::headline_task(run);
    std::string task = run.setting(setting::kModel);
    for (const char* key : {"data", "width"})
        if (const auto value = run.setting(key); !value.empty() && value != "1")
            task += std::string(", ") + key + " " + value;
    return task;
}

Object headline(const Groups& all, const std::string& task,
                const std::vector<const Group*>& groups) {
    const std::string rate = rate_of(groups.front()->factor("command"));
    const Group& best = **std::ranges::max_element(
        groups, {}, [&](const Group* group) { return all.estimate(*group, rate).value; });
    const auto found = all.estimate(best, rate);
    std::vector<std::string> caveats;
    for (const auto& caveat : best.caveats) caveats.push_back(sentence(caveat));
    const auto detailed = detailed_groups(all);
    return {
        {"workload", task},
        {"value", readable(found.value, found.unit)},
        {"interval", readable_interval(found.ci, found.value, found.unit)},
        {"name", all.name(best)},
        {"link", std::ranges::find(detailed, &best) != detailed.end()},
        {"run", all.newest(best)},
        {"which", fmt::format("highest of {}; {}", counted(groups.size(), "group"),
                              counted(best.runs.size(), "run"))},
        {"machine", fmt::format("{}; {}",
                                best.cores.known() ? counted(best.cores.count, best.cores.unit())
                                                   : "cores not known",
                                base::printable(best.factor("host.cpu"), 80))},
        {"doubts", caveats.empty() ? Data(false) : Data(base::join(caveats, "; "))}};
}

// A list that the template writes; false where it is empty.
Data list_or_false(const List& all) {
    return all.empty() ? Data(false) : Data(Object{{"all", all}});
}

// The best rate of each workload.
Data headlines_of(const figures::Source& source) {
    const Groups& groups = source.groups;
    InsertionOrderedMap<std::string, std::pair<std::string, std::vector<const Group*>>> workloads;
    for (const auto& group : groups.all) {
        if (!group.valid() || group.not_summed ||
            !groups.has(group, rate_of(group.factor("command"))))
            continue;
        const auto& run = source.newest(group);
        if (model::is_comm(run) && !model::measures_network(run)) continue;
        const std::string task = task_of(run);
        auto& [name, some] = workloads[task];
        name = task, some.push_back(&group);
    }
    List all;
    for (const auto& [task, some] : workloads.all())
        if (all.size() < kMostHeadlines) all.push_back(headline(groups, task, some));
    return list_or_false(all);
}

// The runs' own warnings, with the number of runs that have each.
using RunWarnings = InsertionOrderedMap<std::string, std::pair<std::string, std::size_t>>;

// The warnings above the numbers.
Data warnings_of(const Groups& groups, std::size_t invalid, const RunWarnings& of_runs) {
    List all;
    const auto add = [&](const std::string& text, bool bad) {
        if (all.size() < kMostWarnings) all.push_back(Object{{"text", text}, {"bad", bad}});
    };
    if (invalid > 0)
        add(fmt::format("{} invalid: none of their numbers is used", counted(invalid, "run")),
            true);
    std::map<CaveatKind, std::size_t> marks;
    for (const auto& group : groups.all)
        for (const auto& caveat : group.caveats) ++marks[caveat.kind];
    for (const auto& [mark, count] : marks) {
        std::string name = name_of(mark);
        std::ranges::replace(name, '_', ' ');
        add(fmt::format("{}: {}", counted(count, "group"), name), false);
    }
    if (!groups.apart.empty())
        add("groups are kept apart by " + model::some_of(groups.apart, 6) +
                " and are not points of one curve",
            false);
    for (const auto& [text, runs] : of_runs.all())
        add(fmt::format("{}: {}", counted(runs, "run"), text), false);
    return list_or_false(all);
}

}  // namespace

std::string filled(const char* name, const Data& data) {
    kainjow::mustache::mustache page{std::string(template_text(name))};
    if (!page.is_valid())
        throw base::Error(
            fmt::format("internal: the template '{}' is none: {}", name, page.error_message()));
    page.set_custom_escape([](const std::string& text) { return html_escape(text); });
    return page.render(data);
}

std::string html_page(const model::ChosenRuns& runs, const std::filesystem::path& folder) {
    const model::References references = model::read_references(folder);
    for (const auto& problem : references.problems) base::log::warn(problem);
    model::RunsFrame frame({{}, measurements(), {}});
    std::size_t invalid = 0;
    RunWarnings warnings;
    runs.visit(results::Detail::summaries, [&](const Run& run) {
        frame.add(run);
        invalid += run.valid ? 0 : 1;
        for (const auto& warning : run.warnings)
            warnings[warning].first = warning, ++warnings[warning].second;
    });
    const model::Groups groups(std::move(frame));
    const figures::Source source{groups, runs.file(), references};
    List sections;
    const auto add = [&](const std::string& id, const std::string& heading,
                         const std::string& body) {
        if (!body.empty())
            sections.push_back(Object{{"id", id}, {"heading", heading}, {"body", body}});
    };
    const auto drawn = figures::sections_of(source);
    std::string not_drawn;
    const auto add_figures = [&](bool scaling) {
        for (const auto& section : drawn)
            if (section.id.ends_with("-scaling") == scaling)
                add(section.id, section.heading, figures_of(section, not_drawn));
    };
    add_figures(true);  // that is what most come for
    add("summary", "Summary", summary_of(groups));
    for (const auto* const newest : figures::newest_groups(groups, "train", 1))
        add("why", "Why is it slow",
            diagnosis::html_of(diagnosis::diagnose(source.newest_whole(*newest), runs.file())));
    add_figures(false);
    if (!not_drawn.empty()) base::log::warn(not_drawn);
    add("ranks", "Rank by rank", ranks_of(source));
    add("runs", "Runs", runs_of(source));
    add("environment", "Environment", html_of(values_of(groups.runs().places)));
    add("definitions", "Definitions", definitions_of(groups));
    return filled("page.html", Object{{"file", runs.file().path().filename().string()},
                                      {"style", std::string(template_text("style.css"))},
                                      {"lead", lead_of(runs, groups)},
                                      {"headlines", headlines_of(source)},
                                      {"warnings", warnings_of(groups, invalid, warnings)},
                                      {"sections", sections}});
}

}  // namespace ranklab::report::page
