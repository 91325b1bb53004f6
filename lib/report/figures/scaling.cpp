// The sections on speedup and efficiency over ranks, threads or workers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "report/figures/figure.hpp"
#include "report/model/ladder.hpp"
#include "report/model/scaling.hpp"
#include "vocabulary/measurements.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::figures {
namespace {

using model::Curve;
using model::Groups;
using model::Scaling;

constexpr std::size_t kMostCurves = 6;
constexpr double kLogarithmicFrom = 8;  // widest / narrowest

// The line of perfect scaling, y ~ x^power, from the baseline to the last point. Two points
// suffice: if x is logarithmic, so is y, and the line is straight.
Series ideal_of(const Series& curve, int power) {
    const Point &base = curve.points.front(), &last = curve.points.back();
    return {"ideal",
            Look::dashed,
            curve.colour,
            {{base.x, base.y}, {last.x, base.y * std::pow(last.x / base.x, power)}}};
}

// Draws a column over column 1 (ranks, threads or workers), one curve per title in column 0.
Figure figure_of(Figure figure, const Frame& table, std::string_view column, int power) {
    const std::size_t widths = 1, values = table.find(column);
    Series rings{"oversubscribed", Look::marks, kMostCurves, {}};
    std::set<double> tics;
    std::size_t colour = 0;
    for (const auto& [title, rows] : table.group_by({0})) {
        Series series{title.front(), Look::points, colour++, {}};
        for (const std::size_t row : rows) {
            const Cell& cell = table.at(row, values);
            series.points.push_back({table.at(row, widths).number, cell.number, cell.interval});
            tics.insert(series.points.back().x);
            if (table.rows[row].has(CaveatKind::oversubscribed))
                rings.points.push_back(series.points.back());
        }
        if (std::isfinite(series.points.front().y))
            figure.series.push_back(ideal_of(series, power));
        figure.series.push_back(std::move(series));
    }
    if (!rings.points.empty()) figure.series.push_back(std::move(rings));
    figure.x_tics.assign(tics.begin(), tics.end());
    figure.log_x = *tics.rbegin() > kLogarithmicFrom * *tics.begin();
    figure.log_y = figure.log_x && power != 0;
    return figure;
}

// A section: the kind of scaling, and what is scaled.
struct Kind {
    const char *id, *heading, *question;
    const char *rate, *efficiency;  // names of the figures
    const char *command, *over;
    std::string_view time;
    bool weak = false;
};
constexpr Kind kKinds[] = {
    {"weak-scaling", "Weak scaling: each rank keeps its batch",
     "Do more ranks do more work in the same time?", "weak_throughput", "weak_efficiency", "train",
     "ranks", vocabulary::kStepTime, true},
    {"strong-scaling", "Strong scaling: ranks share one batch",
     "Do more ranks finish the same work sooner?", "strong_speedup", "strong_efficiency", "train",
     "ranks", vocabulary::kStepTime},
    {"thread-scaling", "Training over compute threads of a rank", "How many threads are fastest?",
     "thread_scaling", "thread_scaling_efficiency", "train", "threads", vocabulary::kStepTime},
    {"io-scaling", "Writing over ranks", "Do more ranks write faster?", "io_scaling",
     "io_scaling_efficiency", "io", "ranks", vocabulary::kJobTime},
    {"worker-scaling", "Writing over worker processes", "Do more workers write faster?",
     "worker_scaling", "worker_scaling_efficiency", "io", "workers", vocabulary::kJobTime}};

// The rate relative to the baseline's, w2/w1 T1/T2 (w: work, T: time; 1: baseline). Per doubling:
// relative to the previous point, as if the cores or GPUs had doubled; empty if their number did
// not grow.
Cell rate_over(const Groups& groups, const Scaling& scaling, const Curve& curve, bool weak,
               std::size_t i, bool per_doubling) {
    if (i == 0) return per_doubling ? Cell() : Cell(1);
    const std::size_t from = curve.groups[per_doubling ? i - 1 : 0], to = curve.groups[i];
    const auto fewer = groups.cores(from).count, more = groups.cores(to).count;
    if (per_doubling && (fewer == 0 || more <= fewer)) return {};
    const auto [ratio, ci] = model::speedup_of(groups, from, to);
    const double work = weak ? scaling.weak_work(to) / scaling.weak_work(from) : 1,
                 power = per_doubling ? 1 / std::log2(base::real(more) / base::real(fewer)) : 1;
    const auto f = [&](double x) { return std::pow(x * work, power); };
    return {f(ratio), {f(ci.low), f(ci.high)}};
}

void add_notes(Frame& frame, const std::vector<Curve>& curves, const Groups& groups,
               const Scaling& scaling, const Kind& kind) {
    frame.notes.emplace_back(
        "speedup: of the work per second; per doubling: from the next smaller scale, as if the "
        "cores or GPUs had doubled (ideal: 2)");
    for (const auto& curve : curves)
        if (const auto note = model::baseline_note(groups, curve.groups.front());
            std::ranges::count(frame.notes, note) == 0)
            frame.notes.push_back(note);
    for (const auto& finding : scaling.findings)
        if (groups.command(finding.row) == kind.command &&
            scaling.is_weak(finding.row) == kind.weak)
            frame.notes.push_back(sentence(finding));
}

// A row per point: columns of the scaled table, and columns that only a curve has. The baseline
// over itself is 1 by definition; its own uncertainty shows in the intervals of the other points.
Frame table_of(const std::vector<Curve>& curves, const Groups& groups, const Scaling& scaling,
               const Kind& kind) {
    const Frame& table = scaling.table;
    Frame frame;
    for (const auto& curve : curves)
        for (std::size_t i = 0; i < curve.groups.size(); ++i) {
            const std::size_t group = curve.groups[i];
            const auto take = [&](std::size_t column) {
                if (column < table.columns.size())
                    frame.put(table.columns[column], table.at(group, column));
            };
            const auto put = [&](const char* name, const std::string& head, const Cell& cell) {
                frame.put({.name = name, .unit = "1", .interval = true, .head = head}, cell);
            };
            frame.rows.push_back({{}, table.rows[group].caveats, table.rows[group].members});
            frame.put({.name = "series", .role = Role::key}, curve.title);
            frame.put({.name = kind.over, .role = Role::key}, curve.widths[i]);
            for (const char* name : {"nodes", "runs", "cores"})
                take(table.find(name, Role::derived));
            take(table.find(kind.time, Role::measured));
            if (kind.weak) take(table.find(vocabulary::kThroughput, Role::measured));
            put("speedup", "", rate_over(groups, scaling, curve, kind.weak, i, false));
            put("efficiency", "efficiency over the base, per " + scaling.unit,
                i == 0 ? Cell(1)
                       : scaling.at(group, kind.weak ? "weak_efficiency" : "strong_efficiency"));
            put("speedup_per_doubling", "speedup per doubling",
                rate_over(groups, scaling, curve, kind.weak, i, true));
        }
    frame.drop_empty_columns();
    add_notes(frame, curves, groups, scaling, kind);
    return frame;
}

// The fastest point of a series, as a multiple of its baseline.
Answer answer_of(const Frame& table, const Kind& kind, const std::string& series,
                 const Places& rows) {
    const auto speedup = [&](std::size_t row) {
        const double number = table.at(row, "speedup").number;
        return std::isnan(number) ? 0 : number;
    };
    const std::size_t best = *std::ranges::max_element(rows.begin() + 1, rows.end(), {}, speedup);
    const auto width = [&](std::size_t row) {
        const std::string over = kind.over;
        return counted(static_cast<std::size_t>(table.at(row, over).number),
                       over.substr(0, over.size() - 1));
    };
    const auto& [text, ratio, ci] = table.at(best, "speedup");
    return {kind.question,
            series,
            {.verdict = table.rows[best].has(CaveatKind::load_differs) ? Verdict::scales_undecided
                        : ci.low > 1                                   ? Verdict::scales
                        : ci.high < 1                                  ? Verdict::slows
                                                                       : Verdict::scales_undecided,
             .subject = width(best),
             .against = width(rows.front()),
             .ratio = {ratio, ci}},
            doubts_of(table, {rows.front(), best})};
}

// An answer for each label, from its series with the most points.
std::vector<Answer> answers_of(const Frame& table, const Kind& kind, const Groups& groups,
                               const std::vector<Curve>& curves) {
    std::map<std::string, std::pair<std::string, Places>> of_label;
    for (const auto& [titles, rows] : table.group_by({0})) {
        const auto curve = std::ranges::find(curves, titles.front(), &Curve::title);
        auto& most = of_label[groups.key(curve->groups.front(), "label")];
        if (rows.size() > most.second.size()) most = {titles.front(), rows};
    }
    std::vector<Answer> answers;
    for (const auto& [label, one] : of_label)
        answers.push_back(answer_of(table, kind, one.first, one.second));
    return answers;
}

std::vector<Curve> curves_of(const Groups& groups, const Scaling& scaling, const Kind& kind) {
    auto curves = model::curves_of(groups, scaling, kind.weak);
    std::erase_if(curves, [&](const Curve& curve) {
        const std::size_t base = curve.groups.front();
        // Runs with worker processes are in the section on workers.
        return groups.command(base) != kind.command ||
               (scaling.over == setting::kRanks && groups.says(base, "has_workers"));
    });
    if (curves.size() > kMostCurves) curves.resize(kMostCurves);
    return curves;
}

Section section_of(const Source& source, const Kind& kind) {
    Section section{kind.id, kind.heading};
    if (!source.groups.has_key(kind.over)) return section;
    const Scaling scaling = model::scaling_over(source.groups, kind.over);
    const auto curves = curves_of(source.groups, scaling, kind);
    if (curves.empty()) return section;
    section.tables.push_back(table_of(curves, source.groups, scaling, kind));
    section.answers = answers_of(section.tables.front(), kind, source.groups, curves);
    const auto add = [&](const char* name, std::string_view column, const std::string& label,
                         const std::string& unit, int power) {
        Figure figure = figure_of(
            {.name = name,
             .title = fmt::format("{} ({})", kind.heading, label),
             .x_label = kind.over,
             .y_label = label,
             .unit = unit,
             .caption = "Medians with 95 % intervals between runs (ratios: from 3 runs per point; "
                        "other values: from 6). Dashed: ideal scaling from the baseline."},
            section.tables.front(), column, power);
        if (!figure.empty()) section.figures.push_back(std::move(figure));
    };
    if (kind.weak)
        add(kind.rate, vocabulary::kThroughput, "throughput", "samples/s", 1);
    else
        add(kind.rate, "speedup", "speedup", "1", 1);
    add(kind.efficiency, "efficiency", "efficiency per " + scaling.unit, "1", 0);
    return section;
}

// What a comparison measured: the work, and for strategies the records.
std::string work_of(const Source& source, const std::string& key, std::size_t group) {
    if (source.groups.command(group) != "io") return source.groups.titles({group}, {key}).front();
    const auto run = source.newest(group);
    return fmt::format("{}, ranks {}, workers {}", model::records_text(run),
                       source.groups.key(group, setting::kRanks), run.setting(setting::kWorkers));
}

void add_way(Section& section, const Source& source, const std::string& key,
             const model::Comparison& one) {
    const Groups& groups = source.groups;
    std::set<std::string> values;
    for (const std::size_t row : one.rows) values.insert(groups.key(row, key));
    const auto name = [&](std::size_t row) {
        return values.size() < one.rows.size() ? groups.name(row)
                                               : fmt::format("{} {}", key, groups.key(row, key));
    };
    const std::string title = work_of(source, key, one.base);
    const auto& label = groups.key(one.base, "label");
    const auto named = std::ranges::count_if(section.figures, [&](const Figure& other) {
        return other.name.starts_with("over_" + key);
    });
    Figure figure{
        .name = fmt::format("over_{}{}", key, named == 0 ? "" : fmt::format("_{}", named + 1)),
        .title = fmt::format("{}: {}{}{}", key, title, label.empty() ? "" : ", ", label),
        .x_label = without_unit(one.measurement),
        .unit = groups.unit(one.measurement),
        .caption =
            "Medians over runs; other settings are equal, except those that "
            "follow from this one."};
    for (const std::size_t row : one.rows)
        add_bar(figure, name(row), groups.estimate(row, one.measurement));
    section.figures.push_back(std::move(figure));
    auto findings = model::findings_of(groups, one, name);
    // Modes with different cores or batches are not ranked; what a mode pays is still said.
    const auto alike = [&](std::size_t row) {
        return groups.cores(row).count == groups.cores(one.base).count &&
               groups.factor(row, setting::kGlobalBatchSize) ==
                   groups.factor(one.base, setting::kGlobalBatchSize);
    };
    if (key == setting::kMode &&
        (values.size() < one.rows.size() || !std::ranges::all_of(one.rows, alike)))
        std::erase_if(findings, [](const Finding& finding) {
            return finding.verdict != Verdict::pays && finding.verdict != Verdict::pays_undecided;
        });
    if (findings.empty()) return;
    const bool is_flag = vocabulary::setting_row(key).type == options::Type::flag;
    section.answers.push_back(
        {fmt::format(fmt::runtime(is_flag ? "Does --{} make it faster?" : "Which --{} is fastest?"),
                     key),
         title, findings.front(), doubts_of(groups.table(), one.rows)});
}

}  // namespace

std::vector<Section> scaling_sections(const Source& source) {
    std::vector<Section> sections;
    for (const Kind& kind : kKinds) sections.push_back(section_of(source, kind));
    return sections;
}

// A bar per value of a setting, in the order of the values.
Section ways_section(const Source& source) {
    Section section{"ways", "One setting changed"};
    const Groups& groups = source.groups;
    const auto ladder = largest_ladder(groups);
    const std::string in_ladder = ladder ? groups.runs().at(*ladder, "label").text : "";
    for (const auto& key : groups.keys()) {
        const auto& row = vocabulary::setting_row(key);
        const bool has_curve = key == setting::kRanks || key == setting::kThreads;
        const bool apart = std::ranges::count(groups.apart(), key) > 0;  // such as the label
        if (vocabulary::find_setting(key) == nullptr || has_curve || apart ||
            (row.keeps_sample_work && !model::is_batch(key)) || key == setting::kGlobalBatchSize)
            continue;
        std::map<std::string, model::Comparison> of_label;
        for (const auto& one : model::comparisons_over(groups, key)) {
            const std::string &label = groups.key(one.base, "label"),
                              &command = groups.command(one.base);
            const bool strategies = key == setting::kStrategy && command == "io" &&
                                    !label.empty() && label != in_ladder;
            if (command != "train" && !strategies) continue;
            // For io the last one, with the most files, ranks and workers, since groups are sorted.
            auto& most = of_label[label];
            if (one.rows.size() + (strategies ? 1 : 0) > most.rows.size()) most = one;
        }
        for (const auto& [label, one] : of_label) add_way(section, source, key, one);
    }
    return section;
}

std::vector<Section> scaling_over_ranks(const Source& source) {
    auto sections = scaling_sections(source);
    std::erase_if(sections, [](const Section& one) {
        return one.tables.empty() || (one.id != "weak-scaling" && one.id != "strong-scaling");
    });
    if (sections.empty())
        throw base::OptionError(
            "these runs have no scaling over ranks; ranklab sweep train --ranks 1,2,4 measures it");
    return sections;
}

}  // namespace ranklab::report::figures
