#include <fmt/format.h>

#include <algorithm>

#include "report/model/storage_place.hpp"
#include "report/page/sections.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using figures::Word;
using Kind = Word::Kind;

std::string heading_of(const std::string& command) {
    if (command == "comm") return "Collectives";
    return command == "train" ? "Training" : command == "io" ? "Writing and reading files" : command;
}

// Of a command of which the vocabulary shows nothing: what its newest group measured first.
std::vector<std::string> columns_of(const std::string& command, const model::Group& newest) {
    auto names = vocabulary::shown_at(vocabulary::Shown::summary, command);
    if (!names.empty()) return names;
    for (const auto& m : newest.newest.measurements)
        if (names.size() < 4) names.push_back(m.name);
    return names;
}

figures::Words remarks(const model::Group& group) {
    figures::Words words{verdict_of(group)};
    if (const auto crowd = group.cores.oversubscribed(); !crowd.empty())
        words.push_back({figures::Word::Kind::bad, " oversubscribed: " + crowd});
    return words;
}

std::string unit_of(const std::vector<const model::Group*>& groups, const std::string& name) {
    for (const model::Group* group : groups)
        if (const auto* m = group->newest.find(name)) return m->unit;
    return "";
}

Data group_data(const PageInput& input, const model::Group& group, const std::string& title,
                const std::vector<std::string>& names) {
    List cells;
    for (const auto& name : names) {
        const auto found = figures::estimate_of(group, name);
        cells.push_back(cell_data(found.empty() ? figures::Words{{Kind::none, "–"}}
                                                : figures::for_reading(found, unit_of({&group}, name))));
    }
    return Object{{"link", run_anchor(input, group.newest.id)},
                  {"title", figures::cut(title, 200)},
                  {"ranks", fmt::to_string(group.ranks)},
                  {"runs", fmt::to_string(group.all())},
                  {"invalid", if_any(group.invalid == 0 ? "" : fmt::to_string(group.invalid))},
                  {"cells", cells},
                  {"words", words_data(remarks(group))},
                  {"time", group.last_utc},
                  {"day", group.last_utc.substr(0, 10)}};
}

List columns_data(const std::vector<const model::Group*>& groups, const std::vector<std::string>& names) {
    List columns;
    for (const auto& name : names)
        columns.push_back(named(name, figures::unit_for_reading(unit_of(groups, name))));
    return columns;
}

// A rate of writing or reading says nothing without it.
std::string placed(const model::Group& group, const std::string& title) {
    if (group.newest.command != "io" || group.newest.find_table("ladder") != nullptr) return title;
    return fmt::format("{} ({})", title, model::place_text(model::storage_place(group.newest)));
}

Data command_data(const PageInput& input, const std::string& heading,
                  const std::vector<const model::Group*>& groups, std::vector<std::string> names,
                  std::size_t more) {
    std::erase_if(names, [&](const std::string& name) {  // what none of them has
        return std::ranges::none_of(
            groups, [&](const model::Group* group) { return group->newest.find(name) != nullptr; });
    });
    const auto titles = model::group_titles(groups);
    List rows;
    for (std::size_t i = 0; i < groups.size(); ++i)
        rows.push_back(group_data(input, *groups[i], placed(*groups[i], titles[i]), names));
    return Object{{"command", heading},
                  {"columns", columns_data(groups, names)},
                  {"groups", rows},
                  {"more", more_data(more, input.how_to.choose)}};
}

std::vector<std::string> commands_of(const model::GroupedRuns& grouped) {
    std::vector<std::string> commands;
    for (const auto& group : grouped.groups())
        if (std::ranges::find(commands, group.newest.command) == commands.end())
            commands.push_back(group.newest.command);
    return commands;
}

}  // namespace

Word verdict_of(const model::Group& group) {
    if (!group.valid()) return {Kind::bad, "INVALID"};
    if (group.verified.empty()) return {Kind::none, "–"};
    if (group.verified == "yes") return {Kind::good, "verified"};
    if (group.verified == "NO") return {Kind::bad, "FAILED"};
    return {Kind::none, figures::cut(group.verified, 60)};
}

Data summary_data(const PageInput& input) {
    List commands;
    for (const auto& command : commands_of(input.grouped())) {
        const auto groups = model::recent_groups(input.grouped(), command, input.most_groups);
        if (groups.empty()) continue;
        const std::size_t more =
            model::recent_groups(input.grouped(), command, SIZE_MAX).size() - groups.size();
        commands.push_back(
            command_data(input, heading_of(command), groups, columns_of(command, *groups.back()), more));
    }
    return Object{{"commands", commands}};
}

}  // namespace ranklab::report::page
