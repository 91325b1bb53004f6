// The text of one run, and of a list of runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.hpp"
#include "report/formats/answer.hpp"
#include "report/model/ladder.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

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
    frame.columns = {{.name = "phase", .role = Role::key},
                     {.name = "mean_s", .unit = "s", .head = "time"},
                     {.name = "percent", .unit = "%", .head = "share"}};
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

}  // namespace

std::string run_text(const Run& run, bool verbose, const std::string& network) {
    std::string text =
        header(run) + '\n' + answer_text(run, {.whole = verbose}) + screen_line("network", network);
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
