#include "report/model/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/io_times.hpp"
#include "base/numbers.hpp"
#include "report/model/conditions.hpp"
#include "report/model/groups.hpp"
#include "report/model/values.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Measurement;
using results::Run;
using vocabulary::FactWord;

constexpr const char* kAsFast = "as fast";  // as the fastest row: the intervals overlap

// frame_of() shows the first kNarrow columns, or kWide with `wide`; the others serve the notes.
constexpr std::size_t kNarrow = 4, kWide = 13;
const std::vector<Column>& columns() {
    static const auto all = columns_of(
        "strategy* | job_time_s+- [s] job time | write_MiBps [MiB/s] write | "
        "read_MiBps [MiB/s] read | speedup [1] | tier vs fastest | n | "
        "files_per_s [files/s] files | file_bytes [B] on disk | percent_of_ceiling [%] ceiling | "
        "ceiling of | cache | verified | rung | ranks | workers | file_system | fsync");
    return all;
}

// Older programs stored neither file system, fsync nor cache: "unknown".
Cell stored_cell(const StoredRow& row, const Run& run, const std::string& name) {
    if (name == vocabulary::kJobTime)
        return {row.number(name), {row.number("low_s"), row.number("high_s")}};
    if (name == setting::kFsync && !fsync_of(run).empty()) return fsync_of(run);
    if (name.ends_with("ceiling") && row.number("percent_of_ceiling") > base::kMostOfCeiling)
        return {};  // older programs also named a ceiling that the strategy exceeded
    const bool is_place = name == "cache" || name == "file_system" || name == setting::kFsync;
    if (is_place && row.table->find<std::string>(name) == nullptr) return "unknown";
    return cell_of(row, name);
}

void add_row(Frame& table, const StoredRow& row, const Run& run) {
    table.rows.emplace_back();
    for (const Column& column : columns()) table.put(column, stored_cell(row, run, column.name));
    auto& caveats = table.rows.back().caveats;
    const auto verified = vocabulary::word_in(row.text("verified"));
    if (verified == FactWord::no)
        caveats.push_back({CaveatKind::invalid, "verification failed"});
    else if (verified != FactWord::yes)
        caveats.push_back({CaveatKind::not_verified});
    if (const auto mark = row.text("mark"); !mark.empty())
        caveats.push_back({CaveatKind::said, mark});
}

// Adds the ranks, or the workers, to the names of a strategy if one of its rows has more than one.
void name_rows(Frame& table) {
    for (const auto& [strategy, rows] : table.group_by({table.find("rung")}))
        for (const std::size_t row : rows) {
            std::string name = strategy.front();
            for (const auto& [column, what] : {std::pair{"ranks", "rank"}, {"workers", "worker"}})
                if (std::ranges::any_of(rows, [&, of = column](std::size_t other) {
                        return table.at(other, of).number > 1;
                    }))
                    name += ", " +
                            counted(static_cast<std::size_t>(table.at(row, column).number), what);
            table.set(row, columns().front(), name);
        }
}

// Gives a row the medians of the one group of several runs that matches it; renews the speedups.
void take_medians(Frame& table, const Run& run, const Groups& groups) {
    const auto is_of = [&](std::size_t group, std::size_t row) {
        return groups.command(group) == run.command &&
               groups.values(group, vocabulary::kJobTime).size() > 1 &&
               groups.factor(group, setting::kStrategy) == table.at(row, "rung").text &&
               groups.key(group, setting::kRanks) == exact(table.at(row, "ranks")) &&
               (table.at(row, "workers").number == 0 ||
                groups.key(group, setting::kWorkers) == exact(table.at(row, "workers"))) &&
               groups.factor(group, setting::kFiles) == run.setting(setting::kFiles) &&
               groups.factor(group, setting::kSize) == run.setting(setting::kSize);
    };
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        auto found = groups.all();
        std::erase_if(found, [&](std::size_t group) { return !is_of(group, row); });
        if (found.size() != 1) continue;
        for (const std::size_t column : table.all(Role::derived))
            if (const auto& name = table.columns[column].name; groups.has(found[0], name))
                table.set(row, {.name = name}, groups.estimate(found[0], name));
        for (std::size_t other = 0; other < table.rows.size(); ++other)
            table.set(other, {.name = "speedup"}, {});
    }
}

double time_of(const Frame& table, std::size_t row) {
    return table.at(row, vocabulary::kJobTime).number;
}

std::string value_text(const Frame& table, std::size_t row) {
    const double rate = table.at(row, vocabulary::kWriteRate).number;
    return readable(time_of(table, row), "s") +
           (std::isfinite(rate) ? ", " + readable(rate, "MiB/s") : "");
}

// The rows with a time, either the verified or the other ones, the fastest first.
Places timed(const Frame& table, bool verified) {
    Places rows;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        if (time_of(table, row) > 0 &&
            (vocabulary::word_in(table.at(row, "verified").text) == FactWord::yes) == verified)
            rows.push_back(row);
    std::ranges::stable_sort(rows, {}, [&](std::size_t row) { return time_of(table, row); });
    return rows;
}

// Names the fastest of the verified rows, and fills the column "tier".
Finding advice(Frame& table, const Places& rows) {
    if (rows.empty()) return {.verdict = Verdict::nothing_verified};
    const auto name = [&](std::size_t row) { return table.at(row, "strategy").text; };
    const auto interval = [&](std::size_t row) {
        return table.at(row, vocabulary::kJobTime).interval;
    };
    const std::size_t best = rows.front();
    Finding finding{
        .verdict = Verdict::one_verified, .subject = name(best), .value = value_text(table, best)};
    if (rows.size() < 2) return finding;
    finding.verdict = Verdict::no_intervals;
    if (!std::isfinite(interval(best).high)) return finding;
    for (const std::size_t row : rows) {
        const double low = std::fmin(interval(row).low, time_of(table, row));
        const bool alike = low <= interval(best).high;
        table.set(row, {.name = "tier"}, alike ? kAsFast : "slower");
        if (row != best && alike) finding.alike.push_back(name(row));
    }
    finding.against = name(rows[1]);
    finding.ratio.ratio = time_of(table, rows[1]) / time_of(table, best);
    finding.verdict = finding.alike.empty()                    ? Verdict::fastest_alone
                      : finding.alike.size() + 1 < rows.size() ? Verdict::best_tier
                                                               : Verdict::all_alike;
    return finding;
}

// Adds names, speedups and findings. Drops the numbers of rows that failed verification.
void complete(Ladder& ladder, const std::string& baseline) {
    Frame& table = ladder.table;
    name_rows(table);
    for (std::size_t row = table.rows.size(); row-- > 0;)
        if (table.at(row, "rung").text == baseline) ladder.base = row;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        if (!table.at(row, "speedup").is_number())
            table.set(row, {.name = "speedup"}, time_of(table, ladder.base) / time_of(table, row));
    if (table.empty()) return;
    const auto verified = timed(table, true), others = timed(table, false);
    ladder.findings.push_back(advice(table, verified));
    if (!others.empty() && !verified.empty() &&
        time_of(table, others[0]) < time_of(table, verified[0]))
        ladder.findings.push_back({.verdict = Verdict::faster_but_unverified,
                                   .subject = table.at(others[0], "strategy").text,
                                   .value = value_text(table, others[0])});
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        for (const char* column :
             {"write_MiBps", "read_MiBps", "speedup", "files_per_s", "percent_of_ceiling"})
            if (table.rows[row].has(CaveatKind::invalid)) table.set(row, {.name = column}, {});
}

// The values of a column, each once, without "".
std::set<std::string> texts_in(const Frame& table, const char* column) {
    std::set<std::string> texts;
    for (std::size_t row = 0; row < table.rows.size(); ++row)
        texts.insert(table.at(row, column).text);
    texts.erase("");
    return texts;
}

// The note below the table: the records, and the file systems, fsync and cache of the rows.
std::string common_place(const Ladder& ladder) {
    const bool reads = ladder.table.has_numbers(ladder.table.find(vocabulary::kReadRate));
    const auto fsync = texts_in(ladder.table, "fsync");
    const auto cache = reads ? texts_in(ladder.table, "cache") : std::set<std::string>();
    const std::string how = fsync == std::set<std::string>{"yes"} ? "with fsync"
                            : fsync == std::set<std::string>{"no"}
                                ? "without fsync: memory may still hold the files"
                                : "fsync not known";
    const std::string read = cache.empty() ? "" : "; cache when read: " + some_of(cache, 3);
    return fmt::format("{} on {}, {}{}", ladder.title,
                       some_of(texts_in(ladder.table, "file_system"), 4), how, read);
}

// Says which bytes the write rate counts, going by the strategies' names: the table has no facts.
std::string what_is_counted(const Frame& table) {
    const auto strategies = texts_in(table, "rung");
    const auto is_text = [](const std::string& strategy) {
        return vocabulary::fact_of_older_run("storage.bytes_per_value",
                                             [&](std::string_view) { return strategy; }) != "8";
    };
    if (std::ranges::none_of(strategies, is_text)) return "";
    return table.has_numbers(table.find("file_bytes"))
               ? "; the rate counts 8 B per number; text takes 25 B on disk"
               : "; the rate counts bytes on disk";
}

}  // namespace

bool is_strategy_run(const Run& run) {
    const Measurement* time = run.find(vocabulary::kJobTime);
    return run.command == "io" && run.find_table("ladder") == nullptr && time != nullptr &&
           time->summary.n > 0 && !run.setting(setting::kStrategy).empty();
}

// Runs of older versions did not store the number of ranks that took part: it is the number of
// columns of job_time_s, or if samples were not read, follows from the options.
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
    return base::number_in<std::int64_t>(run.fact(fact::kWorkerProcesses)).value_or(0);
}

std::string records_text(const Run& run) {
    return fmt::format("{} records of {} x {} float64", run.setting(setting::kFiles),
                       run.setting(setting::kSize), run.setting(setting::kSize));
}

Ladder ladder_of(const Run& run, const Groups* groups) {
    Ladder ladder{.title = records_text(run)};
    for (const auto& row : rows_of(run, "ladder")) add_row(ladder.table, row, run);
    if (groups != nullptr) take_medians(ladder.table, run, *groups);
    complete(ladder, run.fact(fact::kLadderBaseline));
    return ladder;
}

Frame frame_of(const Ladder& ladder, bool wide) {
    Places shown(wide ? kWide : kNarrow);
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    Frame frame = ladder.table.select(shown);
    if (!wide) {
        frame.sort({frame.find(vocabulary::kJobTime)});
        for (auto& row : frame.rows)
            std::erase_if(row.caveats,
                          [](const Caveat& caveat) { return caveat.kind == CaveatKind::said; });
    }
    frame.drop_empty_columns();
    if (wide && !texts_in(ladder.table, "tier").empty())
        frame.notes.push_back(
            fmt::format("{}: within the 95 % interval of the fastest verified row", kAsFast));
    if (wide)
        frame.notes.push_back(fmt::format("speedup: over {}, {}",
                                          ladder.table.at(ladder.base, "strategy").text,
                                          readable(time_of(ladder.table, ladder.base), "s")));
    frame.notes.push_back(common_place(ladder));
    frame.notes.push_back("write: from the first open to the last close" +
                          what_is_counted(ladder.table));
    return frame;
}

}  // namespace ranklab::report::model
