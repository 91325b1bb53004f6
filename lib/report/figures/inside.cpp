// The inside of a run: lines of the loop, layers, operators, CPUs and GPUs over time.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/numbers.hpp"
#include "report/figures/figure.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

using model::StoredRow;
using results::Run;
using results::Table;

constexpr std::size_t kMostRows = 24, kMostLines = 8;

double mean_of(const Series& series) {
    const double sum = std::accumulate(series.points.begin(), series.points.end(), 0.0,
                                       [](double all, const Point& one) { return all + one.y; });
    return sum / base::real(series.points.size());
}

// Adds a line per name over time; rows without a name are left out. Keeps the kMostLines lines with
// the lowest means, which idle most, and says so in the caption.
void add_lines(Figure& figure, const Table& table, const char* column, const char* what,
               const std::function<std::string(const StoredRow&)>& name_of) {
    InsertionOrderedMap<std::string, Series> met;
    for (const auto& row : model::rows_of(table)) {
        const std::string name = name_of(row);
        const Point point{row.number("time_s"), row.number(column)};
        if (name.empty() || !is_drawn(point.x) || !is_drawn(point.y)) continue;
        met[name].title = name;
        met[name].points.push_back(point);
    }
    auto& lines = met.all();
    if (lines.size() > kMostLines) {
        figure.caption += fmt::format(" Shown are the {} of {} {} with the lowest means.",
                                      kMostLines, lines.size(), what);
        std::ranges::stable_sort(lines, {}, mean_of);
        lines.resize(kMostLines);
    }
    for (const auto& line : lines)
        figure.series.push_back(
            {line.title, Look::line, figure.series.size(), thinned(line.points)});
}

Figure over_time(const Run& run, const std::string& name, const std::string& title,
                 const std::string& quantity, const std::string& unit) {
    return {.name = name,
            .title = title,
            .x_label = "time since the work began [s]",
            .y_label = quantity,
            .unit = unit,
            .caption = fmt::format("Run {}.", run.id)};
}

Figure cpu_use(const Run& run, const Table& monitor) {
    Figure figure = over_time(run, "monitor", "CPU time of ranks and hosts", "CPU time", "%");
    figure.caption += " 100 % is one CPU for a rank, and all CPUs for a host.";
    for (const bool of_hosts : {false, true})
        add_lines(figure, monitor, "cpu_percent", of_hosts ? "hosts" : "ranks",
                  [&](const StoredRow& row) {
                      const std::string rank = row.text("rank"), host = row.text("host");
                      if (of_hosts != (rank == "-1")) return std::string();
                      return of_hosts ? "host " + host : fmt::format("rank {} on {}", rank, host);
                  });
    return figure;
}

Figure gpu_power(const Run& run, const Table& monitor) {
    Figure figure = over_time(run, "gpu_power", "Power of the GPUs", "power", "W");
    add_lines(figure, monitor, "power_W", "GPUs", [](const StoredRow& row) {
        return fmt::format("{} of {}", row.text("gpu"), row.text("host"));
    });
    return figure;
}

struct Part {
    const char* table;
    const char* title;  // of the shown table; nullptr: only the figure is shown
    Figure (*figure_of)(const Run&, const Table&);
};
constexpr Part kParts[] = {{"lines", "Lines", nullptr},
                           {"layers", "Layers", nullptr},
                           {"operators", "Operators", nullptr},
                           {"monitor", nullptr, cpu_use},
                           {"gpu_monitor", nullptr, gpu_power}};

}  // namespace

Section inside_section(const Source& source) {
    Section section{"inside", "Inside"};
    const Frame& runs = source.groups.runs();
    for (const auto& part : kParts) {
        const std::size_t column = runs.find(part.table, Role::table);
        std::size_t row = runs.rows.size();
        while (row > 0 &&
               (runs.rows[row - 1].has(CaveatKind::invalid) || runs.at(row - 1, column).empty()))
            --row;
        if (row == 0) continue;
        const Run run = source.file.read(runs.at(row - 1, "id").text, results::Detail::summaries);
        const Table& table = *run.find_table(part.table);
        if (part.figure_of != nullptr) section.figures.push_back(part.figure_of(run, table));
        if (part.title == nullptr) continue;
        section.tables.push_back(model::frame_of(table, kMostRows));
        section.tables.back().title = fmt::format("{} of run {}", part.title, run.id);
    }
    return section;
}

}  // namespace ranklab::report::figures
