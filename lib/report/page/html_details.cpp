#include <fmt/format.h>

#include <algorithm>

#include "report/page/html_sections.hpp"
#include "report/page/html_text.hpp"

namespace ranklab::report::page {
namespace {

using results::Run;

constexpr std::size_t kMostDetailed = 16;
constexpr std::size_t kMostFacts = 400;

std::string fact_row(const std::string& name, const std::string& value) {
    return fmt::format("<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td></tr>\n", name, value);
}

std::string measurements_table(const Run& run) {
    std::string rows;
    for (const auto& m : run.measurements) {
        rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td>",
                            definition_link(m.name), escape(m.unit, 20));
        for (const char* const field : {"n", "median", "ci95_low", "ci95_high", "p95", "min", "max"})
            rows += "<td>" + number_html(run, m, field) + "</td>";
        rows += "</tr>\n";
    }
    return "<div class=\"scroll\"><table><thead><tr><th>measurement</th><th "
           "class=\"text\">unit</th><th>n</th><th>median</th><th>95 % low</th><th>95 % "
           "high</th><th>p95</th><th>min</th><th>max</th></tr></thead><tbody>" +
           rows + "</tbody></table></div>\n";
}

std::string settings_text(const Run& run) {
    std::string text;
    for (const auto& [key, value, number] : run.config)
        if (!value.empty())
            text += fmt::format("{}<code>{} {}</code>", text.empty() ? "" : " ", escape(key, 60),
                                escape(value, 120));
    return text;
}

std::string run_html(const model::Group& group, const std::string& title, bool open) {
    const Run& run = group.newest;
    std::string facts = fact_row("run", escape(run.id)) +
                        fact_row("command line", "<code>" + escape(run.argv, 1000) + "</code>");
    if (!run.label.empty()) facts += fact_row("label", escape(run.label));
    facts += fact_row("started (UTC)", escape(run.started_utc)) +
             fact_row("ranks, nodes", fmt::format("{}, {}", group.ranks, group.nodes)) +
             fact_row("verification", escape(group.verified)) +
             fact_row("ranklab", escape(run.version + " " + run.git_revision)) +
             fact_row("settings", settings_text(run));
    for (const auto& fact : run.context)
        if (fact.section == "communication" && fact.key == "no_overlap")
            facts += fact_row("overlap", escape("n/a: " + fact.value, 600));
    for (const auto& warning : run.warnings) facts += fact_row("warning", escape(warning, 600));
    const std::string numbers = run.valid ? measurements_table(run)
                                          : fmt::format(
                                                "<p class=\"bad\">INVALID (exit code {}): its numbers are "
                                                "not shown, since they do not stand.</p>\n",
                                                run.exit_code);
    return fmt::format(
        "<details class=\"run\" id=\"run-{}\"{}><summary>{} <span class=\"unit\">{} rank{}, "
        "{}</span></summary>\n{}<div "
        "class=\"scroll\"><table class=\"facts\"><tbody>{}</tbody></table></div></details>\n",
        anchor(run.id), open ? " open" : "", escape(title, 200), group.ranks, group.ranks == 1 ? "" : "s",
        escape(run.id), numbers, facts);
}

// A row of values and how many runs have each.
std::string values_text(const std::map<std::string, std::size_t>& values) {
    std::string text;
    for (const auto& [value, runs] : values)
        text += fmt::format("{}{} <span class=\"unit\">{} run{}</span>", text.empty() ? "" : "<br>",
                            value.empty() ? "(empty)" : escape(value, 160), runs, runs == 1 ? "" : "s");
    return text;
}

std::string hosts_text(const model::Campaign& campaign) {
    std::string text;
    std::size_t shown = 0;
    for (const auto& [host, runs] : campaign.hosts())
        if (++shown <= 20) text += (text.empty() ? "" : ", ") + escape(host, 80);
    return shown > 20 ? text + fmt::format(" … and {} more", shown - 20) : text;
}

std::string facts_table(const std::string& rows) {
    return "<div class=\"scroll\"><table class=\"facts\"><tbody>" + rows + "</tbody></table></div>\n";
}

}  // namespace

std::vector<const model::Group*> detailed_groups(const model::Campaign& campaign) {
    return recent_groups(campaign, "", kMostDetailed);
}

std::string run_link(const PageInput& input, const model::Group& group, const std::string& html) {
    const auto shown = detailed_groups(input.campaign);
    if (std::find(shown.begin(), shown.end(), &group) == shown.end()) return html;
    return fmt::format("<a href=\"#run-{}\">{}</a>", anchor(group.newest.id), html);
}

std::string details_html(const PageInput& input) {
    std::string text;
    const auto& campaign = input.campaign;
    const auto groups = detailed_groups(campaign);
    const auto titles = model::group_titles(groups);
    for (std::size_t i = 0; i < groups.size(); ++i)
        text += run_html(*groups[i], titles[i], groups.size() == 1);
    const auto all = recent_groups(campaign, "", SIZE_MAX).size();
    if (all > groups.size())
        text += fmt::format(
            "<p class=\"more\">… and {} more groups, not as recent: choose with --where, or see one run with "
            "--run ID.</p>\n",
            all - groups.size());
    return text;
}

std::string environment_html(const PageInput& input) {
    const model::Campaign& campaign = input.campaign;
    if (campaign.runs() == 0) return "";
    std::string same, different;
    std::size_t facts = 0;
    for (const auto& [fact, values] : campaign.facts()) {
        if (++facts > kMostFacts) break;
        std::size_t runs = 0;
        for (const auto& [value, count] : values) runs += count;
        if (values.size() == 1 && runs == campaign.runs()) {
            same += fact_row(escape(fact, 80), escape(values.begin()->first, 300));
        } else {
            different += fact_row(escape(fact, 80), values_text(values));
        }
    }
    std::string text = fmt::format("<p>Hosts: {}.</p>\n", hosts_text(campaign));
    if (!different.empty())
        text += "<h3>Not the same in all runs</h3>\n<p>Compare runs that differ in these with care.</p>\n" +
                facts_table(different);
    return text + "<details" + (different.empty() ? " open" : "") +
           "><summary>The same in all runs</summary>\n" + facts_table(same) + "</details>\n";
}

}  // namespace ranklab::report::page
