#include "report/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "report/model/scaling.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

constexpr std::size_t kMostRows = 200;    // of groups: more is a list, not a table
constexpr std::size_t kLongestCell = 40;  // of surroundings: a processor's name tells itself by then

// What a reader asks first of the conditions; where all runs share them they stand below the table.
constexpr const char* kConditions =
    "command,model,data,mode,sync,backend,device,precision,batch-size,global-batch-size,steps,epochs,"
    "strategy,layout,files,size,fsync,cache,file_system,workers,ranks,threads,host.cpu,host.logical_cpus,"
    "libraries.mpi,"
    "libraries.libtorch,version";

struct View {
    std::vector<std::string> heads;  // '<': flush left
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> notes;
    std::string conditions;
};

// Median and interval: over runs, or where there is one run over its repetitions.
void add_values(std::vector<std::string>& row, const model::KeyedGroup& group, const std::string& name) {
    const model::GroupValues* values = group.find(name);
    if (values == nullptr) return row.insert(row.end(), {"", ""}), void();
    const stats::Summary s = stats::summarise(values->medians);
    row.push_back(model::number(s.median));
    row.push_back(s.n == 1 ? model::interval_text(values->own, model::kRunsForInterval)
                           : model::interval_text(s.ci95, s.n));
}

void add_ratio(std::vector<std::string>& row, const stats::RatioEstimate& estimate, bool is_base) {
    row.push_back(is_base                          ? "base"
                  : !std::isfinite(estimate.ratio) ? ""
                                                   : fmt::format("{:.3f}", estimate.ratio));
    row.push_back(is_base || !std::isfinite(estimate.ci.low)
                      ? ""
                      : fmt::format("{:.3f} .. {:.3f}", estimate.ci.low, estimate.ci.high));
}

// Factors that differ inside the group are no noise: they have to be keys or conditions.
std::string differing(const model::KeyedGroup& group, const std::vector<std::string>& keys) {
    std::vector<std::string> names;
    for (const auto& name : group.factors.differing())
        if (std::ranges::find(keys, name) == keys.end()) names.push_back(name);
    std::ranges::sort(names);
    return names.empty() ? "" : "differ: " + model::some_of(names, 4);
}

std::string marks(const model::KeyedGroup& group, const std::vector<std::string>& keys) {
    std::vector<std::string> parts;
    if (group.runs.size() == 1) parts.emplace_back("single run");
    if (group.invalid > 0) parts.push_back(fmt::format("{} INVALID left out", group.invalid));
    if (group.not_converged > 0) parts.push_back(fmt::format("{} not converged", group.not_converged));
    if (group.doubtful > 0) parts.push_back(fmt::format("{} with exit code 7", group.doubtful));
    if (group.cut_short > 0) parts.push_back(fmt::format("{} cut short", group.cut_short));
    if (const std::string text = differing(group, keys); !text.empty()) parts.push_back(text);
    return base::join(parts, "; ");
}

std::vector<std::string> heads_of(const model::RunGroups& groups,
                                  const std::vector<std::string>& measurements, bool scaling) {
    std::vector<std::string> heads;
    for (const auto& key : groups.keys()) heads.push_back('<' + key);
    heads.emplace_back("runs");
    for (const auto& name : measurements) heads.insert(heads.end(), {name, "95% interval"});
    if (scaling) heads.insert(heads.end(), {"speedup", "95% interval", "efficiency", "95% interval"});
    heads.emplace_back("<marks");
    return heads;
}

std::string conditions_of(const model::RunGroups& groups) {
    std::vector<std::string> parts;
    const auto keys = groups.keys();
    for (const auto& key : base::split(kConditions, ',')) {
        const bool is_key = std::ranges::find(keys, key) != keys.end();
        const std::string all = groups.factors().common(key);
        const std::string value = all.substr(0, all.find(','));  // a library tells more than a condition
        if (!is_key && !value.empty()) parts.push_back(fmt::format("{} = {}", key, value));
    }
    return base::join(parts, ", ");
}

void add_notes(View& view, const model::RunGroups& groups, const std::vector<model::KeyedGroup>& sorted,
               const model::GroupScaling& scaling, const model::HowTo& how_to) {
    const bool single = std::ranges::any_of(sorted, [](const auto& g) { return g.runs.size() == 1; });
    const bool several = std::ranges::any_of(sorted, [](const auto& g) { return g.runs.size() > 1; });
    if (several)
        view.notes.emplace_back(
            "median over runs of the runs' medians, with its 95 % order-statistic interval over runs");
    if (single)
        view.notes.emplace_back(
            "single run: the intervals are over its own repetitions; how far another run may be off is not "
            "in them");
    if (const auto apart = groups.apart(); !apart.empty())
        view.notes.push_back(fmt::format("runs of different surroundings are not pooled: they differ in {}{}",
                                         base::join(apart, ", "), model::and_how(how_to.pool)));
    view.notes.insert(view.notes.end(), scaling.bases.begin(), scaling.bases.end());
    view.notes.insert(view.notes.end(), scaling.notes.begin(), scaling.notes.end());
    if (groups.without_values() > 0)
        view.notes.push_back(fmt::format("{} run(s) without these measurements are left out{}",
                                         groups.without_values(), model::and_how(how_to.other_measurements)));
    if (sorted.size() > kMostRows)
        view.notes.push_back(fmt::format("{} more groups are not shown{}", sorted.size() - kMostRows,
                                         model::and_how(how_to.choose)));
}

View view_of(const model::RunGroups& groups, const model::ChosenRuns& runs) {
    std::vector<model::KeyedGroup> sorted = groups.sorted();
    const auto measurements = groups.measurements();
    View view;
    const std::size_t all = sorted.size();
    const auto keys = groups.keys();
    const std::size_t asked = keys.size() - groups.apart().size();
    const model::GroupScaling scaling =
        all > kMostRows ? model::GroupScaling() : model::scaling_of(sorted, keys, runs.file());
    const bool scales = std::ranges::any_of(scaling.rows, [](const model::ScalingRow& row) {
        return !std::isnan(row.speedup.ratio) && !row.is_base;
    });
    view.heads = heads_of(groups, measurements, scales);
    for (std::size_t i = 0; i < std::min(all, kMostRows); ++i) {
        const model::KeyedGroup& group = sorted[i];
        std::vector<std::string> row = group.key;
        for (std::size_t k = asked; k < row.size(); ++k) row[k] = base::printable(row[k], kLongestCell);
        row.push_back(fmt::format("{}", group.runs.size()));
        for (const auto& name : measurements) add_values(row, group, name);
        if (scales) {
            const model::ScalingRow& ratio = scaling.rows[i];
            const bool weak = ratio.scaling == "weak";
            add_ratio(row, weak ? stats::RatioEstimate() : ratio.speedup, ratio.is_base);
            add_ratio(row, ratio.efficiency, ratio.is_base);
        }
        row.push_back(marks(group, keys));
        view.rows.push_back(std::move(row));
    }
    add_notes(view, groups, sorted, scales ? scaling : model::GroupScaling(), runs.how_to());
    view.conditions = conditions_of(groups);
    return view;
}

model::RunGroups grouped(const model::ChosenRuns& runs, const Grouping& grouping) {
    model::RunGroups groups(grouping.keys, grouping.measurements, grouping.allow);
    runs.visit(results::Detail::summaries, [&](const results::Run& run) { groups.add(run); });
    groups.check_allowed();
    return groups;
}

std::string nothing(const model::ChosenRuns& runs, const model::RunGroups& groups) {
    if (groups.runs() == 0) return runs.nothing();
    const std::string& one_run = runs.how_to().one_run;
    return fmt::format("{} of these {} run(s) have none of the measurements{}\n", groups.without_values(),
                       groups.runs(),
                       one_run.empty() ? "" : fmt::format("; `{} ID` shows what one has", one_run));
}

std::string escaped(const std::string& cell) {
    std::string text;
    for (const char c : base::valid_utf8(base::one_line(cell))) {
        if (std::string_view("|\\`*_<>[]").find(c) != std::string_view::npos) text += '\\';
        text += c;
    }
    return text;
}

std::string markdown_row(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const auto& cell : cells) line += ' ' + escaped(cell) + " |";
    return line + '\n';
}

}  // namespace

void write_group_text(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink) {
    const model::RunGroups groups = grouped(runs, grouping);
    const View view = view_of(groups, runs);
    if (view.rows.empty()) return sink(nothing(runs, groups));
    model::TextTable table(view.heads);
    for (const auto& row : view.rows) table.add(row);
    sink(table.text() + '\n');
    for (const auto& note : view.notes) sink(base::one_line(note) + '\n');
    if (!view.conditions.empty()) sink("the same in all: " + base::one_line(view.conditions) + '\n');
}

void write_group_markdown(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink) {
    const model::RunGroups groups = grouped(runs, grouping);
    const View view = view_of(groups, runs);
    if (view.rows.empty()) return sink(nothing(runs, groups));
    std::vector<std::string> heads;
    std::string line = "|";
    for (const auto& head : view.heads) {
        const bool left = head.starts_with('<');
        heads.push_back(left ? head.substr(1) : head);
        line += left ? " :--- |" : " ---: |";
    }
    sink(markdown_row(heads) + line + '\n');
    for (const auto& row : view.rows) sink(markdown_row(row));
    sink("\n");
    const std::string chosen = runs.text().empty() ? "" : " of " + runs.text();
    sink(escaped(fmt::format("{} run(s){}; {}.", groups.runs(), chosen, view.conditions)) + '\n');
    for (const auto& note : view.notes) sink(fmt::format("\n{}.\n", escaped(note)));
}

}  // namespace ranklab::report::formats
