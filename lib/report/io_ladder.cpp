#include "report/io_ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "report/values.hpp"

namespace ranklab::report {
namespace {

using results::Measurement;
using results::Run;
using results::Table;

std::int64_t whole(double value, std::int64_t otherwise) {
    return std::isnan(value) ? otherwise : static_cast<std::int64_t>(value);
}

double median_of(const Run& run, const std::string& name) {
    const Measurement* m = run.find(name);
    return m == nullptr ? stats::kNone : m->summary.median;
}

std::string verified_of(const Run& run) {
    const Table* checks = run.find_table("verification");
    if (checks == nullptr || row_count(*checks) == 0) return "no";
    for (std::size_t row = 0; row < row_count(*checks); ++row) {
        const std::string result = text_at(*checks, "result", row);
        if (result != "passed" && result != "ok") return result;
    }
    return "yes";
}

LadderRow row_of(const Run& run) {
    LadderRow row;
    row.rung = config_of(run, "strategy");
    row.ranks = ranks_of(run);
    row.workers = workers_of(run);
    row.n = static_cast<std::int64_t>(run.find("job_time_s")->summary.n);
    row.time = job_time(run);
    row.write_MiBps = median_of(run, "write_MiBps");
    row.files_per_s = median_of(run, "files_per_s");
    row.verified = verified_of(run);
    if (!run.valid)
        row.mark = run.warnings.empty() ? "the run is INVALID" : "INVALID: " + run.warnings.front();
    return row;
}

void add_speedups(std::vector<LadderRow>& rows) {
    const auto base =
        std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.rung == "text-loop"; });
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (base != rows.end()) rows[i].speedup = speedup(base->time, rows[i].time).ratio;
        if (i > 0) rows[i].over_previous = speedup(rows[i - 1].time, rows[i].time).ratio;
    }
}

// Rungs in the order of the runs, each where it was met first.
std::vector<LadderRow> rows_of_runs(const std::vector<Run>& runs, const Run& newest) {
    std::vector<LadderRow> rows;
    for (const auto& run : runs) {
        if (!is_rung(run) || !same_records(run, newest)) continue;
        const LadderRow row = row_of(run);
        const auto old = std::find_if(rows.begin(), rows.end(), [&](const LadderRow& other) {
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

std::vector<LadderRow> ladder_rows(const Table& table) {
    std::vector<LadderRow> rows;
    for (std::size_t i = 0; i < row_count(table); ++i) {
        const auto value = [&](const char* column) { return number_at(table, column, i); };
        rows.push_back({text_at(table, "rung", i),
                        whole(value("ranks"), 1),
                        whole(value("workers"), 1),
                        whole(value("n"), 0),
                        {value("job_time_s"), {value("low_s"), value("high_s")}},
                        value("speedup"),
                        value("over_previous"),
                        value("write_MiBps"),
                        value("files_per_s"),
                        text_at(table, "ceiling", i),
                        value("percent_of_ceiling"),
                        text_at(table, "verified", i),
                        text_at(table, "mark", i)});
    }
    return rows;
}

std::vector<std::string> ladder_labels(const std::vector<LadderRow>& rows) {
    const auto differ = [&](auto member) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](const LadderRow& row) { return row.*member != rows.front().*member; });
    };
    const bool ranks = differ(&LadderRow::ranks);
    const bool workers = differ(&LadderRow::workers);
    std::vector<std::string> labels;
    for (const auto& row : rows) {
        labels.push_back(row.rung);
        if (ranks) labels.back() += fmt::format(", {} rank{}", row.ranks, row.ranks == 1 ? "" : "s");
        if (workers) labels.back() += fmt::format(", {} worker{}", row.workers, row.workers == 1 ? "" : "s");
    }
    return labels;
}

Ladder newest_ladder(const std::vector<Run>& runs) {
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        const Table* table = run->command == "io" ? run->find_table("ladder") : nullptr;
        if (table != nullptr && row_count(*table) > 0)
            return {fmt::format("{} (run {})", records_text(*run), run->id), ladder_rows(*table)};
    }
    const auto newest = std::find_if(runs.rbegin(), runs.rend(), is_rung);
    if (newest == runs.rend()) return {};
    return {records_text(*newest), rows_of_runs(runs, *newest)};
}

}  // namespace ranklab::report
