// What stored tables and measurements say: as Frames, and in words.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "report/frame/readable.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Table;

// Tables with a row a rank: by this column the ranks that are to be looked at come first.
struct Worst {
    std::string_view table, column;
};
constexpr std::array kWorst{Worst{"io_ranks", "job_s"}, Worst{"waiting", "came_last_share"},
                            Worst{"job_use", "cpu_s"}, Worst{"clocks", "late_us"}};

Column column_of(const std::string& name) {
    auto [head, unit] = named_unit(name);
    if (unit.empty() && name != "rank") unit = std::string(1, '1');
    return {.name = name, .unit = std::move(unit), .head = std::move(head)};
}

// Whether the column is one end, "alpha_low_us" or "low_us"; if so, what stands around the word.
bool is_end(const std::string& name, const std::string& end, std::string& before, std::string& unit) {
    const std::size_t at = name.starts_with(end + "_") ? 0 : name.find("_" + end + "_");
    if (at == std::string::npos) return false;
    before = name.substr(0, at);
    unit = name.substr(at + (at == 0 ? 0 : 1) + end.size());
    return true;
}

bool says_something(const results::Column& column) {
    const auto* texts = std::get_if<std::vector<std::string>>(&column.values);
    return texts == nullptr || std::ranges::any_of(*texts, [](const auto& text) { return !text.empty(); });
}

std::vector<std::size_t> shown_rows(const Table& table, std::size_t rows, std::size_t most, std::string& by) {
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto* const worst = std::ranges::find(kWorst, table.name, &Worst::table);
    if (rows > most && worst != kWorst.end()) {
        by = worst->column;
        const auto value = [&](std::size_t row) {
            const double number = number_at(table, by, row);
            return std::isnan(number) ? -HUGE_VAL : number;
        };
        std::ranges::stable_sort(order, std::greater(), value);
    }
    order.resize(std::min(rows, most));
    return order;
}

// Stored columns, the one that each end of an interval belongs to among them.
struct Shown {
    std::string name, low = {}, high = {};
};

std::vector<Shown> columns_of(const Table& table) {
    std::vector<Shown> shown;
    std::string before, unit;
    const auto add_end = [&](const std::string& name, std::string Shown::*end) {
        for (auto& one : shown)
            if (one.name.starts_with(before) && one.name.ends_with(unit)) return void(one.*end = name);
    };
    for (const auto& column : table.columns) {
        if (is_end(column.name, "low", before, unit))
            add_end(column.name, &Shown::low);
        else if (is_end(column.name, "high", before, unit))
            add_end(column.name, &Shown::high);
        else if (column.name != "mark" && (shown.empty() || says_something(column)))
            shown.push_back({column.name});
    }
    return shown;
}

Cell cell_of(const Table& table, const Shown& shown, std::size_t row) {
    const double number = number_at(table, shown.name, row);
    if (!std::isnan(number))
        return {number, {number_at(table, shown.low, row), number_at(table, shown.high, row)}};
    const std::string text = text_at(table, shown.name, row);
    return text == "nan" ? "" : text;
}

}  // namespace

Frame measurements_of(const results::Run& run) {
    Frame frame{.title = "Measurements"};
    frame.columns = {{.name = "measurement", .key = true},
                     {.name = "n"},
                     {.name = "median", .head = "median (95 % interval)"},
                     {.name = "min"},
                     {.name = "p95"},
                     {.name = "p99"},
                     {.name = "max"}};
    for (const auto& m : run.measurements) {
        if (vocabulary::family_of(m.name) != m.name) continue;
        const stats::Summary& s = m.summary;
        const auto text = [&](double value) { return readable(value, m.unit); };
        // Below 100 samples the 99th percentile is made of the largest sample.
        frame.rows.push_back({{m.name, static_cast<double>(s.n), readable(s.median, s.ci95, m.unit),
                               text(s.min), text(s.p95), s.n < 100 ? "" : text(s.p99), text(s.max)},
                              {}});
    }
    return frame;
}

Frame frame_of(const Table& table, std::size_t most) {
    Frame frame{.title = table.name};
    const auto shown = columns_of(table);
    for (const auto& one : shown) {
        frame.columns.push_back(column_of(one.name));
        const bool number = table.find<std::string>(one.name) == nullptr;
        const bool whole = table.find<std::int64_t>(one.name) != nullptr;
        if (!number || (whole && frame.columns.back().unit == "1")) frame.columns.back().unit.clear();
        frame.columns.back().interval = !one.low.empty();
    }
    for (auto& column : frame.columns)
        column.key = &column == &frame.columns.front() || column.name == "bytes" || column.name == "level";
    std::string by;
    const std::size_t rows = row_count(table);
    const auto order = shown_rows(table, rows, most, by);
    for (const std::size_t row : order) {
        frame.rows.emplace_back();
        for (const auto& one : shown) frame.rows.back().cells.push_back(cell_of(table, one, row));
        if (const auto mark = text_at(table, "mark", row); !mark.empty())
            frame.rows.back().doubts.push_back({Mark::said, mark});
    }
    if (rows > order.size())
        frame.notes.push_back(fmt::format("{} more rows{}: ranklab report --format json has all",
                                          rows - order.size(),
                                          by.empty() ? "" : "; these have the most " + by));
    return frame;
}

std::string use_text(const results::Run& run) {
    const results::Table* const table = run.find_table("job_use");
    double wall_s = 0, cpu_s = 0, cpus = 0, fullest = 0;
    std::map<std::string, double> memory;  // of a host the ranks' peaks together: the most at a time
    for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row) {
        const auto at = [&](const char* column) { return number_at(*table, column, row); };
        wall_s = std::max(wall_s, at("wall_s"));
        cpu_s += at("cpu_s");
        cpus += at("host_cpus");
        fullest = std::max(fullest, memory[text_at(*table, "host", row)] += at("peak_rss_bytes"));
    }
    const double percent = 100 * cpu_s / (wall_s * cpus);
    if (!std::isfinite(percent)) return "";
    return fmt::format("{} of {} for {} (waiting in MPI counts), {} of memory{}", percent_text(percent),
                       counted(static_cast<std::size_t>(cpus), "CPU"), readable(wall_s, "s"),
                       readable(fullest, "B"), memory.size() > 1 ? " on the fullest host" : "");
}

}  // namespace ranklab::report::model
