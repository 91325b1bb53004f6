#include "report/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/footnotes.hpp"
#include "report/formats/group_parts.hpp"
#include "report/model/groups.hpp"
#include "report/model/scaling.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

constexpr std::size_t kLongestCell = 40;  // of surroundings: a processor's name tells itself by then

// What a reader asks first of the conditions; where all runs share them they stand below the table.
constexpr const char* kConditions =
    "command,model,data,mode,sync,op,datatype,from-model,memory,backend,device,precision,batch-size,global-"
    "batch-size,steps,epochs,"
    "strategy,layout,files,size,fsync,cache,file_system,workers,ranks,threads,host.cpu,host.logical_cpus,"
    "libraries.mpi,"
    "libraries.libtorch,version";

struct Row {
    std::vector<std::string> cells, marks;
};

struct View {
    std::vector<std::string> heads;  // as of a TextTable; the keys first
    std::size_t keys = 0;
    std::vector<Row> rows;
    std::vector<std::string> first, notes;  // lines before the table and after it
    std::string conditions;
};

// Median and interval: over runs, or where there is one run over its repetitions.
void add_values(std::vector<std::string>& row, const model::KeyedGroup& group, const std::string& name) {
    const model::Estimate found = model::estimate(group, name);
    if (found.runs == 0) return row.insert(row.end(), {"", ""}), void();
    row.push_back(model::number(found.value));
    row.push_back(model::interval_text(found.ci, found.runs == 1 ? model::kRunsForInterval : found.runs));
}

void add_ratio(std::vector<std::string>& row, const stats::RatioEstimate& estimate,
               const model::ScalingClaim& claim) {
    const bool is_base = claim.is_base && claim.work == 0;
    row.push_back(is_base ? "base" : claim.work == 0 ? "" : model::fixed(estimate.ratio, 3));
    row.push_back(is_base || !std::isfinite(estimate.ci.low)
                      ? ""
                      : fmt::format("{:.3f} .. {:.3f}", estimate.ci.low, estimate.ci.high));
}

void add_scaling(std::vector<std::string>& cells, const model::GroupScaling& scaling,
                 const model::ScalingRow& row) {
    if (scaling.has_strong()) {
        add_ratio(cells, row.speedup, row.strong);
        add_ratio(cells, row.strong.efficiency, row.strong);
    }
    if (scaling.has_weak()) add_ratio(cells, row.weak.efficiency, row.weak);
}

void add_scaling_heads(std::vector<std::string>& heads, const model::GroupScaling& scaling) {
    const bool both = scaling.has_strong() && scaling.has_weak();
    const auto efficiency = [&](const char* kind) {
        return fmt::format("{}efficiency/{}", both ? kind : "", scaling.unit);
    };
    if (scaling.has_strong())
        heads.insert(heads.end(), {"speedup", "+95% interval", efficiency("strong "), "+95% interval"});
    if (scaling.has_weak()) heads.insert(heads.end(), {efficiency("weak "), "+95% interval"});
}

bool scales(const model::GroupScaling& scaling) {
    return scaling.has_strong() || scaling.has_weak();
}

std::vector<std::string> heads_of(const model::RunGroups& groups,
                                  const std::vector<std::string>& measurements,
                                  const model::GroupScaling& scaling) {
    std::vector<std::string> heads;
    for (const auto& key : groups.keys()) heads.push_back('<' + key);
    heads.emplace_back("runs");
    if (scales(scaling)) heads.push_back(scaling.unit + "s");
    add_scaling_heads(heads, scaling);
    for (const auto& name : measurements) heads.insert(heads.end(), {name, "+95% interval"});
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
    for (const auto* lines : {&scaling.bases, &scaling.notes})
        view.notes.insert(view.notes.end(), lines->begin(), lines->end());
    if (groups.without_values() > 0)
        view.notes.push_back(fmt::format("{} run(s) without these measurements are left out{}",
                                         groups.without_values(), model::and_how(how_to.other_measurements)));
    if (sorted.size() > kMostRows)
        view.notes.push_back(fmt::format("{} more groups are not shown{}", sorted.size() - kMostRows,
                                         model::and_how(how_to.choose)));
}

Row row_of(const model::KeyedGroup& group, const model::RunGroups& groups, const model::GroupScaling& scaling,
           const model::ScalingRow& ratio) {
    std::vector<std::string> row = group.key;
    const std::size_t asked = row.size() - groups.apart().size();
    for (std::size_t k = asked; k < row.size(); ++k) row[k] = base::printable(row[k], kLongestCell);
    row.push_back(fmt::to_string(group.runs.size()));
    const model::Cores& cores = group.cores.common();
    if (scales(scaling)) row.push_back(cores.known() ? fmt::to_string(cores.count) : "n/a");
    add_scaling(row, scaling, ratio);
    for (const auto& name : groups.measurements()) add_values(row, group, name);
    return {row, marks_of(group, ratio, groups.keys())};
}

View view_of(const model::RunGroups& groups, const model::ChosenRuns& runs) {
    const std::vector<model::KeyedGroup> sorted = groups.sorted();
    View view;
    const std::size_t shown = std::min(sorted.size(), kMostRows);
    model::GroupScaling scaling;
    if (shown == sorted.size()) scaling = model::scaling_of(sorted, groups.keys(), runs.loader());
    scaling.rows.resize(shown);
    view.heads = heads_of(groups, groups.measurements(), scaling);
    for (std::size_t i = 0; i < shown; ++i)
        view.rows.push_back(row_of(sorted[i], groups, scaling, scaling.rows[i]));
    view.keys = sorted.empty() ? 0 : sorted.front().key.size();
    add_notes(view, groups, sorted, scaling, runs.how_to());
    for (std::size_t i = 0; i < scaling.best.size(); ++i)
        for (const auto& line : {scaling.best[i], scaling.why[i]})
            if (!line.empty()) view.first.push_back(line);
    view.conditions = conditions_of(groups);
    return view;
}

std::vector<std::string> cut_keys(const View& view, const Row& row, std::size_t columns) {
    std::vector<std::string> keys(row.cells.begin(),
                                  row.cells.begin() + static_cast<std::ptrdiff_t>(view.keys));
    for (auto& key : keys) key = base::shortened(base::one_line(key), columns);
    return keys;
}

// As short as it may be while the rows are told apart by them.
std::size_t key_columns(const View& view) {
    constexpr std::size_t kUsual = 28;  // ranklab's own names stay whole
    std::set<std::vector<std::string>> whole, cut;
    for (const auto& row : view.rows) {
        whole.insert(cut_keys(view, row, kLongestCell));
        cut.insert(cut_keys(view, row, kUsual));
    }
    return cut.size() == whole.size() ? kUsual : kLongestCell;
}

// The marks stand behind the keys, so that every block of columns shows them.
std::string text_table(const View& view, Footnotes& footnotes) {
    const bool marked = std::ranges::any_of(view.rows, [](const Row& row) { return !row.marks.empty(); });
    const auto marks_at = static_cast<std::ptrdiff_t>(view.keys);
    std::vector<std::string> heads = view.heads;
    if (marked) heads.insert(heads.begin() + marks_at, "<marks");
    model::TextTable table(heads, view.keys + (marked ? 1 : 0));
    const std::size_t columns = key_columns(view);
    for (const auto& row : view.rows) {
        auto [cells, marks] = row;
        std::ranges::copy(cut_keys(view, row, columns), cells.begin());
        std::string references;
        for (const auto& mark : marks) references += footnotes.reference(mark);
        if (marked) cells.insert(cells.begin() + marks_at, base::trim(references));
        table.add(std::move(cells));
    }
    return table.text();
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
    const model::RunGroups groups = grouped_runs(runs, grouping);
    const View view = view_of(groups, runs);
    if (view.rows.empty()) return sink(nothing(runs, groups));
    for (const auto& line : view.first) sink(base::wrapped("", base::one_line(line)));
    if (!view.first.empty()) sink("\n");
    Footnotes footnotes;
    sink(text_table(view, footnotes) + '\n');
    sink(footnotes.text());
    for (const auto& note : view.notes) sink(base::wrapped("- ", base::one_line(note)));
    if (!view.conditions.empty())
        sink(base::wrapped("- ", "the same in all: " + base::one_line(view.conditions)));
}

void write_group_markdown(const model::ChosenRuns& runs, const Grouping& grouping, const model::Sink& sink) {
    const model::RunGroups groups = grouped_runs(runs, grouping);
    const View view = view_of(groups, runs);
    if (view.rows.empty()) return sink(nothing(runs, groups));
    std::vector<std::string> heads = view.heads;
    heads.emplace_back("<marks");
    std::string line = "|";
    for (auto& head : heads) {
        const bool left = head.starts_with('<');
        if (left || head.starts_with('+')) head.erase(0, 1);
        line += left ? " :--- |" : " ---: |";
    }
    sink(markdown_row(heads) + line + '\n');
    for (auto [cells, marks] : view.rows) {
        cells.push_back(base::join(marks, "; "));
        sink(markdown_row(cells));
    }
    sink("\n");
    const std::string chosen = runs.text().empty() ? "" : " of " + runs.text();
    sink(escaped(fmt::format("{} run(s){}; {}.", groups.runs(), chosen, view.conditions)) + '\n');
    for (const auto* lines : {&view.first, &view.notes})
        for (const auto& note : *lines) sink(fmt::format("\n{}.\n", escaped(note)));
}

}  // namespace ranklab::report::formats
