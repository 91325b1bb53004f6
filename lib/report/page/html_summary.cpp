#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/page/html_sections.hpp"
#include "report/page/html_text.hpp"

namespace ranklab::report::page {
namespace {

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

std::string verdict(const model::Group& group) {
    if (group.valid == 0) return "<span class=\"bad\">INVALID</span>";
    if (group.verified.empty()) return "<span class=\"none\">–</span>";
    if (group.verified == "yes") return "<span class=\"good\">verified</span>";
    return group.verified == "NO" ? "<span class=\"bad\">FAILED</span>"
                                  : fmt::format("<span class=\"none\">{}</span>", escape(group.verified, 60));
}

std::string unit_of(const std::vector<const model::Group*>& groups, const std::string& name) {
    for (const model::Group* group : groups)
        if (const auto* m = group->newest.find(name)) return m->unit;
    return "";
}

std::string run_count(const model::Group& group) {
    return group.valid == group.runs ? fmt::format("{}", group.runs)
                                     : fmt::format("{} <span class=\"bad\">({} invalid)</span>", group.runs,
                                                   group.runs - group.valid);
}

std::string group_row(const PageInput& input, const model::Group& group, const std::string& title,
                      const std::vector<const char*>& names) {
    std::string cells;
    for (const char* name : names) {
        const std::string found = estimate_html(group, name);
        cells += fmt::format("<td>{}</td>", found.empty() ? "<span class=\"none\">–</span>" : found);
    }
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>{}<td "
        "class=\"text\">{}</td>"
        "<td class=\"text\" title=\"{}\">{}</td></tr>\n",
        run_link(input, group, escape(title, 200)), group.ranks, run_count(group), cells, verdict(group),
        escape(group.last_utc), escape(group.last_utc.substr(0, 10)));
}

std::string table_of(const PageInput& input, const std::string& heading,
                     const std::vector<const model::Group*>& groups, const std::vector<const char*>& wanted) {
    std::vector<const char*> names = wanted;  // without those that none of them has
    std::erase_if(names, [&](const char* name) {
        return std::none_of(groups.begin(), groups.end(),
                            [&](const model::Group* group) { return group->newest.find(name) != nullptr; });
    });
    const auto titles = model::group_titles(groups);
    std::string head = "<th>group</th><th>ranks</th><th>runs</th>", rows;
    for (const char* name : names)
        head += fmt::format("<th>{}<br><span class=\"unit\">[{}]</span></th>", definition_link(name),
                            escape(unit_of(groups, name), 20));
    for (std::size_t i = 0; i < groups.size(); ++i) rows += group_row(input, *groups[i], titles[i], names);
    return fmt::format(
        "<h3>{}</h3>\n<div class=\"scroll\"><table class=\"summary\"><thead><tr>{}<th "
        "class=\"text\">verification</th><th "
        "class=\"text\">newest</th></tr></thead><tbody>{}</tbody></table></div>\n",
        escape(heading), head, rows);
}

std::vector<std::string> commands_of(const model::Campaign& campaign) {
    std::vector<std::string> commands;
    for (const auto& group : campaign.groups())
        if (std::find(commands.begin(), commands.end(), group.newest.command) == commands.end())
            commands.push_back(group.newest.command);
    return commands;
}

// The run that holds a ladder's table has no measurements of its own; the ladder's figure shows it.
bool has_row(const model::Group& group) {
    return !group.newest.measurements.empty() || !group.newest.valid;
}

constexpr std::size_t kMostWarnings = 6;  // at once: a longer list is not read

std::string notice_item(const std::string& text, std::size_t runs, const std::string& newest,
                        const char* kind) {
    return fmt::format("<li{}>{} <span class=\"unit\">{} {}</span></li>\n", kind, escape(text, 400),
                       runs == 1 ? "run" : fmt::format("{} runs, newest", runs), escape(newest));
}

std::string unverified_item(const std::vector<std::string>& runs) {
    const bool one = runs.size() == 1;
    return fmt::format(
        "<li>{} run{} not verified: {} checks say “not verified”, since there was nothing to compare with "
        "(one "
        "rank alone, no sync, no reading back), so nothing says that {} computed or wrote the right thing. "
        "<span "
        "class=\"unit\">newest {}</span></li>\n",
        runs.size(), one ? " is" : "s are", one ? "its" : "their", one ? "it" : "they", escape(runs.back()));
}

// The worst first.
std::vector<std::string> warning_items(const PageInput& input) {
    const model::Campaign& campaign = input.campaign;
    constexpr const char* kBad = " class=\"bad\"";
    std::vector<std::string> items;
    if (campaign.invalid() > 0)
        items.push_back(
            fmt::format("<li class=\"bad\"><strong>{} of {} runs are invalid.</strong> None of their numbers "
                        "is used.</li>\n",
                        campaign.invalid(), campaign.runs()));
    for (const auto& why : campaign.invalid_runs().sorted())
        items.push_back(notice_item("INVALID: " + why.text, why.runs, why.newest, kBad));
    if (!campaign.failed().empty())
        items.push_back(
            notice_item("a verification failed", campaign.failed().size(), campaign.failed().back(), kBad));
    if (!campaign.unverified().empty()) items.push_back(unverified_item(campaign.unverified()));
    const auto single =
        std::count_if(campaign.groups().begin(), campaign.groups().end(),
                      [](const model::Group& group) { return has_row(group) && group.valid == 1; });
    if (single > 0)
        items.push_back(
            fmt::format("<li>{} group{} a single valid run: intervals are then of the steps or repetitions "
                        "within it. How "
                        "far another run may be off is not in them.</li>\n",
                        single, single == 1 ? " has" : "s have"));
    if (const auto apart = model::kept_apart(campaign); !apart.empty())
        items.push_back(
            fmt::format("<li>Runs of different surroundings are not pooled, and are no points of one curve: "
                        "they differ in {}.</li>\n",
                        escape(base::join(apart, "; "), 600)));
    for (const auto& warning : campaign.warnings().sorted())
        items.push_back(notice_item(warning.text, warning.runs, warning.newest, ""));
    if (campaign.warnings().full() || campaign.invalid_runs().full())
        items.push_back(fmt::format("<li>… only the first {} different sentences are kept.</li>\n",
                                    model::Notices::kMost));
    return items;
}

}  // namespace

std::vector<const model::Group*> recent_groups(const model::Campaign& campaign, const std::string& command,
                                               std::size_t most) {
    std::vector<const model::Group*> groups;
    for (const auto& group : campaign.groups())
        if ((command.empty() || group.newest.command == command) && has_row(group)) groups.push_back(&group);
    if (groups.size() <= most) return groups;
    std::vector<const model::Group*> newest = groups;
    std::nth_element(newest.begin(), newest.begin() + static_cast<std::ptrdiff_t>(most), newest.end(),
                     [](const model::Group* a, const model::Group* b) { return a->last_utc > b->last_utc; });
    newest.resize(most);
    std::erase_if(groups, [&](const model::Group* group) {
        return std::find(newest.begin(), newest.end(), group) == newest.end();
    });
    return groups;
}

std::string warnings_html(const PageInput& input) {
    const auto items = warning_items(input);
    std::string first, rest;
    for (std::size_t i = 0; i < items.size(); ++i) (i < kMostWarnings ? first : rest) += items[i];
    if (first.empty()) return "";
    std::string text = "<ul class=\"notices\">\n" + first + "</ul>\n";
    if (!rest.empty())
        text += fmt::format("<details><summary>{} more</summary><ul class=\"notices\">\n{}</ul></details>\n",
                            items.size() - kMostWarnings, rest);
    return text;
}

std::string summary_html(const PageInput& input) {
    std::string text =
        "<p>Rows are groups of runs with the same settings, measured in the same surroundings (hosts, "
        "processors, build, libraries). Numbers are medians with their 95 % intervals: "
        "over "
        "runs where a group has six valid ones, otherwise over the steps or repetitions of its newest. The "
        "pointer "
        "shows every digit, and where the number stands in the file.</p>\n";
    for (const auto& command : commands_of(input.campaign)) {
        const auto groups = recent_groups(input.campaign, command, input.most_groups);
        if (groups.empty()) continue;
        const auto known = std::find_if(known_columns().begin(), known_columns().end(),
                                        [&](const ColumnsOf& one) { return command == one.command; });
        text += known == known_columns().end()
                    ? table_of(input, command, groups, first_measurements(*groups.back()))
                    : table_of(input, known->heading, groups, known->measurements);
        const auto all = recent_groups(input.campaign, command, SIZE_MAX).size();
        if (all > groups.size())
            text += fmt::format(
                "<p class=\"more\">… and {} more groups, not as recent: choose with --where.</p>\n",
                all - groups.size());
    }
    return text;
}

}  // namespace ranklab::report::page
