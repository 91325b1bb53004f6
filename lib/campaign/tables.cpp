#include "campaign/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "base/shell_path.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "campaign/script.hpp"
#include "campaign/slurm.hpp"
#include "report/model/text_table.hpp"

namespace ranklab::campaign {
namespace {

using report::model::TextTable;

constexpr std::array kStates{State::done,       State::running, State::waiting, State::open,
                             State::unfinished, State::failed,  State::lost};

// The jobs of one point, in the order of the file.
struct Point {
    const Job* first = nullptr;
    std::size_t jobs = 0;
    std::size_t done = 0;
    double seconds = 0;  ///< of those that are done, together

    bool measured() const { return done > 0 && seconds > 0; }
    double of_job() const {
        constexpr double kMinute = 60;
        return measured() ? seconds / static_cast<double>(done)
                          : static_cast<double>(first->minutes) * kMinute;
    }
};

std::vector<Point> points_of(const std::vector<Job>& jobs, const std::vector<Standing>& standings) {
    std::map<std::string, std::size_t> places;
    std::vector<Point> points;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const auto [place, added] = places.try_emplace(jobs[i].point, points.size());
        if (added) points.push_back({&jobs[i]});
        Point& point = points[place->second];
        ++point.jobs;
        if (standings[i].state != State::done || standings[i].seconds <= 0) continue;
        ++point.done;
        point.seconds += standings[i].seconds;
    }
    std::ranges::stable_sort(
        points, {}, [](const Point& point) { return std::pair(point.first->workload, point.first->ranks); });
    return points;
}

constexpr double kHour = 3600;

double node_hours(const Point& point) {
    return point.of_job() * static_cast<double>(point.jobs) * point.first->nodes / kHour;
}

std::string time_of(const Point& point) {
    const std::string time = base::human_duration(point.of_job());
    return point.measured() ? time : "<= " + time;
}

std::string disk_of(const Point& point) {
    return point.first->disk_bytes == 0
               ? ""
               : "<= " + base::human_bytes(static_cast<double>(point.first->disk_bytes));
}

std::size_t count(const std::vector<Standing>& standings, State state) {
    return static_cast<std::size_t>(std::ranges::count(standings, state, &Standing::state));
}

double seconds_left(const Point& point, const Standing& standing) {
    return standing.state == State::done ? 0 : std::max(0.0, point.of_job() - standing.seconds);
}

// Job time that is left, by what those of the same point took; none where a point has none that is done.
std::optional<double> seconds_left(const std::vector<Job>& jobs, const std::vector<Standing>& standings) {
    double left = 0;
    for (const auto& point : points_of(jobs, standings))
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (jobs[i].point != point.first->point || standings[i].state == State::done) continue;
            if (!point.measured()) return std::nullopt;
            left += seconds_left(point, standings[i]);
        }
    return left;
}

bool is_broken(const Standing& standing) {
    return standing.state == State::failed || standing.state == State::unfinished ||
           standing.state == State::lost;
}

// The command that helps now.
std::string next_of(const Campaign& campaign, const std::vector<Standing>& standings) {
    const std::string file = base::shell_path(campaign.file.string());
    const auto open = count(standings, State::open);
    const char* const begin = campaign.launcher == Launcher::slurm ? "submit" : "run";
    const char* word = "status";
    if (count(standings, State::done) == standings.size())
        word = "collect";
    else if (std::ranges::any_of(standings, is_broken) || (open > 0 && open < standings.size()))
        word = "resume";
    else if (open == standings.size())
        word = begin;
    return fmt::format("Next: ranklab campaign {} {}\n", word, file);
}

std::string trouble_of(const Campaign& campaign, const Job& job, const Standing& standing) {
    std::string what =
        standing.state == State::lost
            ? fmt::format("lost: {} is gone and has not said how it ended; its log says last: {}",
                          standing.where.empty() ? "whoever had it" : standing.where, standing.sentence)
            : fmt::format("{}, exit {}: {}", name_of(standing.state), standing.exit_code, standing.sentence);
    return base::wrapped(fmt::format("  {}  ", job.id),
                         fmt::format("{} ({})", what, file_of(campaign, job, "err").string()));
}

// Slurm's usual reasons need no line.
bool is_stuck(const Standing& standing) {
    constexpr std::array kUsual{"", "None", "Priority", "Resources", "Dependency", "BeginTime"};
    return standing.state == State::waiting &&
           std::ranges::find(kUsual, standing.sentence) == std::ranges::end(kUsual);
}

std::string line_of(const Campaign& campaign, const Job& job, const Standing& standing) {
    if (is_broken(standing)) return trouble_of(campaign, job, standing);
    if (is_stuck(standing))
        return fmt::format("  {}  waits ({}): {}\n", job.id, standing.where, standing.sentence);
    if (standing.state != State::running) return "";
    return fmt::format("  {}  running for {} ({})\n", job.id, base::human_duration(standing.seconds),
                       standing.where);
}

std::size_t unsure(const std::vector<Standing>& standings) {
    constexpr int kUnsure = static_cast<int>(base::ExitCode::invalid_measurement);
    return static_cast<std::size_t>(std::ranges::count(standings, kUnsure, &Standing::exit_code));
}

std::string counts_of(const std::vector<Standing>& standings) {
    std::string counts;
    for (const State state : kStates)
        if (const auto n = count(standings, state); n > 0)
            counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", n, name_of(state));
    return counts;
}

std::string changes_of(const Campaign& campaign, const std::vector<Job>& jobs,
                       const std::vector<Standing>& standings) {
    std::string text;
    for (std::size_t i = 0; i < jobs.size(); ++i)
        if (const auto change = changed_words(campaign, jobs[i]);
            standings[i].state != State::open && !change.empty())
            text +=
                base::wrapped(fmt::format("  {}  ", jobs[i].id),
                              fmt::format("{} with other settings: {}", name_of(standings[i].state), change));
    return text;
}

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json json_of(const Campaign& campaign, const Job& job, const Standing& standing) {
    return {{"id", job.id},
            {"point", job.point},
            {"workload", job.workload},
            {"command", job.words},
            {"ranks", job.ranks},
            {"nodes", job.nodes},
            {"threads", job.threads},
            {"repetition", job.repetition},
            {"limit_minutes", job.minutes},
            {"disk_bytes", job.disk_bytes},
            {"state", name_of(standing.state)},
            {"exit_code", standing.state == State::done || standing.state == State::failed ||
                                  standing.state == State::unfinished
                              ? Json(standing.exit_code)
                              : Json(nullptr)},
            {"seconds", standing.seconds > 0 ? Json(standing.seconds) : Json(nullptr)},
            {"where", standing.where},
            {"queue_number", standing.number},
            {"sentence", standing.sentence},
            {"queue_name", queue_name(campaign, job)},
            {"script", file_of(campaign, job, "sh").string()}};
}

}  // namespace

std::string plan_text(const Campaign& campaign, const std::vector<Job>& jobs,
                      const std::vector<Standing>& standings) {
    TextTable table({"point", "ranks", "nodes", "threads", "jobs", "time_of_job", "node_hours", "disk"});
    double hours = 0;
    bool all_measured = true;
    const auto points = points_of(jobs, standings);
    for (const auto& point : points) {
        table.add({point.first->point, std::to_string(point.first->ranks), std::to_string(point.first->nodes),
                   std::to_string(point.first->threads), std::to_string(point.jobs), time_of(point),
                   fmt::format("{:.3g}", node_hours(point)), disk_of(point)});
        hours += node_hours(point);
        all_measured = all_measured && point.measured();
    }
    std::string text = fmt::format("# campaign {}: {} jobs of {} points in {}\n", campaign.name, jobs.size(),
                                   points.size(), std::filesystem::absolute(campaign.folder).string());
    text += table.text();
    text += fmt::format("{}{:.3g} node hours in all\n", all_measured ? "about " : "at most ", hours);
    if (!all_measured)
        text += "# <=: the limit (key time); run a pilot (--pilot) and plan again to see what a job takes\n";
    return text + changes_of(campaign, jobs, standings) + next_of(campaign, standings);
}

std::string status_text(const Campaign& campaign, const std::vector<Job>& jobs, const Standings& standings) {
    const auto& all = standings.jobs;
    std::string text = fmt::format("{}: {} of {} jobs done ({})\n", campaign.name, count(all, State::done),
                                   jobs.size(), counts_of(all));
    if (!std::filesystem::exists(campaign.folder))
        text += fmt::format("{} is not there: nothing was begun, or from another working folder\n",
                            std::filesystem::absolute(campaign.folder).string());
    if (!standings.queue_answers)
        text += "Slurm does not answer: who waits there is not known, and who runs is a guess.\n";
    for (std::size_t i = 0; i < jobs.size(); ++i) text += line_of(campaign, jobs[i], all[i]);
    text += changes_of(campaign, jobs, all);
    if (const auto n = unsure(all); n > 0)
        text += fmt::format("{} done with exit code 7: their numbers are less sure than was asked for\n", n);
    if (const auto left = seconds_left(jobs, all); left && *left > 0)
        text += fmt::format("about {} of job time left\n", base::human_duration(*left));
    return text + next_of(campaign, all);
}

std::string report_commands(const Campaign& campaign) {
    const std::string report = fmt::format("ranklab report {}", base::shell_path(campaign.output.string()));
    // Under Slurm the repetitions of a point are on whichever nodes were free.
    const char* const hosts = campaign.launcher == Launcher::slurm ? " --allow hosts" : "";
    std::string text;
    for (const auto& workload : campaign.workloads)
        if (workload.ranks.size() > 1)
            text += fmt::format("{} --label {} --group-by ranks{}\n", report,
                                base::shell_quote({label_of(campaign, workload)}), hosts);
    return text + fmt::format("{} --format html --output {}\n", report,
                              base::shell_path((campaign.folder / "report.html").string()));
}

std::string status_json(const Campaign& campaign, const std::vector<Job>& jobs, const Standings& standings) {
    Json counts = Json::object();
    for (const State state : kStates) counts[name_of(state)] = count(standings.jobs, state);
    Json all = Json::array();
    for (std::size_t i = 0; i < jobs.size(); ++i)
        all.push_back(json_of(campaign, jobs[i], standings.jobs[i]));
    const auto left = seconds_left(jobs, standings.jobs);
    double hours = 0;
    for (const auto& point : points_of(jobs, standings.jobs)) hours += node_hours(point);
    return dump({{"campaign", campaign.name},
                 {"folder", std::filesystem::absolute(campaign.folder).string()},
                 {"output", std::filesystem::absolute(campaign.output).string()},
                 {"queue_answers", standings.queue_answers},
                 {"node_hours", hours},
                 {"node_hours_are_a_limit", !left.has_value()},
                 {"seconds_left", left ? Json(*left) : Json(nullptr)},
                 {"counts", counts},
                 {"jobs", all}});
}

}  // namespace ranklab::campaign
