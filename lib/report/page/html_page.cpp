#include "report/page/html.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "report/page/html_sections.hpp"
#include "report/page/html_text.hpp"

namespace ranklab::report::page {
namespace {

constexpr std::size_t kMostCompleted = 200;  // groups; more than the page shows of any command

struct Section {
    std::string id, title, html;
};

std::string scaling_html(const PageInput& input, Drawer& drawer) {
    const std::string weak = drawer.row(scaling_figures(input, stats::Scaling::weak));
    const std::string strong = drawer.row(scaling_figures(input, stats::Scaling::strong));
    return (weak.empty() ? "" : "<h3>Weak: each rank keeps its batch</h3>\n" + weak) +
           (strong.empty() ? "" : "<h3>Strong: ranks share one batch</h3>\n" + strong);
}

// The scaling of training on top, since that is what most come for.
std::vector<Section> sections_of(const PageInput& input, Drawer& drawer) {
    std::vector<Section> sections{
        {"summary", "Summary", summary_html(input)},
        {"scaling", "Scaling of training", scaling_html(input, drawer)},
        {"phases", "Where a step's time goes", drawer.row(phase_figures(input))},
        {"messages", "Message sizes", drawer.row(message_figures(input))},
        {"ranks", "Rank by rank", ranks_html(input)},
        {"ladder", "The file-writing ladder", drawer.row(ladder_figures(input))},
        {"io-scaling", "Scaling of writing", drawer.row(io_scaling_figures(input))},
        {"steps", "Step by step", drawer.row(step_figures(input))},
        {"losses", "Losses", drawer.row(loss_figures(input))},
        {"reference", "Published figures", drawer.row(reference_figures(input)) + reference_html(input)},
        {"runs", "Newest run of each group", details_html(input)},
        {"environment", "Environment", environment_html(input)},
        {"definitions", "Definitions", definitions_html(input)}};
    std::erase_if(sections, [](const Section& section) { return section.html.empty(); });
    return sections;
}

std::string contents_html(const std::vector<Section>& sections) {
    std::string items;
    for (const auto& section : sections)
        items += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, section.title);
    return "<nav aria-label=\"Contents\"><ul>" + items + "</ul></nav>\n";
}

std::string lead_html(const PageInput& input) {
    const model::Campaign& campaign = input.campaign;
    if (campaign.runs() == 0)
        return "<p class=\"lead\">No run of this file was asked for, or it has none.</p>\n";
    return fmt::format(
        "<p class=\"lead\"><strong>{}</strong> run{} in <strong>{}</strong> group{} on {} host{}, from "
        "<time>{}</time> to "
        "<time>{}</time>{}</p>\n{}",
        campaign.runs(), campaign.runs() == 1 ? "" : "s", campaign.groups().size(),
        campaign.groups().size() == 1 ? "" : "s", campaign.hosts().size(),
        campaign.hosts().size() == 1 ? "" : "s", escape(campaign.first_utc()), escape(campaign.last_utc()),
        campaign.invalid() == 0 ? "; all are valid." : ".",
        input.choice.empty() ? ""
                             : fmt::format("<p class=\"lead\">Chosen: {}.</p>\n", escape(input.choice, 300)));
}

std::string page_of(const PageInput& input) {
    Drawer drawer;
    const auto sections = sections_of(input, drawer);
    std::string body;
    for (const auto& section : sections)
        body += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", section.id, section.title,
                            section.html);
    const std::string title = escape(input.file, 120);
    const std::string warnings = warnings_html(input);
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
        "dark\">\n"
        "<title>{0} – ranklab</title>\n<style>\n{1}</style>\n</head>\n<body>\n<header>\n<p "
        "class=\"brand\">ranklab "
        "report</p>\n<h1>{0}</h1>\n{2}{3}{4}</header>\n<main>\n{5}</main>\n</body>\n</html>\n",
        title, page_style(), lead_html(input),
        warnings.empty() ? ""
                         : "<section class=\"warn\" id=\"warnings\"><h2>Read this first</h2>\n" + warnings +
                               "</section>\n",
        contents_html(sections), body);
}

}  // namespace

std::string html_page(const model::ChosenRuns& runs, const HtmlOptions& options) {
    model::Campaign campaign;
    runs.visit(results::Detail::measurements, [&](results::Run&& run) { campaign.add(std::move(run)); });
    campaign.complete([&](const std::string& id) { return runs.file().read(id, results::Detail::summaries); },
                      kMostCompleted);
    model::References references = model::read_references(options.reference);
    for (const auto& problem : references.problems) base::log::warn(problem);
    const auto load = [&](const std::string& id) { return runs.file().read(id); };
    return page_of({campaign, load, runs.file().path().filename().string(), runs.text(),
                    std::move(references), options.most_groups});
}

}  // namespace ranklab::report::page
