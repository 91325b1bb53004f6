// Stored tables, measurements and lists of runs as Frames.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/terminal.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/groups.hpp"
#include "report/model/ladder.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Table;

// Of a long table the rows with the largest values of this column are shown.
struct Worst {
    std::string_view table, column;
};
constexpr std::array kWorst{Worst{"io_ranks", "job_s"}, Worst{"waiting", "came_last_share"},
                            Worst{"layers", "percent"}, Worst{"job_use", "cpu_s"}};

// "alpha_us" for "alpha_low_us", "us" for "low_us"; "" if the name is not that end of an interval.
std::string without_end(std::string name, const std::string& end) {
    const std::size_t at = name.find(end + "_");
    if (at == std::string::npos || (at > 0 && name[at - 1] != '_')) return "";
    return name.erase(at, end.size() + 1);
}

bool says_something(const results::Column& column) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values))
        return std::ranges::any_of(*texts, [](const auto& text) { return !text.empty(); });
    const auto* numbers = std::get_if<std::vector<double>>(&column.values);
    return numbers == nullptr ||
           std::ranges::any_of(*numbers, [](double number) { return !std::isnan(number); });
}

// Keeps `most` rows. Returns the column whose largest values were kept, or "".
std::string_view keep(std::vector<StoredRow>& rows, const Table& table, std::size_t most) {
    if (rows.size() <= most) return "";
    const auto* const worst = std::ranges::find(kWorst, table.name, &Worst::table);
    const std::string_view by = worst == kWorst.end() ? "" : worst->column;
    std::ranges::stable_sort(rows, std::greater(), [&](const StoredRow& row) {
        const double number = by.empty() ? 0 : row.number(by);
        return std::isnan(number) ? -HUGE_VAL : number;
    });
    rows.resize(most);
    return by;
}

// A shown column, and the stored columns of its interval.
struct Shown {
    std::string name, low = {}, high = {};
};

std::vector<Shown> shown_columns(const Table& table) {
    std::vector<Shown> shown;
    for (const auto& column : table.columns) {
        const auto low = without_end(column.name, "low"), high = without_end(column.name, "high");
        if (low.empty() && high.empty()) {
            if (column.name != "mark" && (shown.empty() || says_something(column)))
                shown.push_back({column.name});
            continue;
        }
        const auto of = std::ranges::find_if(shown, [&](const Shown& one) {
            return one.name == low + high || one.name.ends_with("_" + low + high);
        });
        if (of != shown.end()) (low.empty() ? of->high : of->low) = column.name;
    }
    return shown;
}

// "train mnist-cnn ddp", "io text-loop and 9 more", "comm allreduce and 7 more fp32".
std::string work_of(const results::Run& run) {
    std::string text = run.command;
    for (const auto key : {setting::kFromModel, setting::kModel, setting::kStrategy, setting::kMode,
                           setting::kOp, setting::kDatatype})
        if (const std::string names = run.setting(key); !names.empty())
            text += ' ' + some_of(base::split(names, ','), 1);
    return text;
}

std::string width_of(const results::Run& run) {
    if (run.hosts.empty()) return "";
    if (const auto workers = workers_of(run); workers > 0)
        return " by " + counted(workers, "worker");
    const std::string threads = run.setting(setting::kThreads);
    return fmt::format(" on {}{}", value_of(run, "ranks"), threads.empty() ? "" : " x " + threads);
}

std::string rate_of(const results::Run& run) {
    if (run.command == "comm" && run.hosts.size() < 2) return "";  // nothing was sent
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::summary, run.command)) {
        const auto* const found = run.find(name);
        if (found != nullptr && found->kind == results::Kind::rate && found->summary.n > 0)
            return readable(found->summary.median, found->unit);
    }
    return "";
}

}  // namespace

Frame measurements_of(const results::Run& run) {
    Frame frame{.title = "Measurements"};
    frame.columns =
        columns_of("measurement* | n | median median (95 % interval) | min | p95 | p99 | max");
    for (const auto& m : run.measurements) {
        if (vocabulary::family_of(m.name) != m.name) continue;
        const stats::Summary& s = m.summary;
        const auto text = [&](double value) { return readable(value, m.unit); };
        // Below 100 samples the 99th percentile is the largest sample.
        frame.rows.push_back({{m.name, static_cast<double>(s.n), readable(s.median, s.ci95, m.unit),
                               text(s.min), text(s.p95), s.n < 100 ? "" : text(s.p99), text(s.max)},
                              {}});
    }
    return frame;
}

Frame frame_of(const Table& table, std::size_t most) {
    Frame frame{.title = table.name};
    const auto shown = shown_columns(table);
    for (const auto& one : shown) {
        const auto [head, unit] = named_unit(one.name);
        const bool is_ratio = unit.empty() && table.find<double>(one.name) != nullptr;
        frame.columns.push_back({.name = one.name,
                                 .unit = is_ratio && one.name != "rank" ? "1" : unit,
                                 .interval = !one.low.empty(),
                                 .head = head});
        if (table.find<std::string>(one.name) != nullptr) frame.columns.back().unit.clear();
    }
    for (auto& column : frame.columns)
        if (&column == &frame.columns.front() || column.name == "bytes" || column.name == "level")
            column.role = Role::key;
    auto rows = rows_of(table);
    const std::size_t all = rows.size();
    const auto by = keep(rows, table, most);
    for (const auto& row : rows) {
        frame.rows.emplace_back();
        for (const auto& one : shown) {
            auto& cell = frame.rows.back().cells.emplace_back(cell_of(row, one.name));
            cell.interval = {row.number(one.low), row.number(one.high)};
        }
        if (const auto mark = row.text("mark"); !mark.empty())
            frame.rows.back().caveats.push_back({CaveatKind::said, mark});
    }
    if (all > rows.size())
        frame.notes.push_back(
            fmt::format("{} more rows{}: ranklab report --format json shows all", all - rows.size(),
                        by.empty() ? "" : fmt::format(" (shown: the largest {})", by)));
    return frame;
}

Frame list_runs(const results::ResultFile& file, const std::vector<results::RunHeader>& headers,
                std::size_t most) {
    Frame frame{.columns = columns_of("run* | what | rate | label")};
    for (std::size_t i = headers.size() - std::min(most, headers.size()); i < headers.size(); ++i) {
        const auto& header = headers[i];
        std::string what = header.command + ", damaged", rate;
        std::vector<Caveat> caveats;
        try {
            const results::Run run = file.read(header.id, results::Detail::measurements);
            what = work_of(run) + width_of(run);
            rate = run.valid ? rate_of(run) : fmt::format("INVALID ({})", run.exit_code);
            caveats = caveats_of(run);
            std::erase_if(caveats, [](const Caveat& one) {
                return one.kind == CaveatKind::single_run || one.kind == CaveatKind::cut_short;
            });
            if (const auto cut = run.cut_short(); !cut.empty())
                caveats.push_back({CaveatKind::cut_short, cut});
        } catch (const base::DataError&) {  // its header alone
        }
        frame.rows.push_back(
            {{header.id, base::shortened(what, 28), rate, base::shortened(header.label, 40)},
             caveats});
    }
    frame.drop_empty_columns();
    return frame;
}

}  // namespace ranklab::report::model
