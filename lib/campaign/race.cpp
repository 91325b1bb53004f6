#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "base/numbers.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "campaign/sweep.hpp"
#include "report/formats/formats.hpp"
#include "report/model/values.hpp"
#include "results/staged_file.hpp"
#include "stats/repeats.hpp"

namespace ranklab::campaign {
namespace {

using report::formats::screen_line;

constexpr std::size_t kFullRepeat = 6;  // repeats of the sweep that a race is compared with

// Time for equal work. NaN if the ranks sum no gradients, so that they do not train one model.
double cost_of(const results::Run& run) {
    const auto number = [&](auto key) { return base::number_in(run.setting(key)).value_or(0); };
    if (run.command == "comm") return run.median(vocabulary::kCallTime);
    if (run.command == "io")
        return run.median(vocabulary::kJobTime) / number(vocabulary::setting::kFiles) /
               std::pow(number(vocabulary::setting::kSize), 2);
    const bool apart = run.hosts.size() > 1 &&
                       run.says(vocabulary::fact::kSumsGradients, vocabulary::FactWord::no);
    return apart ? stats::kNone : 1 / run.median(vocabulary::kThroughput);
}

struct Starts {
    std::vector<stats::Repeats> costs;  // of each point
    std::size_t count = 0;
    double hours = 0, hours_of_sweep = 0;  // node-hours: spent; of kFullRepeat repeats
};

Starts stored_starts(const Sweep& sweep) {
    Starts starts{std::vector<stats::Repeats>(sweep.points.size())};
    std::vector<double> hours(sweep.points.size());
    visit_runs(
        sweep, results::Detail::measurements, [&](std::size_t point, const results::Run& run) {
            const double cost = cost_of(run);
            if (!(cost > 0)) return;
            starts.costs[point].push_back(cost);
            hours[point] += run.duration_s / 3600 * base::real(report::model::node_count(run));
        });
    for (std::size_t i = 0; i < hours.size(); ++i) {
        const std::size_t count = starts.costs[i].size();
        starts.count += count;
        starts.hours += hours[i];
        starts.hours_of_sweep += count == 0 ? 0 : hours[i] / base::real(count) * kFullRepeat;
    }
    return starts;
}

// The best point as an INI file, with its command above.
std::string config_of(const Sweep& sweep, const Point& best, const std::string& file) {
    const auto launch = base::shell_quote(launch_words(sweep.launch, sweep.machine, best.need));
    auto text = fmt::format("# {} ranklab {} --config {}\n", launch, sweep.program, file);
    const std::span words(best.words.begin() + 1, best.words.end() - 4);  // without label, output
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool flag = i + 1 == words.size() || words[i + 1].starts_with("--");
        text += fmt::format("{} = {}\n", words[i].substr(2), flag ? "true" : words[i + 1]);
        i += flag ? 0 : 1;
    }
    return text;
}

// Starts the points with the fewest starts, among those below 2 and those that may be the best.
std::vector<Task> next_round(const Sweep& sweep, const std::vector<stats::Repeats>& costs,
                             const std::vector<bool>& failed, const stats::Standing& standing) {
    const auto starts = [&](std::size_t i) { return costs[i].size(); };
    auto points = standing.decided ? std::vector<std::size_t>() : standing.left;
    for (std::size_t i = 0; i < costs.size(); ++i)
        if (starts(i) < 2) points.push_back(i);
    std::erase_if(points, [&](std::size_t i) { return failed[i]; });
    if (points.empty()) return {};
    Sweep round = sweep;
    round.repeat = 1 + static_cast<int>(starts(*std::ranges::min_element(points, {}, starts)));
    std::vector<int> done(costs.size(), round.repeat);
    for (const std::size_t i : points) done[i] = static_cast<int>(starts(i));
    return tasks_of(round, done);
}

std::string verdict_of(const Sweep& sweep, const stats::Standing& standing,
                       const std::string& min_effect) {
    if (standing.left.empty()) return "undecided: no combination has 2 valid runs";
    std::vector<std::string> names;
    for (const std::size_t i : standing.left) names.push_back(sweep.points[i].name);
    const auto what = names.size() == 1 ? "best"
                      : standing.decided
                          ? "as good as each other"
                          : fmt::format("undecided, one is within {} of the best", min_effect);
    return fmt::format("{}: {}", what, base::join(names, ", "));
}

}  // namespace

std::pair<int, std::string> run_race(const Sweep& sweep, const RaceSettings& race, const Say& say) {
    const double min_effect = options::fraction("min-effect", race.min_effect);
    std::optional<results::TextFile> config;
    if (race.write_config) config.emplace(*race.write_config, "write-config");
    const std::size_t full = kFullRepeat * sweep.points.size();
    const auto budget = static_cast<std::size_t>(race.budget.value_or(static_cast<int>(full)));
    auto starts = stored_starts(sweep);
    std::vector<bool> failed(sweep.points.size());
    int code = 0;
    stats::Standing standing;
    while (base::StopSignals::received() == 0) {
        standing = stats::standing_of(starts.costs, min_effect);
        const auto tasks = next_round(sweep, starts.costs, failed, standing);
        if (tasks.empty()) break;
        if (starts.count + tasks.size() > budget) {
            standing = stats::standing_of(starts.costs, min_effect, true);
            break;
        }
        if (const int ending = run_tasks(sweep, tasks, say).code; code == 0) code = ending;
        const auto before = std::exchange(starts, stored_starts(sweep)).costs;
        for (const auto& [point, repetition] : tasks)
            failed[point] = starts.costs[point].size() == before[point].size();
    }
    if (base::StopSignals::received() != 0)
        return {code, screen_line("race", "stopped; the same command goes on")};
    const auto verdict = verdict_of(sweep, standing, race.min_effect);
    if (config && !standing.left.empty()) {
        config->write(fmt::format("# {}\n", verdict) +
                      config_of(sweep, sweep.points[standing.left.front()], *race.write_config));
        config->commit();
    }
    const auto spent =
        fmt::format("{} starts, {:.2g} node-hours; --repeat {} takes {} and {:.2g}", starts.count,
                    starts.hours, kFullRepeat, full, starts.hours_of_sweep);
    return {code, screen_line("race", verdict) + screen_line("spent", spent)};
}

}  // namespace ranklab::campaign
