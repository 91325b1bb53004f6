#include "report/model/io_ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "base/ceiling_share.hpp"
#include "base/numbers.hpp"
#include "report/model/surroundings.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Measurement;
using results::Run;
using results::Table;

constexpr const char* kDoesNotBind = "does not bind";

std::int64_t whole(double value, std::int64_t otherwise) {
    return std::isnan(value) ? otherwise : static_cast<std::int64_t>(value);
}

// Ladders that were stored before that was marked.
std::string ceiling_text(const Table& table, std::size_t row) {
    const std::string name = text_at(table, "ceiling", row);
    const bool marked = name.find(kDoesNotBind) != std::string::npos;
    const bool binds = !(number_at(table, "percent_of_ceiling", row) > base::kMostOfCeiling);
    return binds || marked ? name : fmt::format("{} ({})", name, kDoesNotBind);
}

LadderRow row_of(const Run& run) {
    LadderRow row;
    row.rung = run.setting("strategy");
    row.ranks = ranks_of(run);
    row.workers = workers_of(run);
    row.n = static_cast<std::int64_t>(run.find(vocabulary::kJobTime)->summary.n);
    row.time = job_time(run);
    row.write_MiBps = run.median(vocabulary::kWriteRate);
    row.files_per_s = run.median(vocabulary::kFileRate);
    row.verified = run.verified();
    row.read_MiBps = run.median(vocabulary::kReadRate);
    row.place = storage_place(run);
    if (!run.valid)
        row.mark = run.warnings.empty() ? "the run is INVALID" : "INVALID: " + run.warnings.front();
    return row;
}

void add_intervals(std::vector<LadderRow>& rows) {
    if (rows.empty()) return;
    const LadderRow& base = base_of(rows);
    for (auto& row : rows)
        if (&row != &base)
            row.speedup_ci = {base.time.s.low / row.time.s.high, base.time.s.high / row.time.s.low};
}

void add_speedups(std::vector<LadderRow>& rows) {
    const double base = base_of(rows).time.median_s;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].speedup = base / rows[i].time.median_s;
        if (i > 0) rows[i].over_previous = rows[i - 1].time.median_s / rows[i].time.median_s;
    }
    add_intervals(rows);
}

// Of a ladder that an older program stored nobody knows it.
StoragePlace place_in(const Table& table, std::size_t row, const Run& of) {
    const auto cell = [&](const char* column) {
        return table.find<std::string>(column) == nullptr ? "unknown" : text_at(table, column, row);
    };
    const std::string fsync = fsync_of(of);
    return {cell("directory"), cell("file_system"), fsync.empty() ? cell("fsync") : fsync, cell("cache")};
}

// Rungs in the order of the runs, each where it was met first.
std::vector<LadderRow> rows_of_runs(const std::vector<Run>& runs, const Run& newest) {
    std::vector<LadderRow> rows;
    for (const auto& run : runs) {
        if (!is_rung(run) || !same_records(run, newest) || !same_surroundings(run, newest)) continue;
        const LadderRow row = row_of(run);
        const auto old = std::ranges::find_if(rows, [&](const LadderRow& other) {
            return std::tie(other.rung, other.ranks, other.workers) ==
                   std::tie(row.rung, row.ranks, row.workers);
        });
        if (old == rows.end()) {
            rows.push_back(row);
        } else {
            *old = row;
        }
    }
    add_speedups(rows);
    return rows;
}

}  // namespace

bool is_rung(const Run& run) {
    const Measurement* time = run.find(vocabulary::kJobTime);
    return run.command == "io" && run.find_table("ladder") == nullptr && time != nullptr &&
           time->summary.n > 0 && !run.setting("strategy").empty();
}

TimeWithInterval job_time(const Run& run) {
    const stats::Summary& s = run.find(vocabulary::kJobTime)->summary;
    return {s.median, s.ci95};
}

// A run says who took part; of older ones job_time_s has a column each, or where it is read without samples
// the options say it.
std::int64_t ranks_of(const Run& run) {
    const auto told = base::number_in<std::int64_t>(run.fact("storage", "participants"));
    if (told && *told > 0) return *told;
    const Measurement* time = run.find(vocabulary::kJobTime);
    if (time != nullptr && time->rows() > 0) return static_cast<std::int64_t>(time->columns);
    const std::string text = run.setting("ranks");
    const auto hosts = static_cast<std::int64_t>(run.hosts.size());
    return std::max<std::int64_t>(1, text.empty() ? hosts : std::strtoll(text.c_str(), nullptr, 10));
}

std::int64_t workers_of(const Run& run) {
    if (!run.setting("strategy").starts_with("process-")) return 0;
    const std::string text = run.setting("workers");
    return text.empty() ? 1 : std::max<std::int64_t>(1, std::strtoll(text.c_str(), nullptr, 10));
}

std::string records_text(const Run& run) {
    return fmt::format("{} records of {} x {} float64", run.setting("files"), run.setting("size"),
                       run.setting("size"));
}

bool same_records(const Run& a, const Run& b) {
    return a.setting("files") == b.setting("files") && a.setting("size") == b.setting("size");
}

std::vector<LadderRow> ladder_rows(const Table& table, const Run& of) {
    std::vector<LadderRow> rows;
    for (std::size_t i = 0; i < row_count(table); ++i) {
        const auto value = [&](const char* column) { return number_at(table, column, i); };
        rows.push_back({text_at(table, "rung", i),
                        whole(value("ranks"), 1),
                        whole(value("workers"), 0),
                        whole(value("n"), 0),
                        {value("job_time_s"), {value("low_s"), value("high_s")}},
                        value("speedup"),
                        value("over_previous"),
                        value("write_MiBps"),
                        value("files_per_s"),
                        ceiling_text(table, i),
                        value("percent_of_ceiling"),
                        text_at(table, "verified", i),
                        text_at(table, "mark", i),
                        value("read_MiBps"),
                        place_in(table, i, of),
                        {}});
    }
    add_intervals(rows);
    return rows;
}

const LadderRow& base_of(const std::vector<LadderRow>& rows) {
    const auto base =
        std::ranges::find_if(rows, [](const LadderRow& row) { return row.rung == "text-loop"; });
    return base == rows.end() ? rows.front() : *base;
}

std::vector<std::string> ladder_labels(const std::vector<LadderRow>& rows) {
    std::vector<std::string> labels;
    for (const auto& row : rows) {
        const auto add = [&](std::int64_t LadderRow::*count, const char* what) {
            const bool several = std::ranges::any_of(rows, [&](const LadderRow& other) {
                return other.rung == row.rung && other.*count != row.*count;
            });
            if (row.*count > 1 || several)
                labels.back() += fmt::format(", {} {}{}", row.*count, what, row.*count == 1 ? "" : "s");
        };
        labels.push_back(row.rung);
        add(&LadderRow::ranks, "rank");
        add(&LadderRow::workers, "worker");
    }
    return labels;
}

Ladder newest_ladder(const std::vector<Run>& runs) {
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        const Table* table = run->command == "io" ? run->find_table("ladder") : nullptr;
        if (table != nullptr && row_count(*table) > 0)
            return {fmt::format("{} (run {})", records_text(*run), run->id), ladder_rows(*table, *run)};
    }
    const auto newest = std::find_if(runs.rbegin(), runs.rend(), is_rung);
    if (newest == runs.rend()) return {};
    return {records_text(*newest), rows_of_runs(runs, *newest)};
}

}  // namespace ranklab::report::model
