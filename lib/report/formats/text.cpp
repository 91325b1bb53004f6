#include "report/formats/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "base/number_ranges.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/parts.hpp"
#include "report/formats/screen.hpp"
#include "report/model/selection.hpp"
#include "report/model/step_parts.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"
#include "stats/series.hpp"

namespace ranklab::report::formats {
namespace {

using results::Kind;
using results::Measurement;
using results::Run;

constexpr std::size_t kMostRows = 12;           // of a table of the experiment; more would not be one screen
constexpr std::size_t kMostRowsOfWhole = 1000;  // of one that is read whole

bool is_phase(const Measurement& m) {
    const auto* known = vocabulary::find_quantity(m.name);
    return known != nullptr && known->part_of == vocabulary::kStepTime;
}

// Measurements that a line of their own tells of.
bool has_own_line(const Measurement& m) {
    static constexpr std::array kNames{vocabulary::kAccuracy,     vocabulary::kTestLoss,
                                       vocabulary::kPeakMemory,   vocabulary::kThreadCount,
                                       vocabulary::kLearningRate, vocabulary::kLoadImbalance};
    return std::ranges::find(kNames, m.name) != kNames.end();
}

// Below 100 samples the 99th percentile is made of the largest sample: the max column says it.
std::string p99(const stats::Summary& s) {
    return s.n < 100 ? "max" : model::number(s.p99);
}

std::string with_unit(const std::string& number, const char* unit) {
    return number == "n/a" ? number : number + unit;
}

std::string share(double percent) {
    return std::isnan(percent) ? "" : with_unit(model::fixed(percent, 1), " %");
}

// What lies between the phases has a share alone.
void add_rest(model::TextTable& table, const Run& run) {
    for (const auto& part : model::step_parts(run))
        if (part.phase == "other") table.add({part.phase, "", "", "", "", share(part.percent)});
}

// Where the middle lies, and below it how far the samples reach.
template <class Wanted>
std::string measurement_table(const Run& run, const char* title, Wanted wanted) {
    const bool phases = std::string_view(title) == "phase";
    std::vector<std::string> heads{title, "<unit", "n", "median", "+95% interval"};
    if (phases) heads.emplace_back("share");
    model::TextTable middle(std::move(heads));
    model::TextTable reach({title, "min", "p95", "p99", "max"});
    for (const auto& m : run.measurements) {
        const stats::Summary& s = m.summary;
        if (!wanted(m)) continue;
        middle.add({m.name, m.unit, std::to_string(s.n), model::number(s.median),
                    model::interval_text(s.ci95, s.n), share(model::share_of_step(run, m.name))});
        reach.add({m.name, model::number(s.min), model::number(s.p95), p99(s), model::number(s.max)});
    }
    if (middle.empty()) return "";
    if (phases) add_rest(middle, run);
    return middle.text() + '\n' + reach.text(base::kScreenColumns) + '\n';
}

std::string where(const Run& run) {
    std::map<std::string, std::vector<int>> ranks;
    std::set<std::string> devices;
    for (const auto& row : run.hosts) {
        ranks[row.host].push_back(row.rank);
        devices.insert(row.device);
    }
    std::vector<std::string> parts;
    for (auto& [host, ids] : ranks) {
        std::ranges::sort(ids);
        parts.push_back(fmt::format("{} (ranks {})", host, base::few_ranges(ids)));
    }
    if (parts.empty()) return "unknown";
    return fmt::format("{} rank(s) on {} host(s): {}; {}", run.hosts.size(), ranks.size(),
                       model::some_of(parts, 4), model::some_of(devices, 4));
}

// One that people copy stays one.
std::string copied_line(const char* name, const std::string& value) {
    return value.empty() ? "" : fmt::format("  {:<14}{}\n", name, base::one_line(value));
}

std::string header(const Run& run) {
    return fmt::format("run {}\n", base::one_line(run.id)) + screen_line("command", run.command) +
           screen_line("label", run.label) + copied_line("command line", run.argv) +
           screen_line("when", fmt::format("{}, {}", run.started_utc,
                                           with_unit(model::fixed(run.duration_s, 1), " s"))) +
           screen_line("where", where(run)) +
           screen_line("ranklab", base::trim(fmt::format("{} {}", run.version, run.git_revision))) +
           screen_line("valid", run.valid ? "yes" : "NO") + screen_line("cut short", run.cut_short()) +
           screen_line("converged", model::value_of(run, "measuring.converged"));
}

std::string accuracy(const Run& run) {
    std::string text;
    const double accuracy = last_value(run, vocabulary::kAccuracy);
    const double loss = last_value(run, vocabulary::kTestLoss);
    if (std::isfinite(accuracy)) text += screen_line("test accuracy", model::fixed(100 * accuracy, 2) + " %");
    if (!std::isnan(loss)) text += screen_line("test loss", model::number(loss));
    return text;
}

std::string learning_rate(const Run& run) {
    const Measurement* m = run.find(vocabulary::kLearningRate);
    if (m == nullptr || m->summary.n == 0) return "";
    if (m->summary.min == m->summary.max) return screen_line("learning rate", model::number(m->summary.max));
    return screen_line("learning rate", fmt::format("{} at least, {} at most, over {} counted steps",
                                                    model::number(m->summary.min),
                                                    model::number(m->summary.max), m->summary.n));
}

// Those that compute, and all that a process has: LibTorch, MPI and ranklab have threads of their own.
std::string threads(const Run& run) {
    const std::string set = run.setting("threads");
    const Measurement* m = run.find(vocabulary::kThreadCount);
    const std::string all =
        m == nullptr || m->summary.n == 0
            ? ""
            : model::number(m->summary.max) + " in a process, as htop counts them (the most)";
    return screen_line("computing",
                       set.empty() ? "" : set + (set == "1" ? " thread" : " threads") + " a rank") +
           screen_line("threads", all);
}

std::string resources(const Run& run) {
    std::string text;
    if (const Measurement* m = run.find(vocabulary::kLoadImbalance); m != nullptr && m->summary.n > 0)
        text += screen_line("imbalance",
                            model::fixed(100 * m->summary.median, 2) + " % (max/mean - 1 over ranks)");
    if (const Measurement* m = run.find(vocabulary::kPeakMemory); m != nullptr && m->summary.n > 0)
        text += screen_line("peak memory",
                            fmt::format("{} (the largest rank)", base::human_bytes(m->summary.max)));
    if (const auto looked_at = run.fact("communication", "steps_looked_at"); !looked_at.empty())
        text += screen_line("who waited", looked_at + " steps were looked at, spread evenly over the run");
    return text + threads(run);
}

// Of the whole, the parts that are known.
std::string communication_parts(const Run& run) {
    std::vector<std::string> parts;
    const auto add = [&](const char* name, const char* what) {
        const Measurement* m = run.find(name);
        if (m != nullptr && m->summary.n > 0 && !std::isnan(m->summary.median))
            parts.push_back(fmt::format("{} ms {}", model::number(1e3 * m->summary.median), what));
    };
    add("communication_s", "a step in all");
    add("communication_hidden_s", "hidden behind backward");
    add("communication_exposed_s", "longer than without");
    return base::join(parts, ", ");
}

// What the ranks' communication costs a step.
std::string communication(const Run& run) {
    const Measurement* overlap = run.find(vocabulary::kOverlap);
    if (overlap == nullptr) return "";
    const stats::Summary& s = overlap->summary;
    const std::string parts = communication_parts(run);
    if (!std::isfinite(s.median) || !std::isfinite(s.ci95.low)) {
        return screen_line("overlap", fmt::format("n/a: {}; {} (n = {})", why_no_overlap(run), parts, s.n));
    }
    return screen_line(
        "overlap",
        fmt::format("{:.1f} % of the communication is hidden (95 % interval {:.1f} .. {:.1f} %, balance "
                    "{}): {} (n = {})",
                    100 * s.median, 100 * s.ci95.low, 100 * s.ci95.high,
                    model::fixed(run.median("overlap_balance"), 2), parts, s.n));
}

// Of all samples, those of the warm-up included.
std::string detected_text(std::int64_t detected, std::int64_t n) {
    constexpr auto kFewest = static_cast<std::int64_t>(stats::kFewestForWarmup);
    return n < kFewest ? fmt::format("n/a (n < {})", kFewest) : fmt::format("{}", detected);
}

// Of the wholes: the table has the phases, too, and stands in every other format.
std::string series(const Run& run) {
    const results::Table* table = run.find_table("statistics");
    if (table == nullptr) return "";
    const auto* names = table->find<std::string>("name");
    const auto counts = [&](const char* column) { return table->find<std::int64_t>(column); };
    const auto *n = counts("n"), *low = counts("outliers_low"), *high = counts("outliers_high");
    const auto *fixed = counts("warmup_fixed"), *detected = counts("warmup_detected");
    if (names == nullptr || !n || !low || !high || !fixed || !detected) return "";
    std::string text;
    for (std::size_t i = 0; i < names->size(); ++i) {
        const std::string& name = (*names)[i];
        if (name != vocabulary::kStepTime && name != vocabulary::kJobTime) continue;
        text += screen_line(
            "outliers",
            fmt::format("{} low, {} high of {} in {}, all counted; warm-up: fixed {}, detected {}", (*low)[i],
                        (*high)[i], (*n)[i], name, (*fixed)[i],
                        detected_text((*detected)[i], (*fixed)[i] + (*n)[i])));
    }
    return text;
}

// What stands elsewhere: in the line `outliers`, or in the answer of comm; or is for who looks into the file.
bool is_shown_elsewhere(const results::Table& table) {
    static constexpr std::array kNames{"statistics", "order",      "messages",      "nonblocking",
                                       "buckets",    "guidelines", "rank_summaries"};
    return std::ranges::find(kNames, table.name) != kNames.end();
}

std::size_t most_rows(const results::Table& table) {
    static constexpr std::array kWhole{"verification", "fits"};
    return std::ranges::find(kWhole, table.name) != kWhole.end() ? kMostRowsOfWhole : kMostRows;
}

std::string tables(const Run& run, const model::HowTo& how_to) {
    std::string text;
    for (const auto& table : run.tables) {
        if (is_shown_elsewhere(table)) continue;
        const auto own_form = is_io(run) ? io_table(run, table, how_to) : std::nullopt;
        text += own_form ? *own_form
                         : stored_table(
                               table, base::one_line(table.name), most_rows(table), how_to,
                               [](const std::string& column) { return column; }, model::cell);
    }
    return text;
}

std::string warnings(const Run& run) {
    std::string text;
    for (const auto& warning : run.warnings)
        text +=
            "warning: " + base::wrapped("  ", base::one_line(warning), base::kScreenColumns - 7).substr(2);
    return text;
}

std::string measured(const Run& run) {
    const auto step = [](const Measurement& m) { return is_phase(m) || m.name == vocabulary::kStepTime; };
    const auto rate = [](const Measurement& m) { return m.kind == Kind::rate; };
    const auto other = [&](const Measurement& m) {
        return !step(m) && !rate(m) && !has_own_line(m) && vocabulary::family_of(m.name) == m.name;
    };
    std::string text = measurement_table(run, "phase", step) + measurement_table(run, "measurement", other);
    if (!run.valid) return text;
    return is_io(run) ? text : text + measurement_table(run, "rate", rate) + benchy_lines(run);
}

}  // namespace

std::string run_text(const Run& run, const model::HowTo& how_to, const std::string& network) {
    std::string text = header(run) + '\n' + (run.valid ? answer_lines(run) : invalid_text(run)) + '\n';
    if (is_io(run)) text += io_records(run);
    text += measured(run);
    const std::string facts = accuracy(run) + learning_rate(run) + communication(run) +
                              screen_line("network", network) + series(run) + resources(run);
    if (!facts.empty()) text += facts + '\n';
    text += tables(run, how_to);
    if (run.valid) text += warnings(run);
    return text;
}

}  // namespace ranklab::report::formats
