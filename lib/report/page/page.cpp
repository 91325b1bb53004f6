#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/model/ladder.hpp"
#include "report/model/messages.hpp"
#include "report/model/network.hpp"
#include "report/model/values.hpp"
#include "report/page/parts.hpp"
#include "report/page/templates.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using model::Groups;
using results::Run;

constexpr std::size_t kMostHeadlines = 6, kMostWarnings = 12;

std::string lead_of(const model::ChosenRuns& runs, const Groups& groups) {
    const auto headers = runs.headers();
    if (headers.empty()) return "No runs to show: the file has none, or none was chosen.";
    const auto [first, last] = std::ranges::minmax(headers, {}, &results::RunHeader::started_utc);
    const std::string chosen = runs.text().empty() ? "" : "; chosen: " + runs.text();
    return fmt::format("{} in {}, {} .. {}{}.", counted(headers.size(), "run"),
                       counted(groups.size(), "group"), first.started_utc, last.started_utc,
                       chosen);
}

// The rate that headlines show for a command.
std::string rate_of(const std::string& command) {
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, command))
        if (vocabulary::quantity(name).kind == vocabulary::Kind::rate) return name;
    return "";
}

// The work of a run, without the way in which ranks do it.
std::string task_of(const Run& run) {
    if (run.command == "io")
        return "Writing " + model::records_text(run) + " on " + model::file_system_of(run);
    if (run.command == "comm") return model::headline_task(run);
    std::string task = run.setting(setting::kModel);
    for (const auto key : {setting::kData, setting::kWidth})
        if (const auto value = run.setting(key); !value.empty() && value != "1")
            task += fmt::format(", {} {}", key, value);
    return task;
}

Object headline(const Groups& all, const std::string& task,
                const std::vector<std::size_t>& groups) {
    const std::string rate = rate_of(all.command(groups.front()));
    const std::size_t best = *std::ranges::max_element(
        groups, {}, [&](std::size_t group) { return all.estimate(group, rate).number; });
    const auto found = all.estimate(best, rate);
    const model::Cores cores = all.cores(best);
    std::vector<std::string> caveats;
    for (const auto& caveat : all.table().rows[best].caveats) caveats.push_back(sentence(caveat));
    const auto detailed = figures::newest_groups(all, "", kMostDetailed);
    return {
        {"workload", task},
        {"value", readable(found.number, all.unit(rate))},
        {"interval", readable_interval(found.interval, found.number, all.unit(rate))},
        {"name", all.name(best)},
        {"link", std::ranges::find(detailed, best) != detailed.end()},
        {"run", all.newest(best)},
        {"which", fmt::format("highest of {}; {}", counted(groups.size(), "group"),
                              counted(all.members(best).size(), "run"))},
        {"machine",
         fmt::format("{}; {}", cores.known() ? counted(cores.count, cores.unit) : "cores not known",
                     base::printable(all.factor(best, "host.cpu"), 80))},
        {"doubts", caveats.empty() ? Data(false) : Data(base::join(caveats, "; "))}};
}

// A list for the template; false if it is empty.
Data list_or_false(const List& all) {
    return all.empty() ? Data(false) : Data(Object{{"all", all}});
}

// The best rate of each task.
Data headlines_of(const figures::Source& source) {
    const Groups& groups = source.groups;
    InsertionOrderedMap<std::string, std::pair<std::string, std::vector<std::size_t>>> workloads;
    for (const std::size_t group : groups.all()) {
        if (!groups.valid(group) || groups.table().rows[group].has(CaveatKind::not_summed) ||
            !groups.has(group, rate_of(groups.command(group))))
            continue;
        const auto& run = source.newest(group);
        if (run.command == "comm" && !model::measures_network(run)) continue;
        const std::string task = task_of(run);
        auto& [name, some] = workloads[task];
        name = task, some.push_back(group);
    }
    List all;
    for (const auto& [task, some] : workloads.all())
        if (all.size() < kMostHeadlines) all.push_back(headline(groups, task, some));
    return list_or_false(all);
}

// The warnings that runs stored, each with the number of its runs.
using RunWarnings = InsertionOrderedMap<std::string, std::pair<std::string, std::size_t>>;

// The list "Read this first".
Data warnings_of(const Groups& groups, const RunWarnings& of_runs) {
    List all;
    const auto add = [&](const std::string& text, bool bad) {
        if (all.size() < kMostWarnings) all.push_back(Object{{"text", text}, {"bad", bad}});
    };
    const auto invalid = std::ranges::count_if(
        groups.runs().rows, [](const Row& run) { return run.has(CaveatKind::invalid); });
    if (invalid > 0)
        add(counted(static_cast<std::size_t>(invalid), "run") +
                " invalid: none of their numbers is used",
            true);
    std::map<CaveatKind, std::size_t> kinds;
    for (const auto& row : groups.table().rows)
        for (const auto& caveat : row.caveats) ++kinds[caveat.kind];
    for (const auto& [kind, count] : kinds)
        add(fmt::format("{} {}", counted(count, "group"), of_groups(kind, count)), false);
    if (!groups.apart().empty())
        add("runs that differ in " + some_of(groups.apart(), 6) +
                " are in separate groups, and not points of one curve",
            false);
    for (const auto& [text, runs] : of_runs.all())
        add(fmt::format("{}: {}", counted(runs, "run"), text), false);
    return list_or_false(all);
}

}  // namespace

std::string filled(const char* name, const Data& data) {
    kainjow::mustache::mustache page{std::string(template_text(name))};
    page.set_custom_escape([](const std::string& text) { return html_escape(text); });
    return page.render(data);
}

std::string html_page(const model::ChosenRuns& runs, const std::filesystem::path& folder) {
    const model::References references = model::read_references(folder);
    const model::GroupQuery query{.measurements = model::names_shown(vocabulary::Shown::summary)};
    Frame table;
    RunWarnings warnings;
    runs.visit(results::Detail::summaries, [&](const Run& run) {
        add_run(table, query, run);
        for (const auto& warning : run.warnings)
            warnings[warning].first = warning, ++warnings[warning].second;
    });
    const model::Groups groups(std::move(table), query);
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
    add_figures(true);  // scaling first: most readers look for it
    add("summary", "Summary", summary_of(groups));
    const auto trained = figures::newest_groups(groups, "train", SIZE_MAX);
    const auto widest = std::ranges::max_element(trained, {}, [&](std::size_t group) {
        return base::number_in(groups.factor(group, setting::kRanks)).value_or(0);
    });
    if (widest != trained.end())
        add("why", "Why is it slow",
            diagnosis::html_of(diagnosis::diagnose(source.newest_whole(*widest), runs.file())));
    add_figures(false);
    if (!not_drawn.empty()) base::log::warn(not_drawn);
    add("ranks", "Rank by rank", ranks_of(source));
    add("runs", "Runs", runs_of(source));
    add("environment", "Environment",
        html_of(values_of(groups.runs(), groups.runs().all(Role::place))));
    add("definitions", "Definitions", definitions_of(groups));
    return filled("page.html", Object{{"file", runs.file().path().filename().string()},
                                      {"style", std::string(template_text("style.css"))},
                                      {"lead", lead_of(runs, groups)},
                                      {"headlines", headlines_of(source)},
                                      {"warnings", warnings_of(groups, warnings)},
                                      {"sections", sections}});
}

}  // namespace ranklab::report::page
