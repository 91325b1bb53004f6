#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/log.hpp"
#include "report/frame/readable.hpp"
#include "report/frame/write.hpp"
#include "report/page/html.hpp"
#include "report/page/parts.hpp"
#include "report/page/templates.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::page {
namespace {

using results::Run;

// What the page's tables and figures show.
std::vector<std::string> measurements() {
    std::vector<std::string> names;
    for (const char* command : {"train", "io", "comm"})
        for (auto& name : vocabulary::shown_at(vocabulary::Shown::summary, command))
            names.push_back(std::move(name));
    return names;
}

std::string lead_of(const model::ChosenRuns& runs, const model::Groups& groups) {
    const auto headers = runs.headers();
    if (headers.empty()) return "No run of this file was asked for, or it has none.";
    const auto [first, last] = std::ranges::minmax(headers, {}, &results::RunHeader::started_utc);
    const std::string chosen = runs.text().empty() ? "" : "; chosen: " + runs.text();
    return fmt::format("{} in {}, {} .. {}{}.", counted(headers.size(), "run"),
                       counted(groups.all.size(), "group"), first.started_utc, last.started_utc, chosen);
}

}  // namespace

std::string filled(const char* name, const Data& data) {
    kainjow::mustache::mustache page{std::string(template_text(name))};
    if (!page.is_valid())
        throw base::Error(fmt::format("internal: the template '{}' is none: {}", name, page.error_message()));
    page.set_custom_escape([](const std::string& text) { return html_escape(text); });
    return page.render(data);
}

std::string html_page(const model::ChosenRuns& runs, const std::filesystem::path& folder) {
    const model::References references = model::read_references(folder);
    for (const auto& problem : references.problems) base::log::warn(problem);
    model::RunsFrame frame({{}, measurements(), {}});
    std::size_t invalid = 0;
    InOrderMet<std::string, std::pair<std::string, std::size_t>> warnings;
    runs.visit(results::Detail::summaries, [&](const Run& run) {
        frame.add(run);
        invalid += run.valid ? 0 : 1;
        for (const auto& warning : run.warnings)
            warnings[warning].first = warning, ++warnings[warning].second;
    });
    const model::Groups groups(std::move(frame));
    const auto& file = runs.file();
    Input input{
        {groups, [&](const std::string& id) { return file.read(id); },
         [&](const std::string& id) { return file.read(id, results::Detail::summaries); }, &file, references},
        invalid,
        warnings.all()};
    for (const auto* group : detailed_groups(groups)) input.shown.insert(groups.newest(*group));
    List sections;
    const auto add = [&](const std::string& id, const std::string& heading, const std::string& body) {
        if (!body.empty()) sections.push_back(Object{{"id", id}, {"heading", heading}, {"body", body}});
    };
    const auto drawn = figures::sections_of(input.source);
    std::string not_drawn;
    const auto add_figures = [&](bool scaling) {
        for (const auto& section : drawn)
            if (section.id.ends_with("-scaling") == scaling)
                add(section.id, section.heading, figures_of(section, not_drawn));
    };
    add_figures(true);  // that is what most come for
    add("summary", "Summary", summary_of(input));
    add_figures(false);
    if (!not_drawn.empty()) base::log::warn(not_drawn);
    add("ranks", "Rank by rank", ranks_of(input));
    add("runs", "Runs", runs_of(input));
    add("environment", "Environment", environment_of(input));
    add("definitions", "Definitions", definitions_of(input));
    return filled("page.html", Object{{"file", file.path().filename().string()},
                                      {"style", std::string(template_text("style.css"))},
                                      {"lead", lead_of(runs, groups)},
                                      {"headlines", headlines_of(input)},
                                      {"warnings", warnings_of(input)},
                                      {"sections", sections}});
}

}  // namespace ranklab::report::page
