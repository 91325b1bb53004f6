#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/page/sections.hpp"

namespace ranklab::report::page {
namespace {

using figures::Word;
using Kind = Word::Kind;

struct ColumnsOf {
    const char* command;
    const char* heading;
    std::vector<const char*> measurements;
};
const std::vector<ColumnsOf>& known_columns() {
    static const std::vector<ColumnsOf> kKnown{
        {"train",
         "Training",
         {"step_time_s", "throughput_samples_per_s", "sync_exposed_time_s", "peak_rss_bytes"}},
        {"io", "Writing and reading files", {"job_time_s", "write_MiBps", "read_MiBps", "files_per_s"}}};
    return kKnown;
}

// Of a command that this page has no columns for: what its newest group measured first.
std::vector<const char*> first_measurements(const model::Group& group) {
    std::vector<const char*> names;
    for (const auto& m : group.newest.measurements)
        if (names.size() < 4) names.push_back(m.name.c_str());
    return names;
}

Word verdict(const model::Group& group) {
    if (group.valid == 0) return {Kind::bad, "INVALID"};
    if (group.verified.empty()) return {Kind::none, "–"};
    if (group.verified == "yes") return {Kind::good, "verified"};
    if (group.verified == "NO") return {Kind::bad, "FAILED"};
    return {Kind::none, figures::cut(group.verified, 60)};
}

std::string unit_of(const std::vector<const model::Group*>& groups, const std::string& name) {
    for (const model::Group* group : groups)
        if (const auto* m = group->newest.find(name)) return m->unit;
    return "";
}

Data group_data(const PageInput& input, const model::Group& group, const std::string& title,
                const std::vector<const char*>& names) {
    List cells;
    for (const char* name : names) {
        const auto found = figures::estimate_of(group, name);
        cells.push_back(cell_data(found.empty() ? figures::Words{{Kind::none, "–"}} : found));
    }
    const std::size_t invalid = group.runs - group.valid;
    return Object{{"link", run_anchor(input, group)},
                  {"title", figures::cut(title, 200)},
                  {"ranks", fmt::to_string(group.ranks)},
                  {"runs", fmt::to_string(group.runs)},
                  {"invalid", if_any(invalid == 0 ? "" : fmt::to_string(invalid))},
                  {"cells", cells},
                  {"words", words_data({verdict(group)})},
                  {"time", group.last_utc},
                  {"day", group.last_utc.substr(0, 10)}};
}

List columns_data(const std::vector<const model::Group*>& groups, const std::vector<const char*>& names) {
    List columns;
    for (const char* name : names)
        columns.push_back(Object{{"anchor", figures::plain_name(name)},
                                 {"name", figures::cut(name, 80)},
                                 {"unit", figures::cut(unit_of(groups, name), 20)}});
    return columns;
}

Data command_data(const PageInput& input, const std::string& heading,
                  const std::vector<const model::Group*>& groups, std::vector<const char*> names,
                  std::size_t more) {
    std::erase_if(names, [&](const char* name) {  // what none of them has
        return std::none_of(groups.begin(), groups.end(),
                            [&](const model::Group* group) { return group->newest.find(name) != nullptr; });
    });
    const auto titles = model::group_titles(groups);
    List rows;
    for (std::size_t i = 0; i < groups.size(); ++i)
        rows.push_back(group_data(input, *groups[i], titles[i], names));
    return Object{{"command", heading},
                  {"columns", columns_data(groups, names)},
                  {"groups", rows},
                  {"more", if_any(more == 0 ? "" : fmt::to_string(more))}};
}

std::vector<std::string> commands_of(const model::Campaign& campaign) {
    std::vector<std::string> commands;
    for (const auto& group : campaign.groups())
        if (std::find(commands.begin(), commands.end(), group.newest.command) == commands.end())
            commands.push_back(group.newest.command);
    return commands;
}

}  // namespace

Data summary_data(const PageInput& input) {
    List commands;
    for (const auto& command : commands_of(input.campaign())) {
        const auto groups = model::recent_groups(input.campaign(), command, input.most_groups);
        if (groups.empty()) continue;
        const std::size_t more =
            model::recent_groups(input.campaign(), command, SIZE_MAX).size() - groups.size();
        const auto known = std::find_if(known_columns().begin(), known_columns().end(),
                                        [&](const ColumnsOf& one) { return command == one.command; });
        commands.push_back(
            known == known_columns().end()
                ? command_data(input, command, groups, first_measurements(*groups.back()), more)
                : command_data(input, known->heading, groups, known->measurements, more));
    }
    return Object{{"commands", commands}};
}

}  // namespace ranklab::report::page
