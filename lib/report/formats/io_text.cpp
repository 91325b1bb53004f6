#include "report/formats/parts.hpp"
#include "report/formats/screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/footnotes.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/ladder_advice.hpp"
#include "report/model/storage_place.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Measurement;
using results::Run;
using results::Table;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr std::size_t kMostRanks = 8;  // more would not be one screen
constexpr std::size_t kMostReads = 6;
constexpr std::size_t kEnough = 6;  // an interval that is not there has another reason than too few

// "812.3 (851.8)": MiB/s, and MB/s of 1e6 bytes.
std::string mib_and_mb(double mib_per_s) {
    if (!std::isfinite(mib_per_s)) return "n/a";
    return fmt::format("{} ({})", plain(mib_per_s), plain(mib_per_s * kMiB / 1e6));
}

std::string percent(double value) {
    return model::fixed(value, 1);
}

std::string times(double ratio) {
    return std::isfinite(ratio) ? plain(ratio) + " x" : "n/a";
}

std::string between(const stats::Interval& interval, std::size_t n) {
    return model::interval_text(interval, n, [](double value) { return plain(value); });
}

// ", 95 % 800.1 .. 820.2 MiB/s, n = 7"
std::string spread(const stats::Summary& s, const char* unit) {
    if (std::isnan(s.ci95.low)) return fmt::format(", no interval, n = {}", s.n);
    return fmt::format(", 95 % {} {}, n = {}", between(s.ci95, s.n), unit, s.n);
}

// "write        812.3 MiB/s (851.8 MB/s), 95 % 800.1 .. 820.2 MiB/s, n = 7"
std::string rate_line(const Run& run, std::string_view measurement, const char* name, const char* unit) {
    const Measurement* m = run.find(measurement);
    if (m == nullptr || m->summary.n == 0) return "";
    const double median = m->summary.median;
    const bool bytes = std::string_view(unit) == "MiB/s";
    return fmt::format("  {:<14}{} {}{}{}\n", name, plain(median), unit,
                       bytes ? fmt::format(" ({} MB/s)", plain(median * kMiB / 1e6)) : "",
                       spread(m->summary, unit));
}

std::string base_line(const std::vector<model::LadderRow>& rows) {
    const model::LadderRow& base = model::base_of(rows);
    const auto name = model::ladder_labels(rows)[static_cast<std::size_t>(&base - rows.data())];
    return fmt::format("  speedup: over {}, {} s\n", name, plain(base.time.median_s));
}

// "91.2 of write"
std::string of_ceiling(const model::LadderRow& row) {
    if (!std::isfinite(row.percent_of_ceiling)) return "n/a";
    return percent(row.percent_of_ceiling) + (row.ceiling.empty() ? "" : " of " + row.ceiling);
}

// Where the files lay and what of the writing is in memory, each once: rows differ in it only where several
// runs were put together.
std::string place_lines(const std::vector<model::LadderRow>& rows, const std::string& directory) {
    std::vector<std::string> systems, writing;
    const auto add = [](std::vector<std::string>& all, const std::string& one) {
        if (!one.empty() && std::ranges::find(all, one) == all.end()) all.push_back(one);
    };
    for (const auto& row : rows) {
        add(systems, row.place.file_system);
        add(writing, model::writing_words(row.place));
    }
    return base::wrapped("  where: ",
                         base::one_line(fmt::format("file system {}, directory {}", base::join(systems, ", "),
                                                    directory.empty() ? "unknown" : directory))) +
           (writing.empty() ? "" : base::wrapped("  writing: ", base::one_line(base::join(writing, "; "))));
}

std::string advice(const Run& run, const std::vector<model::LadderRow>& rows) {
    std::string text;
    for (const auto& sentence : model::ladder_advice(rows, model::scope_of(run)))
        text += base::wrapped("  ", base::one_line(sentence));
    return text;
}

// Of an invalid ladder the rungs that were verified stand all the same.
void leave_out_unverified(std::vector<model::LadderRow>& rows) {
    for (auto& row : rows) {
        if (row.verified == "yes") continue;
        row.speedup = row.over_previous = row.write_MiBps = row.files_per_s = stats::kNone;
        row.percent_of_ceiling = row.read_MiBps = stats::kNone;
        row.speedup_ci = {};
    }
}

std::string ladder(const Run& run, const Table& stored) {
    auto rows = model::ladder_rows(stored, run);
    if (rows.empty()) return "";
    const std::string last = advice(run, rows);
    if (!run.valid) leave_out_unverified(rows);
    model::TextTable table({"rung", "n", "job time s", "+95% interval", "speedup", "+95% interval",
                            "over previous", "write MiB/s (MB/s)", "files/s", "read MiB/s (MB/s)", "<cache",
                            "<% of ceiling", "<verified"});
    Footnotes notes;
    const auto labels = model::ladder_labels(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& row = rows[i];
        table.add({labels[i] + notes.reference(row.mark), std::to_string(row.n), plain(row.time.median_s),
                   between(row.time.s, static_cast<std::size_t>(row.n)), times(row.speedup),
                   between(row.speedup_ci, kEnough), times(row.over_previous), mib_and_mb(row.write_MiBps),
                   plain(row.files_per_s), mib_and_mb(row.read_MiBps), row.place.cache, of_ceiling(row),
                   row.verified});
    }
    return "ladder\n" + table.text() + base_line(rows) + place_lines(rows, run.setting("directory")) + last +
           '\n' + notes.text();
}

// What a column is called in a head, where its name says a unit in code.
std::string head_of(const std::string& column) {
    static const std::vector<std::pair<std::string, std::string>> kHeads{
        {"per_call_s", "per call s"},
        {"percent", "%"},
        {"resident_percent", "resident %"},
        {"block_layer_MiB", "block layer MiB"}};
    for (const auto& [name, head] : kHeads)
        if (name == column) return head;
    if (column == "MiB_per_s") return "MiB/s (MB/s)";
    if (column.ends_with("_MiBps")) return column.substr(0, column.size() - 6) + " MiB/s (MB/s)";
    if (column.ends_with("_s")) return column.substr(0, column.size() - 2) + " s";
    return column;
}

std::string io_cell(const results::Column& column, std::size_t row) {
    const auto* doubles = std::get_if<std::vector<double>>(&column.values);
    if (doubles == nullptr) return model::cell(column, row);
    if (column.name.ends_with("MiBps") || column.name == "MiB_per_s") return mib_and_mb((*doubles)[row]);
    return column.name.ends_with("percent") ? percent((*doubles)[row]) : model::number((*doubles)[row]);
}

Table without(const Table& stored, std::string_view column) {
    Table rest = stored;
    std::erase_if(rest.columns, [&](const auto& one) { return one.name == column; });
    return rest;
}

// A ceiling is a rate of bytes or of files; only that of bytes has two units. Marks stand below.
std::string ceilings(const Table& stored) {
    if (model::row_count(stored) == 0) return "";
    Footnotes notes;
    const auto cell_of = [&](const results::Column& column, std::size_t row) {
        const bool bytes = model::text_at(stored, "unit", row) == "MiB/s";
        std::string cell = column.name == "value" && bytes
                               ? mib_and_mb(model::number_at(stored, "value", row))
                           : column.name == "unit" && bytes ? "MiB/s (MB/s)"
                                                            : io_cell(column, row);
        if (column.name == "binds") cell += notes.reference(model::text_at(stored, "mark", row));
        return cell;
    };
    const auto table = stored_table(without(stored, "mark"), stored.name, SIZE_MAX, {}, head_of, cell_of);
    return table + notes.text();
}

}  // namespace

bool is_io(const Run& run) {
    return run.command == "io";
}

std::string io_records(const Run& run) {
    const auto files = run.setting("files");
    const auto size = run.setting("size");
    if (files.empty() || size.empty()) return "";
    const double edge = std::strtod(size.c_str(), nullptr);
    const double bytes = std::strtod(files.c_str(), nullptr) * edge * edge * 8;
    const auto ranks =
        model::is_rung(run) ? model::ranks_of(run) : static_cast<std::int64_t>(run.hosts.size());
    const auto workers = model::is_rung(run) ? model::workers_of(run) : 0;
    const std::string by = workers > 0 ? fmt::format(", {} worker(s)", workers) : "";
    return screen_line("records",
                       fmt::format("{} of {} x {} float64, {} as numbers, by {}; {} rank(s){}", files, size,
                                   size, base::human_bytes(bytes), run.setting("strategy"), ranks, by)) +
           '\n';
}

std::string io_rates(const Run& run) {
    const auto place = model::storage_place(run);
    const auto below = [](const std::string& rate, const std::string& words) {
        return rate.empty() || words.empty() ? rate : rate + screen_line("", words);
    };
    const std::string text =
        below(rate_line(run, vocabulary::kWriteRate, "write", "MiB/s"), model::writing_words(place)) +
        below(rate_line(run, vocabulary::kReadRate, "read back", "MiB/s"), model::reading_words(place)) +
        rate_line(run, vocabulary::kFileRate, "files", "files/s");
    if (text.empty()) return "";
    return text +
           screen_line("where", fmt::format("file system {}, {}", place.file_system, place.directory)) + '\n';
}

std::optional<std::string> io_table(const Run& run, const Table& table, const model::HowTo& how_to) {
    // Phases, ranks, reads: the stored columns under readable heads.
    const auto readable = [&](const char* title, std::size_t most_rows) {
        return stored_table(table, title, most_rows, how_to, head_of, io_cell);
    };
    if (table.name == "ladder") return ladder(run, table);
    if (table.name == "ceilings") return ceilings(table);
    if (table.name == "io_phases") return readable("phases (all ranks and workers, all repetitions)", 100);
    if (table.name == "io_ranks") return readable("ranks", kMostRanks);
    if (table.name == "io_reads") return readable("reading back", kMostReads);
    return std::nullopt;
}

}  // namespace ranklab::report::formats
