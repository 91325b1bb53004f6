// The scaling section of a proposal in HTML, Markdown or LaTeX, and the place of its efficiencies
// among published ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "options/sections.hpp"
#include "report/page/parts.hpp"
#include "report/page/templates.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::page {
namespace {

using figures::Section;

// Node-hours of `steps` steps. A single run gets no interval: the one within the run would not
// cover the next run.
std::string node_hours(const Frame& table, std::size_t row, double steps) {
    const Cell& time = table.at(row, vocabulary::kStepTime);
    const double factor = steps * table.at(row, "nodes").number / 3600;
    const auto ci = table.at(row, "runs").number > 1 ? time.interval : stats::Interval();
    const auto text =
        readable(time.number * factor, {ci.low * factor, ci.high * factor}, "node-hours");
    return std::isnan(ci.low) ? text + " (fewer than 6 runs: no interval)" : text;
}

// " Read with care: single run: no interval between runs (2, 4 ranks)."
std::string caveats_text(const Frame& table, const Places& rows) {
    InsertionOrderedMap<std::string, std::pair<std::string, std::vector<std::string>>> met;
    for (const std::size_t row : rows)
        for (const auto& caveat : table.rows[row].caveats) {
            auto& [text, ranks] = met[sentence(caveat)];
            text = sentence(caveat);
            ranks.push_back(exact(table.at(row, "ranks")));
        }
    std::vector<std::string> parts;
    for (const auto& [text, ranks] : met.all())
        parts.push_back(fmt::format("{} ({} ranks)", text, base::join(ranks, ", ")));
    return parts.empty() ? "" : fmt::format(" Read with care: {}.", base::join(parts, "; "));
}

Section text_of(const std::vector<Section>& scaling, const Centre& centre, std::int64_t steps) {
    Section all{"text", "Text"};
    all.text.emplace_back(
        "Times are medians over runs, brackets 95 % intervals between runs: from 6 runs on for a "
        "time, from 3 runs per point for a ratio. The efficiency over the base compares each scale "
        "with the base case, the speedup per doubling with the next smaller scale.");
    std::set<double> node_counts;
    for (const auto& section : scaling) {
        const Frame& table = section.tables.front();
        for (std::size_t row = 0; row < table.rows.size(); ++row)
            node_counts.insert(table.at(row, "nodes").number);
        for (const auto& [series, rows] : table.group_by({table.find("series")})) {
            const auto reach = reach_of(table, rows, centre);
            std::string text = fmt::format("{} ({}). {}{}", section.heading, series.front(),
                                           sentence(reach), caveats_text(table, rows));
            if (steps > 0)
                text += fmt::format(" {} steps at {} take {}.", steps, reach.subject,
                                    node_hours(table, reach.row, base::real(steps)));
            all.text.push_back(std::move(text));
        }
    }
    if (!centre.title.empty())
        all.text.push_back(fmt::format("{} asks: {} ({}). These runs cover {}.", centre.title,
                                       centre.says, centre.url,
                                       counted(node_counts.size(), "node count")));
    return all;
}

// Settings that are essential, or differ from their defaults in some run, and facts of the work.
Places settings_of(const Frame& runs) {
    Places some = runs.all(Role::factor);
    std::erase_if(some, [&](std::size_t column) {
        const auto& name = runs.columns[column].name;
        const auto& row = vocabulary::setting_row(name);
        bool usual = !row.essential;
        for (std::size_t i = 0; i < runs.rows.size(); ++i)
            if (const Cell& cell = runs.at(i, column); !cell.empty())
                usual = usual && cell.text == row.fallback;
        return usual || model::is_surroundings(runs.columns[column]) ||
               runs.find(name, Role::condition) < runs.columns.size();
    });
    return some;
}

std::string as_html(const std::vector<Section>& sections, const std::string& file) {
    List written;
    std::string not_drawn;
    for (const auto& section : sections)
        written.push_back(Object{{"id", section.id},
                                 {"heading", section.heading},
                                 {"body", figures_of(section, not_drawn)}});
    if (!not_drawn.empty()) base::log::warn(not_drawn);
    return filled("page.html", Object{{"title", file},
                                      {"style", std::string(template_text("style.css"))},
                                      {"lead", "Scaling section for a proposal"},
                                      {"sections", written}});
}

// In Markdown or LaTeX.
std::string as_source(const std::vector<Section>& sections, bool latex) {
    List all;
    for (const auto& section : sections) {
        List text(section.text.begin(), section.text.end()), figures, tables;
        for (const auto& figure : section.figures)
            figures.push_back(Object{{"name", figure.name},
                                     {"title", figure.title},
                                     {"caption", figure.title + ". " + figure.caption}});
        for (Frame table : section.tables) {
            if (latex) table.title = section.heading;
            tables.emplace_back(latex ? latex_of(table, section.id) : markdown_of(table));
        }
        all.push_back(Object{{"heading", section.heading},
                             {"text", text},
                             {"figures", figures},
                             {"tables", tables}});
    }
    return filled(latex ? "proposal.tex" : "proposal.md", Object{{"sections", all}},
                  [&](const auto& text) { return latex ? latex_text(text) : markdown_text(text); });
}

constexpr double kSame = 0.01;      // factors are equal if their logarithms differ by less
constexpr std::size_t kFewest = 5;  // with fewer curves nothing is called usual

// The efficiencies at `factor` times the first x, of curves with communication and several nodes.
std::vector<double> published_at(const std::vector<model::PublishedCurve>& published, bool weak,
                                 bool beyond, double factor) {
    std::vector<double> found;
    for (const auto& curve : published) {
        if (curve.weak != weak || curve.first_beyond_one_node == 0 ||
            curve.caution == "contradicts" || curve.caution == "no-communication")
            continue;
        for (std::size_t i = 1; i < curve.x.size(); ++i)
            if (curve.beyond_one_node(i) == beyond &&
                std::abs(std::log(curve.x[i] / curve.x[0] / factor)) < kSame)
                found.push_back(curve.efficiency(i));
    }
    return found;
}

}  // namespace

Centre centre_of(const std::filesystem::path& path, const std::string& name) {
    Centre centre;
    const std::map<std::string, std::string*> texts{
        {"title", &centre.title}, {"says", &centre.says}, {"url", &centre.url}};
    if (name.empty()) return centre;
    const auto sections = options::read_sections(path.string());
    const auto found = std::ranges::find(sections, name, &options::Section::name);
    if (found == sections.end()) {
        std::vector<std::string> names;
        for (const auto& section : sections) names.push_back(section.name);
        throw base::OptionError(fmt::format("there is no centre '{}'; give one of {}",
                                            base::printable(name, 40), base::join(names, ", ")),
                                {"centre"});
    }
    for (const auto& [key, value] : found->settings) {
        const auto number = base::number_in(value);
        if (texts.contains(key))
            *texts.at(key) = value;
        else if (number && (key == "per-doubling" || key == "over-base"))
            centre.threshold = *number, centre.per_doubling = key == "per-doubling";
        else
            throw base::OptionError(
                fmt::format("[{}] has '{} = {}', an unknown key or not a number", name,
                            base::printable(key, 40), base::printable(value, 40)));
    }
    return centre;
}

Finding reach_of(const Frame& table, const std::vector<std::size_t>& rows, const Centre& centre) {
    const double threshold = centre.threshold;
    const std::size_t figure =
        table.find(centre.per_doubling ? "speedup_per_doubling" : "efficiency");
    std::size_t reached = std::isnan(threshold) ? rows.back() : rows.front();
    bool missed = false;
    for (const std::size_t row : rows) {
        const double value = table.at(row, figure).number;
        missed = missed || value < threshold;
        if (!missed && value >= threshold) reached = row;  // NaN neither ends nor extends the scale
    }
    const auto& [text, ratio, ci] = table.at(reached, figure);
    const auto count = [&](const std::string& what) {
        return counted(static_cast<std::size_t>(table.at(reached, what + "s").number), what);
    };
    return {.verdict = std::isnan(threshold) ? Verdict::no_threshold
                       : reached == rows.front()
                           ? (missed ? Verdict::reaches_nothing : Verdict::reaches_unknown)
                       : table.rows[reached].has(CaveatKind::load_differs)
                           ? Verdict::reaches_other_load
                       : ci.low >= threshold ? Verdict::reaches
                       : std::isnan(ci.low)  ? Verdict::reaches_without_interval
                                             : Verdict::reaches_undecided,
            .subject = count("rank") + " on " + count("node"),
            .row = reached,
            .against = centre.title,
            .value = fmt::format("{}", threshold),
            .ratio = {ratio, ci},
            .unit = centre.per_doubling ? "speedup per doubling" : "efficiency over the base"};
}

std::string proposal(const model::ChosenRuns& runs, const Centre& centre,
                     std::int64_t planned_steps, const std::string& format) {
    const model::Groups groups(runs, {});
    const Frame& all = groups.runs();
    auto sections = figures::scaling_over_ranks({groups, runs.file(), {}});
    sections.push_back(text_of(sections, centre, planned_steps));
    sections.insert(sections.begin(),
                    {{"code", "Code and configuration", {}, {values_of(all, settings_of(all))}},
                     {"machine", "Machine", {}, {values_of(all, all.all(Role::place))}}});
    const bool latex = format == "latex";
    return latex || format == "markdown"
               ? as_source(sections, latex)
               : as_html(sections, runs.file().path().filename().string());
}

Frame placed_among(const std::vector<model::PublishedCurve>& published,
                   const std::vector<figures::Section>& scaling) {
    Frame frame;
    frame.columns = columns_of(
        "series* | kind* | ranks* | nodes | published_curves | efficiency+- [1] | published_p10 "
        "[1] | published_median [1] | published_p90 [1] | place");
    frame.notes = {"published: at the same multiple of their base, on one node or several as here",
                   "usual: between the 10 % and 90 % quantiles of at least 5 published curves"};
    std::size_t oversubscribed = 0, without_growth = 0;
    for (const auto& section : scaling) {
        const bool weak = section.id == "weak-scaling";
        const Frame& table = section.tables.front();
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            const Cell& own = table.at(row, "efficiency");
            const Cell& nodes = table.at(row, "nodes");
            const double factor = table.at(row, "speedup").number / own.number;
            const bool crowded = table.rows[row].has(CaveatKind::oversubscribed);
            if (crowded || !(factor > 1 + kSame)) {
                ++(crowded ? oversubscribed : without_growth);
                continue;
            }
            const auto others = published_at(published, weak, nodes.number > 1, factor);
            const auto at = [&](double q) {
                return others.size() < kFewest ? stats::kNone : stats::quantile(others, q);
            };
            const char* const place = others.size() < kFewest ? "too few published"
                                      : own.number < at(0.1)  ? "below most"
                                      : own.number > at(0.9)  ? "above most"
                                                              : "usual";
            frame.rows.push_back(
                {{table.at(row, "series"), weak ? "weak" : "strong", table.at(row, "ranks"), nodes,
                  others.size(), own, at(0.1), at(0.5), at(0.9), place},
                 table.rows[row].caveats});
        }
    }
    if (oversubscribed + without_growth > 0)
        frame.notes.push_back(
            fmt::format("left out: {} oversubscribed, {} without efficiency or on no more cores "
                        "than the base, the base among them",
                        counted(oversubscribed, "point"), without_growth));
    return frame;
}

}  // namespace ranklab::report::page
