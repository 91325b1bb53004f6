// The scaling section of a proposal: parts that each format writes in its way.
#include <fmt/format.h>

#include <set>

#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/page/parts.hpp"
#include "report/page/templates.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::page {
namespace {

using model::Centre;
using model::ScaledCurve;
using model::ScaledPoint;
using Texts = std::vector<std::string>;

struct Part {
    figures::Section section;
    Texts text = {};
};

constexpr const char* kFigures = "report --plots plots, with the same selection, draws the figures";

// Between runs: a single run's own interval says nothing of the next run.
std::string time_text(const ScaledPoint& point, double factor, const std::string& unit) {
    const auto ci = point.time.runs > 1 ? point.time.ci : stats::Interval();
    return readable(point.time.value * factor, {ci.low * factor, ci.high * factor}, unit);
}

std::string name_of(const ScaledPoint& point) {
    return counted(static_cast<std::size_t>(point.width), "rank") + " on " +
           counted(point.nodes, "node");
}

std::string scaling_text(const ScaledCurve& curve, const model::Groups& groups) {
    const ScaledPoint& last = curve.points.back();
    Texts widths;
    for (const auto& point : curve.points) widths.push_back(fmt::format("{}", point.width));
    const auto ratio = [](const auto& found) { return readable(found.ratio, found.ci, "1"); };
    return fmt::format(
        "{} scaling of {} over {} ranks; {}. {}: {} {}, speedup {} over the base case, efficiency "
        "over the base {}, speedup per doubling {} (ideal: 2).",
        curve.weak ? "Weak" : "Strong", curve.title, base::join(widths, ", "),
        model::baseline_note(groups, curve.points.front().group), name_of(last),
        without_unit(model::common_time(groups, groups.all[last.group], groups.all[last.group])),
        time_text(last, 1, last.time.unit), ratio(last.speedup), ratio(last.efficiency),
        ratio(last.per_doubling));
}

std::string reach_text(const ScaledPoint& point, const model::Reach& reach, const Centre& centre) {
    const bool doubling = centre.asks == model::Asks::speedup_per_doubling;
    return sentence({.verdict = reach.verdict,
                     .subject = name_of(point),
                     .against = centre.asks != model::Asks::nothing ? centre.title
                                : centre.name.empty()
                                    ? "no centre was named (--centre)"
                                    : "no percentage is known from the page of " + centre.title,
                     .value = fmt::format("{}", centre.threshold),
                     .ratio = reach.figure,
                     .unit = doubling ? "speedup per doubling" : "efficiency over the base"});
}

void add_curve(Texts& text, const ScaledCurve& curve, const model::Groups& groups,
               const Centre& centre, std::int64_t steps) {
    const auto reach = model::reach_of(curve.points, centre);
    const ScaledPoint& reached = curve.points[reach.point];
    text.push_back(scaling_text(curve, groups));
    text.push_back(reach_text(reached, reach, centre));
    if (steps > 0 && groups.has(groups.all[reached.group], vocabulary::kStepTime))
        text.push_back(sentence(
            {.verdict = Verdict::node_hours,
             .subject = name_of(reached),
             .value = fmt::to_string(steps),
             .unit = time_text(reached, base::real(steps) * base::real(reached.nodes) / 3600,
                               "node-hours")}));
}

void add_centre(Texts& text, const std::vector<ScaledCurve>& curves, const Centre& centre) {
    std::set<std::size_t> counts;
    for (const auto& curve : curves)
        for (const auto& point : curve.points) counts.insert(point.nodes);
    if (counts.size() < centre.node_counts)
        text.push_back(sentence({.verdict = Verdict::few_node_counts,
                                 .subject = fmt::to_string(counts.size()),
                                 .against = centre.title,
                                 .value = fmt::to_string(centre.node_counts)}));
    const auto said = [](const std::string& what) { return what.empty() ? "not said" : what; };
    if (!centre.name.empty())
        text.push_back(fmt::format("{} asks: {} ({}). Base case: {}. Unit: {}.", centre.title,
                                   centre.says, centre.url, said(centre.base), said(centre.unit)));
}

Texts text_of(const std::vector<ScaledCurve>& curves, const model::Groups& groups,
              const Centre& centre, std::int64_t steps) {
    Texts text{
        "Measured with ranklab " + groups.common("version") +
        ". Times are medians over runs, brackets 95 % intervals between runs; a number without one "
        "has too few runs (6 for a time, 3 a point for a ratio). The efficiency over the base "
        "compares each scale with the base case, the speedup per doubling with the next smaller "
        "scale; a speedup is that of the work per second."};
    for (const auto& curve : curves) add_curve(text, curve, groups, centre, steps);
    add_centre(text, curves, centre);
    if (steps == 0) text.emplace_back("--planned-steps N computes the node-hours of N steps.");
    return text;
}

// Essential settings, and those that differ from their defaults, without facts of the machine.
std::vector<model::Conditions> settings_of(const model::RunsFrame& runs) {
    auto settings = runs.factors;
    for (std::size_t i = 0; i < settings.size(); ++i)
        std::erase_if(settings[i], [&](const auto& one) {
            const auto& row = vocabulary::setting_row(one.first);
            return runs.places[i].contains(one.first) ||
                   (!row.essential && row.fallback == one.second);
        });
    return settings;
}

std::vector<Part> parts_of(const figures::Source& source, const Centre& centre,
                           std::int64_t steps) {
    const auto curves = model::curves_over_ranks(source.groups, source.file);
    const auto& runs = source.groups.runs();
    std::vector<Part> parts{
        {{"code", "Code and configuration", {}, {values_of(settings_of(runs))}}},
        {{"machine", "Machine", {}, {values_of(runs.places)}}}};
    for (auto& section : figures::scaling_sections(source))
        if (!section.tables.empty() && section.id != "thread-scaling" &&
            section.id != "worker-scaling") {
            std::erase_if(section.figures, [](const auto& figure) { return figure.empty(); });
            parts.push_back({std::move(section)});
        }
    parts.push_back({{"text", "Text"}, text_of(curves, source.groups, centre, steps)});
    return parts;
}

std::string as_html(const std::vector<Part>& parts, const std::string& file) {
    List sections;
    std::string not_drawn;
    for (const auto& [section, text] : parts) {
        std::string body = figures_of(section, not_drawn);
        for (const auto& line : text) body += "<p>" + html_escape(line) + "</p>\n";
        sections.push_back(
            Object{{"id", section.id}, {"heading", section.heading}, {"body", body}});
    }
    if (!not_drawn.empty()) base::log::warn(not_drawn);
    return filled("page.html", Object{{"file", file},
                                      {"style", std::string(template_text("style.css"))},
                                      {"lead", "Scaling section for a proposal"},
                                      {"headlines", false},
                                      {"warnings", false},
                                      {"sections", sections}});
}

std::string as_markdown(const std::vector<Part>& parts) {
    std::string all = fmt::format("<!-- {} -->\n\n", kFigures);
    for (const auto& [section, text] : parts) {
        all += fmt::format("## {}\n\n", markdown_text(section.heading));
        for (const auto& line : text) all += markdown_text(line) + "\n\n";
        for (const auto& figure : section.figures)
            all += fmt::format("![{}](plots/{}.svg)\n\n", markdown_text(figure.title), figure.name);
        for (const auto& table : section.tables) all += markdown_of(table) + "\n";
    }
    return all;
}

std::string as_latex(const std::vector<Part>& parts) {
    std::string all = fmt::format("% needs \\usepackage{{booktabs,graphicx}}; {}\n", kFigures);
    for (const auto& [section, text] : parts) {
        all += fmt::format("\\subsection{{{}}}\n", latex_text(section.heading));
        for (const auto& line : text) all += latex_text(line) + "\n\n";
        for (const auto& figure : section.figures)
            all += fmt::format(
                "\\begin{{figure}}\n\\IfFileExists{{plots/{0}.pdf}}{{\\includegraphics[width="
                "\\linewidth]{{plots/{0}.pdf}}}}{{}}\n\\caption{{{1}}}\n\\label{{fig:{0}}}\n"
                "\\end{{figure}}\n",
                figure.name, latex_text(figure.title + ". " + figure.caption));
        for (Frame table : section.tables) {
            if (table.title.empty()) table.title = section.heading;
            all += latex_of(table, section.id);
        }
    }
    return all;
}

}  // namespace

std::string proposal(const model::ChosenRuns& runs, const Centre& centre,
                     std::int64_t planned_steps, std::string_view format) {
    const model::Groups groups(model::runs_frame(runs, {}));
    const auto parts = parts_of({groups, runs.file(), {}}, centre, planned_steps);
    return format == "markdown" ? as_markdown(parts)
           : format == "latex"  ? as_latex(parts)
                                : as_html(parts, runs.file().path().filename().string());
}

}  // namespace ranklab::report::page
