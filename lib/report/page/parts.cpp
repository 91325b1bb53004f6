#include "report/page/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using model::Groups;
using results::Run;

constexpr std::size_t kMostRows = 60, kMostRanks = 128;

// Percent-encodes what a URL in a quoted attribute may not hold.
std::string url_text(std::string_view text) {
    std::string safe;
    for (const unsigned char c : text)
        if (c <= ' ' || std::string_view("%#<>\"&':(").find(static_cast<char>(c)) != text.npos)
            safe += fmt::format("%{:02X}", c);
        else
            safe += static_cast<char>(c);
    return safe;
}

// The numbers of a figure, at most kMost.
Frame numbers_of(const figures::Figure& figure) {
    constexpr std::size_t kMost = 300;
    Frame numbers = frame_of(figure);
    numbers.title.clear();
    if (numbers.rows.size() > kMost) {
        numbers.notes.push_back(
            fmt::format("{} more points: --plots writes all", numbers.rows.size() - kMost));
        numbers.rows.resize(kMost);
    }
    return numbers;
}

Frame facts_frame(const Run& run) {
    Frame frame{.columns = columns_of("fact* | value")};
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) frame.rows.push_back({{name, value}, {}});
    };
    add("typed", run.argv);
    add("label", run.label);
    add("started", run.started_utc);
    add("ranks, nodes", fmt::format("{}, {}", run.hosts.size(), model::node_count(run)));
    add("verified", run.verified_text());
    add("cut short", run.cut_short());
    add("ranklab", base::trim(run.version + " " + run.git_revision));
    for (const auto& [key, value, number] : run.config) add(key, value);
    for (const auto& warning : run.warnings) add("warning", warning);
    return frame;
}

}  // namespace

Frame summary_frame(const Groups& groups, const std::string& command) {
    const auto shown = figures::newest_groups(groups, command, SIZE_MAX);
    const Frame& table = groups.table();
    Places columns{table.find("title"), table.find(setting::kRanks, Role::factor),
                   table.find("runs")};
    for (const auto work : {setting::kFiles, setting::kSize})  // rows of other work are no rivals
        if (std::ranges::any_of(shown, [&](std::size_t group) {
                return groups.factor(group, work) != groups.factor(shown.front(), work);
            }))
            columns.push_back(table.find(work, Role::factor));
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, command))
        columns.push_back(table.find(name, Role::measured));
    Frame frame = table.select(columns);
    frame.columns.front().role = Role::key;
    const auto rows = std::exchange(frame.rows, {});
    for (std::size_t i = 0; i < std::min(shown.size(), kMostRows); ++i)
        frame.rows.push_back(rows[shown[i]]);
    frame.drop_empty_columns();
    if (shown.size() > kMostRows)
        frame.notes.push_back(
            fmt::format("{} older groups are not shown; choose groups with --where KEY=VALUE",
                        shown.size() - kMostRows));
    return frame;
}

std::string summary_of(const Groups& groups) {
    std::string text;
    for (const auto& [command, heading] : {std::pair{"train", "Training"},
                                           {"io", "Writing and reading files"},
                                           {"comm", "Collectives"}}) {
        Frame frame = summary_frame(groups, command);
        frame.title = heading;
        text += html_of(frame);
    }
    return text.empty()
               ? ""
               : text +
                     "<p class=\"note\">Medians over the runs of a group with 95 % intervals from "
                     "six runs on; of a single run over its own steps or repetitions.</p>\n";
}

std::string figures_of(const figures::Section& section, std::string& not_drawn) {
    List drawn;
    for (const auto& figure : section.figures) {
        std::string why_not;
        const auto svg = figures::draw_svg(figure, why_not);
        if (!svg) not_drawn = why_not;
        drawn.push_back(Object{{"name", figure.name},
                               {"title", figure.title},
                               {"caption", figure.caption},
                               {"picture", svg ? Data(url_text(*svg)) : Data(false)},
                               {"why_not", why_not},
                               {"numbers", html_of(numbers_of(figure))}});
    }
    std::string tables;
    for (const auto& table : section.tables) tables += html_of(table);
    for (const auto& line : section.text) tables += "<p>" + html_escape(line) + "</p>\n";
    return filled("figures.html", Object{{"figures", drawn}, {"tables", tables}});
}

std::string ranks_of(const figures::Source& source) {
    for (const std::size_t group : figures::newest_groups(source.groups, "", SIZE_MAX)) {
        const Run run = source.newest(group);
        for (const char* name : {"waiting", "io_ranks"})
            if (const auto* table = run.find_table(name);
                table != nullptr && run.hosts.size() > 1) {
                Frame frame = model::frame_of(*table, kMostRanks);
                frame.title = source.groups.name(group);
                return html_of(frame);
            }
    }
    return "";
}

std::string runs_of(const figures::Source& source) {
    const auto groups = figures::newest_groups(source.groups, "", kMostDetailed);
    std::string text;
    for (const std::size_t group : groups) {
        const Run run = source.newest(group);
        text += filled(
            "run.html",
            Object{{"id", run.id},
                   {"name", fmt::format("{} ({})", source.groups.name(group),
                                        counted(source.groups.members(group).size(), "run"))},
                   {"open", groups.size() == 1},
                   {"measurements", html_of(model::measurements_of(run))},
                   {"facts", html_of(facts_frame(run))}});
    }
    return text;
}

Frame values_of(const Frame& runs, const Places& columns) {
    constexpr std::size_t kMostValues = 6;
    Frame frame{.columns = columns_of("fact* | value")};
    for (const std::size_t column : columns) {
        std::map<std::string, std::size_t> values;
        for (std::size_t row = 0; row < runs.rows.size(); ++row)
            if (const Cell& cell = runs.at(row, column); !cell.empty()) ++values[cell.text];
        std::vector<std::string> texts;
        for (const auto& [value, some] : values)
            texts.push_back(
                values.size() == 1 ? value : fmt::format("{} ({})", value, counted(some, "run")));
        if (!texts.empty())
            frame.rows.push_back({{runs.columns[column].name, some_of(texts, kMostValues, " | ")}});
    }
    frame.sort({0});
    return frame;
}

std::string definitions_of(const Groups& groups) {
    Frame frame{.columns = columns_of("measurement* | unit | definition")};
    const auto shown = groups.measurements();
    for (const auto& known : vocabulary::quantities())
        if (std::ranges::find(shown, known.name) != shown.end() ||
            known.part_of == vocabulary::kStepTime)
            frame.rows.push_back(
                {{std::string(known.name), std::string(known.unit), std::string(known.definition)},
                 {}});
    frame.rows.push_back({{"speedup, efficiency", "1",
                           "speedup: T(baseline) / T; efficiency: speedup / (cores / baseline "
                           "cores), in weak scaling times the growth of the work; T: median "
                           "step_time_s (io: job_time_s); cores: those that compute"},
                          {}});
    return html_of(frame);
}

}  // namespace ranklab::report::page
