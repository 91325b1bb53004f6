#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/log.hpp"
#include "base/numbers.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/formats/formats.hpp"
#include "report/history/history.hpp"
#include "report/model/values.hpp"
#include "report/page/parts.hpp"
#include "report/page/templates.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using model::Groups;
using results::Run;

constexpr std::size_t kMostCards = 12, kMostWarnings = 3;
constexpr std::size_t kMostRated = 4;  // of more groups the newest one's rate says little

std::string lead_of(const model::ChosenRuns& runs, const Groups& groups) {
    const auto headers = runs.headers();
    if (headers.empty()) return "No runs to show: the file has none, or none was chosen.";
    const auto [first, last] = std::ranges::minmax(headers, {}, &results::RunHeader::started_utc);
    const std::string chosen = runs.text().empty() ? "" : "; chosen: " + runs.text();
    return fmt::format("{} in {}, {} .. {}{}.", counted(headers.size(), "run"),
                       counted(groups.size(), "group"), first.started_utc, last.started_utc,
                       chosen);
}

// The rate that a card shows for a command.
std::string rate_of(const std::string& command) {
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, command))
        if (vocabulary::quantity(name).kind == vocabulary::Kind::rate) return name;
    return "";
}

Object card(const std::string& question, const std::string& of, const std::string& answer,
            const std::vector<Caveat>& caveats, const std::string& section) {
    const auto doubts = sentences_of(caveats);
    return {{"question", question},
            {"of", of},
            {"answer", answer},
            {"section", section},
            {"doubts", doubts.empty() ? Data(false) : Data(some_of(doubts, 3, "; "))}};
}

// The rate of the newest runs of each command.
void add_rates(List& cards, const figures::Source& source) {
    const Groups& groups = source.groups;
    for (const auto& [command, question] : {std::pair{"train", "How fast does it train?"},
                                            {"io", "How fast does it write?"},
                                            {"comm", "How fast do ranks communicate?"}})
        if (const auto newest = figures::newest_groups(groups, command, kMostRated + 1);
            !newest.empty() && newest.size() <= kMostRated) {
            const std::size_t group = newest.front();
            const std::string rate = rate_of(command);
            if (!groups.has(group, rate)) continue;
            const Cell found = groups.estimate(group, rate);
            cards.push_back(card(question, groups.name(group),
                                 readable(found.number, found.interval, groups.unit(rate)) +
                                     formats::other_rates(source.newest(group)),
                                 figures::doubts_of(groups.table(), {group}), "summary"));
        }
}

// The warnings that runs stored, each with the number of its runs.
using RunWarnings = InsertionOrderedMap<std::string, std::pair<std::string, std::size_t>>;

// "Read this first": the gravest lines, and the others folded.
Data warnings_of(const Groups& groups, const RunWarnings& of_runs) {
    List all, rest;
    const auto add = [&](const std::string& text, bool bad) {
        (all.size() < kMostWarnings ? all : rest).push_back(Object{{"text", text}, {"bad", bad}});
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
    kinds.erase(CaveatKind::left_out);  // the first line has them
    for (const auto& [kind, count] : kinds)
        add(fmt::format("{} of {} {}", count, counted(groups.size(), "group"),
                        of_groups(kind, count)),
            false);
    auto apart = groups.apart();
    std::erase_if(apart, [&](const auto& key) {  // keys that are equal within each command
        if (key == "label") return true;         // each label is a series of its own
        std::map<std::string, std::set<std::string>> values;
        for (const std::size_t group : groups.all())
            values[groups.command(group)].insert(groups.key(group, key));
        return std::ranges::all_of(values, [](const auto& one) { return one.second.size() < 2; });
    });
    if (!apart.empty())
        add("runs that differ in " + some_of(apart, 6) +
                " are in separate groups, and not points of one curve",
            false);
    for (const auto& [text, runs] : of_runs.all())
        add(fmt::format("{}: {}", counted(runs, "run"), text), false);
    if (all.empty()) return Data(false);
    Object shown{{"all", all}};
    if (!rest.empty())
        shown["more"] = Object{{"count", fmt::to_string(rest.size())}, {"rest", rest}};
    return shown;
}

}  // namespace

std::string filled(const char* name, const Data& data,
                   const std::function<std::string(const std::string&)>& escape) {
    kainjow::mustache::mustache page{std::string(template_text(name))};
    page.set_custom_escape(escape);
    return page.render(data);
}

std::string html_page(const model::ChosenRuns& runs, const std::filesystem::path& folder,
                      const std::string& title,
                      const std::vector<std::pair<std::string, std::string>>& asked) {
    const model::References references = model::read_references(folder);
    const model::GroupQuery query{.measurements = model::names_shown(vocabulary::Shown::summary),
                                  .labels_apart = true};
    Frame table;
    RunWarnings warnings;
    std::set<std::string> labels;
    runs.visit(results::Detail::summaries, [&](const Run& run) {
        add_run(table, query, run);
        labels.insert(run.label);
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
    List cards;
    for (const auto& [question, answer] : asked)
        cards.push_back(card(question, "", answer, {}, "summary"));
    const auto add_cards = [&](bool ways) {
        for (const auto& section : drawn)
            for (const auto& [question, of, finding, doubts] : section.answers)
                if (ways == (section.id == "ways"))
                    cards.push_back(card(question, of, sentence(finding), doubts, section.id));
    };
    add_cards(false);
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
    if (widest != trained.end()) {
        const auto found = diagnosis::diagnose(source.newest_whole(*widest), runs.file());
        add("why", "Why is it slow", diagnosis::html_of(found));
        cards.push_back(
            card("What limits it?", groups.name(*widest), found.why, found.caveats, "why"));
    }
    add_rates(cards, source);
    add_cards(true);  // the last, since these may be many
    if (cards.size() > kMostCards) cards.resize(kMostCards);
    add_figures(false);
    const auto past = history::section_of(runs);
    if (!past.tables.empty()) add(past.id, past.heading, figures_of(past, not_drawn));
    if (!not_drawn.empty()) base::log::warn(not_drawn);
    add("ranks", "Rank by rank", ranks_of(source));
    add("runs", "Runs", runs_of(source));
    add("environment", "Environment",
        html_of(values_of(groups.runs(), groups.runs().all(Role::place))));
    add("definitions", "Definitions", definitions_of(groups));
    const bool labelled = !labels.empty() && !labels.contains("");
    const std::string name = !title.empty() ? title
                             : labelled     ? some_of(labels, 3)
                                            : runs.file().path().filename().string();
    return filled("page.html",
                  Object{{"title", name},
                         {"style", std::string(template_text("style.css"))},
                         {"lead", lead_of(runs, groups)},
                         {"cards", cards.empty() ? Data(false) : Data(Object{{"all", cards}})},
                         {"warnings", warnings_of(groups, warnings)},
                         {"sections", sections}});
}

}  // namespace ranklab::report::page
