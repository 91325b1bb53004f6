// What a person wants to know when a run has ended, before all that its tables say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/parts.hpp"
#include "report/formats/screen.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/cores.hpp"
#include "report/model/job_use.hpp"
#include "report/model/messages.hpp"
#include "report/model/selection.hpp"
#include "report/model/step_parts.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::Measurement;
using results::Run;
using results::Table;

// Cores are what a rate costs.
std::string per_core(const Run& run) {
    const Measurement* rate = run.find(vocabulary::kThroughput);
    const model::Cores cores = model::cores_of(run);
    if (rate == nullptr || !std::isfinite(rate->summary.median) || !cores.known()) return "";
    const double each = rate->summary.median / static_cast<double>(cores.count);
    return screen_line("per " + cores.unit(),
                       fmt::format("{} samples/s {}", plain(each, each, 1), model::on_cores(cores)));
}

// What a person calls a part of the step, and the phases in it.
struct Part {
    const char* does;
    std::vector<const char*> phases;
    double percent = 0;
    std::string of_it = {};
};

// The shares of the table `phases`, which come to 100 % of the mean step.
std::vector<Part> parts_of(const Run& run) {
    std::vector<Part> parts{{"computes", {"forward", "backward", "optimizer"}},
                            {"waits for gradients", {"sync"}},
                            {"waits for input", {"data"}},
                            {"copies input", {"copy"}},
                            {"moves between replicas", {"scatter", "replicate", "gather", "reduce"}},
                            {"is none of these", {"other"}}};
    for (const auto& step : model::step_parts(run)) {
        for (auto& part : parts) {
            if (std::ranges::find(part.phases, step.phase) == part.phases.end()) continue;
            part.percent += step.percent;
            if (part.phases.size() > 1 && step.percent >= 0.5)
                part.of_it += fmt::format("{}{} {}", part.of_it.empty() ? "" : ", ", step.phase,
                                          readable_percent(step.percent));
        }
    }
    std::erase_if(parts, [](const Part& part) { return !(part.percent >= 0.5); });
    std::ranges::stable_sort(parts, std::greater(), &Part::percent);
    return parts;
}

// A rank that the others wait for in most steps, as the run itself found; "" where it is now one, now
// another.
std::string the_last(const Run& run) {
    const Table* table = run.find_table("waiting");
    const std::string late = run.fact("communication", "late_rank");
    if (table == nullptr || late.empty()) return "";
    for (std::size_t row = 0; row < model::row_count(*table); ++row) {
        const double share = model::number_at(*table, "came_last_share", row);
        if (fmt::format("{:.0f}", model::number_at(*table, "rank", row)) != late) continue;
        const std::string phase = model::text_at(*table, "longest_excess_phase", row);
        const double excess = model::number_at(*table, "excess_s", row);
        const std::string looked_at = run.fact("communication", "steps_looked_at");
        return fmt::format("; rank {:.0f} on {} is last in {:.0f} % of the steps{}{}",
                           model::number_at(*table, "rank", row), model::text_at(*table, "host", row),
                           100 * share, looked_at.empty() ? "" : " looked at, " + looked_at,
                           phase.empty() || phase == "none"
                               ? ""
                               : fmt::format(" (its {} takes {} longer)", phase, readable_time(excess)));
    }
    return "";
}

std::string limit(const Run& run) {
    if (const auto found = model::value_of(run, "training.limit"); !found.empty()) return found;
    std::vector<std::string> clauses;
    for (const auto& part : parts_of(run))
        clauses.push_back(fmt::format("{}{} {}{}", readable_percent(part.percent),
                                      clauses.empty() ? " of the mean step" : "", part.does,
                                      part.of_it.empty() ? "" : " (" + part.of_it + ")"));
    return clauses.empty() ? "" : base::join(clauses, ", ") + the_last(run);
}

// And its ablation does not say already what communication costs.
bool communicates(const Run& run) {
    return run.hosts.size() > 1 && run.setting("sync") != "none" &&
           run.find("sync_exposed_time_s") != nullptr && run.find_table("ablation") == nullptr;
}

std::string communication(const Run& run) {
    const Measurement* overlap = run.find(vocabulary::kOverlap);
    if (overlap == nullptr)
        return communicates(run) && run.setting("overlap-steps") == "0"
                   ? "whether it is hidden is not known: no pairs of steps with and without it were made"
                   : "";
    const stats::Summary& s = overlap->summary;
    const double whole = run.median("communication_s");
    const std::string takes = std::isfinite(whole) ? readable_time(whole) + " a step in all, " : "";
    if (std::isfinite(s.median) && std::isfinite(s.ci95.low))
        return fmt::format("{}{:.0f} % of it hidden behind backward (95 % interval {:.0f} .. {:.0f} %)",
                           takes, 100 * s.median, 100 * s.ci95.low, 100 * s.ci95.high);
    return fmt::format("{}whether it is hidden is not known: {}", takes, why_no_overlap(run));
}

// When the last evaluation was made. Of a model that has seen a part of an epoch its accuracy is no result.
// A run that went on from a checkpoint counts its own steps alone.
std::string after_steps(const Run& run) {
    const Table* epochs = run.find_table("epochs");
    if (epochs == nullptr) return "";
    std::size_t row = model::row_count(*epochs);
    while (row > 0 && std::isnan(model::number_at(*epochs, "validation_loss", row - 1))) --row;
    if (row == 0) return "";
    const auto at = [&](const char* column) { return model::number_at(*epochs, column, row - 1); };
    const std::string from = run.fact("checkpoint", "resumed_from_step");
    if (!from.empty() && from != "0") return fmt::format(", after epoch {:.0f}", at("epoch"));
    return fmt::format(", after {:.0f} of {:.0f} steps of epoch {:.0f}", at("steps"), at("steps_per_epoch"),
                       at("epoch"));
}

std::string learned(const Run& run) {
    const double accuracy = last_value(run, vocabulary::kAccuracy);
    const double loss = last_value(run, vocabulary::kTestLoss);
    const std::string found = std::isnan(loss) ? "" : "loss " + model::number(loss);
    if (std::isfinite(accuracy))
        return screen_line("test accuracy", fmt::format("{} %{}{}", model::fixed(100 * accuracy, 2),
                                                        found.empty() ? "" : ", " + found, after_steps(run)));
    return found.empty() ? "" : screen_line("test loss", model::number(loss) + after_steps(run));
}

std::string train_answer(const Run& run) {
    return rate_lines(run) + per_core(run) + screen_line("step", counted_time(run, vocabulary::kStepTime)) +
           screen_line("limit", limit(run)) + screen_line("communication", communication(run)) + learned(run);
}

std::string warnings(const Run& run, const Screen& screen) {
    constexpr std::size_t kMost = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(kMost, run.warnings.size()); ++i)
        text += painted(screen_line("warning", base::one_line(run.warnings[i])), "warning", Tone::doubtful,
                        screen);
    if (run.warnings.size() > kMost)
        text += screen_line(
            "", fmt::format("and {} more{}", run.warnings.size() - kMost, model::and_how(screen.all)));
    return text;
}

std::string verified(const Run& run, const Screen& screen) {
    const std::string text = screen_line("verified", verification_text(run));
    return painted(text, " NO;", Tone::bad, screen);
}

}  // namespace

std::string why_no_overlap(const Run& run) {
    const std::string why = model::value_of(run, "communication.no_overlap");
    return why.empty() ? "stored without an interval, by an older ranklab" : why;
}

std::string invalid_text(const Run& run, const Screen& screen) {
    const char* const shown = model::is_comm(run) ? "its times and rates do not stand, since"
                                                  : "no rates are shown, since these do not stand";
    std::string text = painted(fmt::format("INVALID (exit code {}): {}:\n", run.exit_code, shown), "INVALID",
                               Tone::bad, screen);
    for (const auto& warning : run.warnings) text += base::wrapped("  - ", base::one_line(warning));
    if (run.warnings.empty()) text += "  - no reason was stored\n";
    return model::is_comm(run) ? text + '\n' + comm_tables(run) : text;
}

std::string answer_lines(const Run& run) {
    const std::string comparison = comparison_line(run);
    if (!comparison.empty()) return comparison;
    if (model::is_comm(run)) return comm_tables(run) + comm_answer(run);
    return is_io(run) ? io_answer(run) : train_answer(run);
}

std::string answer_text(const Run& run, const Screen& screen) {
    if (!run.valid) return invalid_text(run, screen) + verified(run, screen);
    const std::string comparison = comparison_answer(run);
    return benchy_lines(run) + (comparison.empty() ? answer_lines(run) : comparison) +
           screen_line("used", model::use_text(model::job_use(run))) + verified(run, screen) +
           screen_line("converged", model::value_of(run, "measuring.converged")) + warnings(run, screen);
}

std::string answer_line(const Run& run) {
    if (!run.valid)
        return base::one_line(
            fmt::format("INVALID (exit code {}): {}", run.exit_code,
                        run.warnings.empty() ? "no reason was stored" : run.warnings.front()));
    const std::string comparison = comparison_headline(run);
    if (!comparison.empty()) return comparison;
    if (is_io(run)) return io_headline(run);
    if (model::is_comm(run)) return comm_headline(run);
    const Measurement* rate = run.find(vocabulary::kThroughput);
    if (rate == nullptr) rate = run.find("throughput_full_samples_per_s");
    if (rate == nullptr || !std::isfinite(rate->summary.median)) return "no rate was measured";
    const std::size_t ranks = std::max<std::size_t>(1, run.hosts.size());
    return fmt::format("{} samples/s on {} rank(s)", with_half_width(rate->summary, 1), ranks);
}

}  // namespace ranklab::report::formats
