// The text of one run, and of a list of runs; what a run used of its job, and what --monitor saw.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/formats/answer.hpp"
#include "report/model/conditions.hpp"
#include "report/model/ladder.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using model::StoredRow;
using results::Run;

constexpr std::size_t kMostRows = 12;  // of a table: it fits one screen

std::string where(const Run& run) {
    std::set<std::string> hosts, devices;
    for (const auto& row : run.hosts) hosts.insert(row.host), devices.insert(row.device);
    if (hosts.empty()) return "unknown";
    return fmt::format("{} on {}: {}; {}", counted(run.hosts.size(), "rank"),
                       counted(hosts.size(), "host"), some_of(hosts, 4), some_of(devices, 4));
}

std::string header(const Run& run) {
    return fmt::format("run {}\n", base::one_line(run.id)) +
           // One line, so that a user can copy the command.
           (run.argv.empty() ? ""
                             : fmt::format("  {:<14}{}\n", "typed", base::one_line(run.argv))) +
           screen_line("label", run.label) +
           screen_line("when",
                       fmt::format("{}, {}", run.started_utc, readable(run.duration_s, "s"))) +
           screen_line("where", where(run)) +
           screen_line("ranklab", base::trim(fmt::format("{} {}", run.version, run.git_revision))) +
           screen_line("cut short", run.cut_short());
}

Frame phases_of(const Run& run) {
    Frame frame{.title = "Phases of a step, means over ranks and steps"};
    frame.columns = columns_of("phase* | mean_s [s] time | percent [%] share");
    double whole = 0;
    for (const auto& part : model::step_parts(run)) {
        const double mean_s = part.number("per_hit_s");
        frame.rows.push_back(
            {{part.text("phase"), Cell(mean_s), Cell(part.number("percent"))}, {}});
        whole += mean_s;
    }
    frame.notes.push_back("the phases add up to the mean step, " + readable(whole, "s") +
                          "; the line `step` has the median of the slowest rank");
    return frame;
}

// The tables below the answer; the tables in kElsewhere are shown in another form.
std::vector<Frame> tables_of(const Run& run, bool verbose) {
    static constexpr std::array kElsewhere{"order",          "messages", "nonblocking",
                                           "rank_summaries", "ladder",   "phases"};
    std::vector<Frame> all{phases_of(run)};
    if (!verbose) return all;
    if (const auto ladder = model::ladder_of(run); !ladder.empty())
        all.push_back(model::frame_of(ladder, true));
    if (run.valid) all.push_back(model::measurements_of(run));
    for (const auto& table : run.tables)
        if (std::ranges::find(kElsewhere, table.name) == kElsewhere.end())
            all.push_back(model::frame_of(table, kMostRows));
    return all;
}

constexpr double kFullyUsed = 85;  // per cent; diagnosis names a bound from a loss of 15 % on

// The value over the whole process; older runs have only the value over the counted steps.
double of_process(const StoredRow& row, const char* whole, const char* counted) {
    const double value = row.number(whole);
    return std::isnan(value) ? row.number(counted) : value;
}

// The rows of ranks, or of GPUs on which ranks compute; all rows if no GPU's rank is known.
std::vector<StoredRow> samples_of(const Run& run, const char* table) {
    auto rows = model::rows_of(run, table);
    const auto is_other = [](const StoredRow& row) { return !(row.number("rank") >= 0); };
    if (!std::ranges::all_of(rows, is_other)) std::erase_if(rows, is_other);
    return rows;
}

// Whether the step computes most of its time, or what it waits for.
std::string verdict(const Run& run) {
    auto parts = parts_of_step(run);
    double computing = 0;
    for (const auto& [name, percent] : parts) computing += name == kComputing ? percent : 0;
    if (parts.empty()) return "";
    if (computing >= kFullyUsed)
        return model::waits_for_launches(run)
                   ? "; not fully used: GPUs wait until the host has launched their kernels"
                   : "; fully used";
    std::erase_if(parts, [](const auto& part) { return part.first == kComputing; });
    const auto waited = shares_of(parts, 0);
    return waited.empty() ? "" : "; not fully used: " + waited.front();
}

// Mean and maximum over the samples of these columns, each "name value (at most value)".
std::string seen_in(const std::vector<StoredRow>& rows, const char* unit_name,
                    std::initializer_list<std::array<const char*, 3>> columns) {
    std::vector<std::string> all;
    for (const auto& [column, name, unit] : columns) {
        double sum = 0, count = 0, most = 0;
        for (const auto& row : rows)
            if (const double value = row.number(column); std::isfinite(value))
                sum += value, ++count, most = std::max(most, value);
        if (count > 0)
            all.push_back(fmt::format("{}{} (at most {})", name, readable(sum / count, unit),
                                      readable(most, unit)));
    }
    return all.empty() ? "" : unit_name + base::join(all, ", ");
}

}  // namespace

std::string use_text(const Run& run) {
    double wall_s = 0, cpu_s = 0, cpus = 0, fullest = 0, asked = 0;
    std::map<std::string, double> memory;  // by host, the sum of its ranks' peaks: an upper bound
    for (const auto& row : model::rows_of(run, "job_use")) {
        wall_s = std::max(wall_s, of_process(row, "process_s", "wall_s"));
        cpu_s += of_process(row, "process_cpu_s", "cpu_s");
        cpus += row.number("host_cpus");
        const double used = memory[row.text("host")] += row.number("peak_rss_bytes");
        if (used <= fullest) continue;
        fullest = used;
        asked = row.number("memory_asked_bytes");
    }
    const double percent = 100 * cpu_s / (wall_s * cpus);
    if (!std::isfinite(percent)) return "";
    const auto hours = [&](std::size_t count, const char* of) {
        return fmt::format(", {} {} h", digits(base::real(count) * wall_s / 3600), of);
    };
    const auto cores = model::cores_of(run);
    const double threads = run.median(vocabulary::kThreadCount);  // of MPI and loaders, too
    return fmt::format(
        "{} of wall time, {} of {} (including waits in MPI), {} of memory{}{}{}{}{}",
        readable(wall_s, "s"), percent_text(percent),
        counted(static_cast<std::size_t>(cpus), "CPU"), readable(fullest, "B"),
        asked > 0 ? fmt::format(", {} of the {} asked for", percent_text(100 * fullest / asked),
                                readable(asked, "B"))
                  : "",
        memory.size() > 1 ? " on the fullest host" : "",
        std::isnan(threads) ? "" : fmt::format(", at most {} threads per rank", threads),
        hours(memory.size(), "node"),
        cores.unit == "GPU" && cores.known() ? hours(cores.count, "GPU") : "");
}

std::string monitor_text(const Run& run) {
    const auto gpus = samples_of(run, "gpu_monitor"), ranks = samples_of(run, "monitor");
    const std::string seen =
        gpus.empty() ? seen_in(ranks, "per rank ",
                               {{"cpu_percent", "CPU ", "%"}, {"rss_bytes", "memory ", "B"}})
                     : seen_in(gpus, "per GPU ",
                               {{"busy_percent", "busy ", "%"},
                                {"memory_bytes", "memory ", "B"},
                                {"power_W", "", "W"}});
    return seen.empty() ? "" : seen + verdict(run);
}

std::string run_text(const Run& run, bool verbose) {
    std::string text = header(run) + '\n' + answer_text(run, {.whole = verbose});
    for (const auto& table : tables_of(run, verbose))
        if (!table.empty()) text += '\n' + text_of(table);
    return text;
}

std::string runs_text(const Frame& list, std::size_t all, const std::string& chosen,
                      const std::string& see_one) {
    std::string text = text_of(list) + '\n';
    if (all > list.rows.size())
        text += fmt::format(
            "{} older runs are not listed; --last N lists more, --where and --label choose\n",
            all - list.rows.size());
    text += fmt::format("{}{}.", counted(all, "run"),
                        chosen.empty() ? "" : " of " + base::one_line(chosen));
    if (!see_one.empty())
        text += fmt::format(" To see one:\n  {} {}", see_one,
                            base::one_line(list.rows.back().cells[0].text));
    return text + '\n';
}

}  // namespace ranklab::report::formats
