#include "report/model/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/io_times.hpp"
#include "base/numbers.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Measurement;
using results::Run;
using results::Table;

constexpr std::array kRankZeroAlone{"text-loop", "text-vectorized", "binary", "hdf5-serial"};
constexpr const char* kBase = "text-loop";

std::int64_t whole(double value, std::int64_t otherwise) {
    return std::isnan(value) ? otherwise : static_cast<std::int64_t>(value);
}

// "unknown" in a ladder that an older program stored.
StoragePlace place_in(const Table& table, std::size_t row, const Run& run) {
    const auto cell = [&](const char* column) {
        return table.find<std::string>(column) == nullptr ? "unknown" : text_at(table, column, row);
    };
    const std::string fsync = fsync_of(run);
    return {cell("directory"), cell("file_system"), fsync.empty() ? cell("fsync") : fsync,
            cell("cache")};
}

LadderRow row_at(const Table& table, std::size_t i, const Run& run) {
    const auto value = [&](const char* column) { return number_at(table, column, i); };
    return {.strategy = text_at(table, "rung", i),
            .ranks = whole(value("ranks"), 1),
            .workers = whole(value("workers"), 0),
            .n = whole(value("n"), 0),
            .time_s = value("job_time_s"),
            .interval = {value("low_s"), value("high_s")},
            .speedup = value("speedup"),
            .write_MiBps = value("write_MiBps"),
            .read_MiBps = value("read_MiBps"),
            .files_per_s = value("files_per_s"),
            .file_bytes = value("file_bytes"),
            .ceiling = text_at(table, "ceiling", i),
            .percent_of_ceiling = value("percent_of_ceiling"),
            .verified = text_at(table, "verified", i),
            .mark = text_at(table, "mark", i),
            .place = place_in(table, i, run)};
}

LadderRow row_of(const Run& run) {
    const stats::Summary& time = run.find(vocabulary::kJobTime)->summary;
    LadderRow row{.strategy = run.setting(setting::kStrategy),
                  .ranks = ranks_of(run),
                  .workers = workers_of(run),
                  .n = static_cast<std::int64_t>(time.n),
                  .time_s = time.median,
                  .interval = time.ci95,
                  .write_MiBps = run.median(vocabulary::kWriteRate),
                  .read_MiBps = run.median(vocabulary::kReadRate),
                  .files_per_s = run.median(vocabulary::kFileRate),
                  .file_bytes = run.median("file_bytes"),
                  .verified = run.verified(),
                  .place = storage_place(run)};
    if (!run.valid)
        row.mark = run.warnings.empty() ? "the run is INVALID" : "INVALID: " + run.warnings.front();
    return row;
}

// The same records, on the same machine; hosts count where as many took part.
bool are_of_one_ladder(const Run& a, const Run& b) {
    const bool as_many = node_count(a) == node_count(b);
    return records_text(a) == records_text(b) && machine_of(a, as_many) == machine_of(b, as_many);
}

// Strategies in the order of the runs, each where it was met first.
std::vector<LadderRow> rows_of_runs(const std::vector<Run>& runs, const Run& newest) {
    InsertionOrderedMap<std::tuple<std::string, std::int64_t, std::int64_t>, LadderRow> rows;
    for (const auto& run : runs) {
        if (!is_strategy_run(run) || !are_of_one_ladder(run, newest)) continue;
        LadderRow row = row_of(run);
        rows[{row.strategy, row.ranks, row.workers}] = std::move(row);
    }
    return rows.all();
}

void name_rows(std::vector<LadderRow>& rows) {
    for (auto& row : rows) {
        row.name = row.strategy;
        const auto add = [&](std::int64_t LadderRow::*count, const char* what) {
            const bool several = std::ranges::any_of(rows, [&](const LadderRow& other) {
                return other.strategy == row.strategy && other.*count != row.*count;
            });
            if (row.*count > 1 || several)
                row.name += ", " + counted(static_cast<std::size_t>(row.*count), what);
        };
        add(&LadderRow::ranks, "rank");
        add(&LadderRow::workers, "worker");
    }
}

std::string value_text(const LadderRow& row) {
    const std::string rate =
        std::isfinite(row.write_MiBps) ? ", " + readable(row.write_MiBps, "MiB/s") : "";
    return readable(row.time_s, "s") + rate;
}

bool has_interval(const LadderRow& row) {
    return std::isfinite(row.interval.low) && std::isfinite(row.interval.high);
}

// Verified rows alone are advised. The fastest first.
std::vector<LadderRow*> timed(std::vector<LadderRow>& rows, bool verified) {
    std::vector<LadderRow*> all;
    for (auto& row : rows)
        if (row.time_s > 0 && (row.verified == "yes") == verified) all.push_back(&row);
    std::ranges::stable_sort(all, {}, &LadderRow::time_s);
    return all;
}

Finding advice(const std::vector<LadderRow*>& rows) {
    if (rows.empty()) return {.verdict = Verdict::nothing_verified};
    LadderRow& best = *rows.front();
    Finding finding{
        .verdict = Verdict::one_verified, .subject = best.name, .value = value_text(best)};
    if (rows.size() < 2) return finding;
    finding.verdict = Verdict::no_intervals;
    if (!has_interval(best)) return finding;
    for (LadderRow* row : rows) {
        const double low = has_interval(*row) ? row->interval.low : row->time_s;
        row->tier = low <= best.interval.high ? 1 : 2;
        if (row != &best && row->tier == 1) finding.alike.push_back(row->name);
    }
    finding.against = rows[1]->name;
    finding.ratio.ratio = rows[1]->time_s / best.time_s;
    finding.verdict = finding.alike.empty()                    ? Verdict::fastest_alone
                      : finding.alike.size() + 1 < rows.size() ? Verdict::best_tier
                                                               : Verdict::all_alike;
    return finding;
}

void complete(Ladder& ladder) {
    auto& rows = ladder.rows;
    if (rows.empty()) return;
    name_rows(rows);
    const auto base = std::ranges::find(rows, kBase, &LadderRow::strategy);
    ladder.base = base == rows.end() ? 0 : static_cast<std::size_t>(base - rows.begin());
    for (auto& row : rows)
        if (std::isnan(row.speedup)) row.speedup = rows[ladder.base].time_s / row.time_s;
    const auto verified = timed(rows, true), others = timed(rows, false);
    ladder.findings.push_back(advice(verified));
    if (!others.empty() && !verified.empty() && others[0]->time_s < verified[0]->time_s)
        ladder.findings.push_back({.verdict = Verdict::faster_but_unverified,
                                   .subject = others[0]->name,
                                   .value = value_text(*others[0])});
}

// A place that all rows share stands once, below them.
std::string common_place(const Ladder& ladder) {
    std::set<std::string> systems, fsync, cache;
    for (const auto& row : ladder.rows) {
        if (std::isfinite(row.read_MiBps)) cache.insert(row.place.cache);
        systems.insert(row.place.file_system);
        fsync.insert(row.place.fsync);
    }
    systems.erase("");
    const std::string how = fsync == std::set<std::string>{"yes"} ? "with fsync"
                            : fsync == std::set<std::string>{"no"}
                                ? "without fsync: memory may still hold the files"
                                : "fsync not known";
    cache.erase("");
    const std::string read = cache.empty() ? "" : "; cache when read: " + some_of(cache, 3);
    return fmt::format("{} on {}, {}{}", ladder.title, some_of(systems, 4), how, read);
}

// The bytes that the write rate is of.
std::string what_is_counted(const Ladder& ladder) {
    const auto is_text = [](const LadderRow& row) { return row.strategy.starts_with("text"); };
    const auto has_size = [](const LadderRow& row) { return std::isfinite(row.file_bytes); };
    if (std::ranges::none_of(ladder.rows, is_text)) return "";
    const bool older = std::ranges::none_of(ladder.rows, has_size);
    return older ? ", of the files" : ", of the numbers; text has 25 B on disk for 8";
}

// The numbers of a row that failed its verification do not stand.
void add_row(Frame& frame, const LadderRow& row, bool wide) {
    frame.rows.emplace_back();
    const bool stands = row.verified != "NO";
    const auto put = [&](Column column, Cell cell) {
        frame.put(frame.add_column(std::move(column)), std::move(cell));
    };
    const auto put_if = [&](Column column, double value) {
        put(std::move(column), stands ? value : Cell());
    };
    put({.name = "strategy", .key = true}, row.name);
    put({.name = "job_time_s", .unit = "s", .interval = true, .head = "job time"},
        {row.time_s, row.interval});
    put_if({.name = "write_MiBps", .unit = "MiB/s", .head = "write"}, row.write_MiBps);
    put_if({.name = "read_MiBps", .unit = "MiB/s", .head = "read"}, row.read_MiBps);
    auto& caveats = frame.rows.back().caveats;
    if (!stands) caveats.push_back({CaveatKind::invalid, "verification failed"});
    if (row.verified != "yes" && stands) caveats.push_back({CaveatKind::not_verified});
    if (!wide) return;
    put_if({.name = "speedup", .unit = "1"}, row.speedup);
    put({.name = "tier"}, row.tier == 0 ? Cell() : static_cast<double>(row.tier));
    put({.name = "n"}, static_cast<double>(row.n));
    put_if({.name = "files_per_s", .unit = "files/s", .head = "files"}, row.files_per_s);
    put({.name = "file_bytes", .unit = "B", .head = "on disk"}, row.file_bytes);
    put_if({.name = "percent_of_ceiling", .unit = "%", .head = "ceiling"}, row.percent_of_ceiling);
    put({.name = "ceiling", .head = "of"}, row.ceiling);
    put({.name = "cache"}, row.place.cache);
    put({.name = "verified"}, row.verified);
    if (!row.mark.empty()) caveats.push_back({CaveatKind::said, row.mark});
}

}  // namespace

bool is_strategy_run(const Run& run) {
    const Measurement* time = run.find(vocabulary::kJobTime);
    return run.command == "io" && run.find_table("ladder") == nullptr && time != nullptr &&
           time->summary.n > 0 && !run.setting(setting::kStrategy).empty();
}

// A run stores the ranks that took part; in older ones job_time_s has a column for each, or the
// options give them where samples are not read.
std::int64_t ranks_of(const Run& run) {
    const auto stored = base::number_in<std::int64_t>(run.fact(fact::kParticipants));
    if (stored && *stored > 0) return *stored;
    const Measurement* time = run.find(vocabulary::kJobTime);
    if (time != nullptr && time->rows() > 0) return static_cast<std::int64_t>(time->columns);
    const auto hosts = static_cast<std::int64_t>(run.hosts.size());
    return std::max<std::int64_t>(
        1, base::number_in<std::int64_t>(run.setting(setting::kRanks)).value_or(hosts));
}

std::int64_t workers_of(const Run& run) {
    if (!run.setting(setting::kStrategy).starts_with("process-")) return 0;
    return std::max<std::int64_t>(
        1, base::number_in<std::int64_t>(run.setting(setting::kWorkers)).value_or(1));
}

bool writes_on_rank_0(const Run& rung) {
    return std::ranges::count(kRankZeroAlone, rung.setting(setting::kStrategy)) > 0;
}

std::string records_text(const Run& run) {
    return fmt::format("{} records of {} x {} float64", run.setting(setting::kFiles),
                       run.setting(setting::kSize), run.setting(setting::kSize));
}

Ladder ladder_of(const Run& run) {
    Ladder ladder{records_text(run), {}};
    const Table* table = run.find_table("ladder");
    for (std::size_t i = 0; table != nullptr && i < row_count(*table); ++i)
        ladder.rows.push_back(row_at(*table, i, run));
    complete(ladder);
    return ladder;
}

Ladder newest_ladder(const std::vector<Run>& runs) {
    const auto newest = std::find_if(runs.rbegin(), runs.rend(), is_strategy_run);
    if (newest == runs.rend()) return {};
    Ladder ladder{records_text(*newest) + ", the newest run of each", rows_of_runs(runs, *newest)};
    complete(ladder);
    return ladder;
}

Frame frame_of(const Ladder& ladder, bool wide) {
    Frame frame;
    std::vector<const LadderRow*> rows;
    for (const auto& row : ladder.rows) rows.push_back(&row);
    const auto last_if_none = [](const LadderRow* row) {
        return std::isnan(row->time_s) ? HUGE_VAL : row->time_s;
    };
    if (!wide) std::ranges::stable_sort(rows, {}, last_if_none);
    for (const LadderRow* row : rows) add_row(frame, *row, wide);
    frame.drop_empty_columns();
    const LadderRow& base = ladder.rows[ladder.base];
    if (wide)
        frame.notes.push_back(
            fmt::format("speedup: over {}, {}", base.name, readable(base.time_s, "s")));
    frame.notes.push_back(common_place(ladder));
    frame.notes.push_back("write: from the first open to the last close" + what_is_counted(ladder));
    return frame;
}

}  // namespace ranklab::report::model
