// The answer: the screen after a run.
#include "report/formats/answer.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <set>

#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/model/conditions.hpp"
#include "report/model/steps.hpp"
#include "report/model/values.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using results::CheckOutcome;
using results::Measurement;
using results::Run;
using results::Table;

constexpr std::size_t kMostWarnings = 3;
constexpr std::size_t kMostEpochs = 12;
constexpr std::size_t kMostProfiled = 24;              // rows of a table of --profile
constexpr const char *kRed = "1;31", *kYellow = "33";  // ANSI colours

// Colours the first occurrence of the word if the screen has colours.
std::string painted(std::string text, std::string_view word, const char* colour,
                    const Screen& screen) {
    const auto at = text.find(word);
    if (!screen.colour || at == std::string::npos) return text;
    return text.replace(at, word.size(), fmt::format("\033[{}m{}\033[0m", colour, word));
}

// "m +- h": the median and the longer half of its 95 % interval, each divided by `divisor`. "n/a"
// if that half is at least as long as the median, since no rate is below 0.
std::string with_half_width(const stats::Summary& s, std::size_t divisor) {
    const auto text = [&, by = static_cast<double>(divisor)](double value) {
        const double size = s.median / by;
        const double magnitude = size == 0 ? 0 : std::floor(std::log10(std::abs(size)));
        return fmt::format("{:.{}f}", value / by,
                           static_cast<int>(std::clamp(3 - magnitude, 1.0, 9.0)));
    };
    const double half = std::max(s.ci95.high - s.median, s.median - s.ci95.low);
    return fmt::format("{} +- {}", text(s.median), half < s.median ? text(half) : "n/a");
}

std::string rate_lines(const Run& run) {
    const Measurement* m = run.find(vocabulary::kThroughput);
    if (m == nullptr || !std::isfinite(m->summary.median)) return "";
    return fmt::format("Img/sec per rank: {}\nTotal img/sec on {} rank(s): {}\n",
                       with_half_width(m->summary, ranks_of(run)), ranks_of(run),
                       with_half_width(m->summary, 1));
}

// Benchy's summary lines, for its scripts; "" for a run without an ablation.
std::string benchy_lines(const Run& run) {
    std::string text;
    for (const auto& row : model::rows_of(run, "ablation")) {
        std::string name = base::one_line(row.text("trial"));
        std::ranges::transform(name, name.begin(),
                               [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        text +=
            fmt::format("BENCHY::SUMMARY::{} average trial throughput: {:.3f} +/- {:.3f}\n", name,
                        row.number("mean_samples_per_s"), row.number("std_samples_per_s"));
    }
    return text;
}

// The name of a phase for people, for runs that do not store the parts of their steps.
std::string part_name(const std::string& phase) {
    static const std::set<std::string> kMoving{"scatter", "replicate", "gather", "reduce"};
    if (phase == "sync") return "waiting for other ranks or the network";
    return phase == "data"           ? model::kLossNames[model::Parts::input]
           : kMoving.contains(phase) ? model::kLossNames[model::Parts::replicas]
                                     : kComputing;
}

// The rank that comes last in most steps, and its cost; "" if the run found no straggler.
std::string straggler_text(const Run& run) {
    const std::string straggler = run.fact(fact::kStepStraggler);
    std::string text;
    double waited_s = 0;
    for (const auto& row : model::rows_of(run, "waiting")) {
        waited_s = std::max(waited_s, row.number("waited_for_others_s"));
        if (row.text("rank") == straggler)
            text = fmt::format("; rank {} on {} arrives last in {:.0f} % of the steps", straggler,
                               row.text("host"), 100 * row.number("came_last_share"));
    }
    return text.empty() || !(waited_s > 0)
               ? text
               : fmt::format("{}, and other ranks wait {} for it", text, readable(waited_s, "s"));
}

// The shares of --why, or of the table `phases`, which add up to 100 % of the mean step; "" if an
// ablation found the limit.
std::string breakdown(const Run& run) {
    if (!run.fact(fact::kLimit).empty()) return "";
    const auto shares = shares_of(parts_of_step(run), 0.5);
    return shares.empty() ? "" : base::join(shares, ", ") + straggler_text(run);
}

// The cost of communication; "" if the run has an ablation, which shows that cost, too.
std::string communication(const Run& run) {
    const Measurement* overlap = run.find(vocabulary::kOverlap);
    if (overlap == nullptr || run.find_table("ablation") != nullptr) return "";
    const double whole = run.median("communication_s");
    const std::string takes =
        std::isfinite(whole)
            ? readable(whole, "s") +
                  " of transfers per step, without waits for late ranks, measured after the run; "
            : "";
    const stats::Summary& s = overlap->summary;
    if (!std::isfinite(s.median) || !std::isfinite(s.ci95.low)) {
        const std::string why = run.fact(fact::kNoOverlap);
        return takes + "overlap not measurable" + (why.empty() ? "" : ": " + why);
    }
    return fmt::format("{}{:.0f} % of it hidden behind backward ({:.0f} .. {:.0f} %)", takes,
                       100 * s.median, 100 * s.ci95.low, 100 * s.ci95.high);
}

// Accuracy and loss after the last epoch.
std::string learned(const Run& run) {
    const double accuracy = model::final_value(run, std::string(vocabulary::kAccuracy));
    const double loss = model::final_value(run, std::string(vocabulary::kTestLoss));
    if (std::isnan(loss) && std::isnan(accuracy)) return "";
    if (std::isnan(accuracy)) return screen_line("test loss", digits(loss));
    return screen_line("test accuracy",
                       fmt::format("{:.2f} %{}", 100 * accuracy,
                                   std::isnan(loss) ? "" : ", loss " + digits(loss)));
}

// The tables of --profile.
std::string profiles(const Run& run) {
    std::string text;
    for (const auto& [name, most] :
         {std::pair("lines", kMostProfiled), std::pair("layers", kMostProfiled),
          std::pair("calls", SIZE_MAX)})
        if (const Table* table = run.find_table(name); table != nullptr)
            text += '\n' + text_of(model::frame_of(*table, most)) + '\n';
    return text;
}

bool is_whole(const model::StoredRow& epoch) {
    return epoch.number("steps") == epoch.number("steps_per_epoch");
}

// Explains the number of steps per epoch; "" if the run does not store the batch.
std::string steps_note(const Run& run, const model::StoredRow& epoch) {
    const auto batch =
        base::number_in<std::size_t>(run.setting(setting::kGlobalBatchSize)).value_or(0);
    if (batch == 0) return "";
    return fmt::format(
        "{} steps per epoch: {} samples in batches of {} ({} per rank); step and "
        "samples/s are the epoch's means",
        epoch.text("steps_per_epoch"), epoch.text("samples"), batch, batch / ranks_of(run));
}

// How much longer the first epoch is than the second, and what its first step contributes; "" if it
// is not longer.
std::string first_epoch_note(const Run& run, const std::vector<model::StoredRow>& rows) {
    const Measurement* step = run.find(vocabulary::kStepTime);
    if (rows.size() < 2 || !is_whole(rows[1]) || step == nullptr) return "";
    auto times = step->largest_of(step->warmup);
    if (times.empty()) times = step->largest_of_rows();
    const double longer = rows[0].number("time_s") - rows[1].number("time_s"),
                 first = times.empty() ? 0 : times.front() - step->summary.median;
    if (!(longer > 0) || !(first > 0)) return "";
    return fmt::format(
        "epoch {} took {} longer than epoch {}, {} of it in its first step, which sets up buffers "
        "and connections",
        rows[0].text("epoch"), readable(longer, "s"), rows[1].text("epoch"),
        readable(std::min(first, longer), "s"));
}

// The first and the last epochs; "" if the training made no whole epoch.
std::string epochs(const Run& run) {
    auto rows = model::rows_of(run, "epochs");
    const auto whole = std::ranges::find_if(rows, is_whole);
    if (whole == rows.end()) return "";
    Frame frame{.notes = {steps_note(run, *whole), first_epoch_note(run, rows)}};
    std::erase(frame.notes, "");
    if (rows.size() > kMostEpochs) {
        const std::size_t hidden = rows.size() - kMostEpochs;
        rows.erase(rows.begin() + 2, rows.begin() + 2 + static_cast<std::ptrdiff_t>(hidden));
        frame.notes.push_back(fmt::format("{} not shown: ranklab report --format json has all",
                                          counted(hidden, "epoch")));
    }
    frame.columns = columns_of(
        "epoch* | time_s [s] time | step_s [s] step | samples_per_s [1] samples/s | "
        "train_loss [1] loss | validation_loss [1] val. loss | accuracy [%] | "
        "validation_time_s [s] val. time");
    for (const auto& row : rows) {
        auto& cells = frame.rows.emplace_back().cells;
        for (const auto& column : frame.columns) cells.push_back(model::cell_of(row, column.name));
        cells[frame.find("step_s")] = row.number("time_s") / row.number("steps");
        cells[frame.find("accuracy")] = 100 * row.number("validation_accuracy");
        if (!is_whole(row))
            frame.rows.back().caveats.push_back(
                {CaveatKind::said, fmt::format("cut short: {} of {} steps", row.number("steps"),
                                               row.number("steps_per_epoch"))});
    }
    frame.drop_empty_columns();
    return '\n' + text_of(frame) + '\n';
}

std::string total(const Run& run) {
    const double seconds = run.median("training_time_s"), to_loss = run.median("time_to_loss_s");
    std::vector<std::string> parts;
    if (!std::isnan(seconds) && std::ranges::any_of(model::rows_of(run, "epochs"), is_whole))
        parts.push_back(readable(seconds, "s") + " of training, with its evaluations");
    if (!std::isnan(to_loss))
        parts.push_back("target loss reached after " + readable(to_loss, "s"));
    return base::join(parts, "; ");
}

std::string train_answer(const Run& run) {
    return rate_lines(run) + benchy_lines(run) + epochs(run) +
           screen_line("step", counted_time(run, vocabulary::kStepTime)) +
           screen_line("limit", run.fact(fact::kLimit)) + screen_line("breakdown", breakdown(run)) +
           screen_line("communication", communication(run)) + learned(run) +
           screen_line("total", total(run));
}

std::string train_result(const Run& run) {
    Cell rate;
    std::string how;
    if (const Measurement* m = run.find(vocabulary::kThroughput))
        rate = {m->summary.median, m->summary.ci95};
    for (const auto& row : model::rows_of(run, "ablation"))  // as in the line BENCHY::SUMMARY
        if (row.text("trial") == "full")
            rate = row.number("mean_samples_per_s"),
            how = fmt::format(", mean of {} trials", row.text("trials"));
    if (!std::isfinite(rate.number)) return "no rate was measured";
    const model::Cores cores = model::cores_of(run);
    return fmt::format(
        "{} on {}{}{}", readable(rate.number, rate.interval, "samples/s"),
        counted(ranks_of(run), "rank"),
        cores.known()
            ? fmt::format(", {} per {}", digits(rate.number / base::real(cores.count)), cores.unit)
            : "",
        how);
}

std::string result_of(const Run& run) {
    if (run.command == "io") return io_result(run);
    return run.command == "comm" ? comm_result(run) : train_result(run) + other_rates(run);
}

std::string warnings(const Run& run, const Screen& screen) {
    const std::size_t shown =
        screen.whole ? run.warnings.size() : std::min(kMostWarnings, run.warnings.size());
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text += painted(screen_line("warning", run.warnings[i]), "warning", kYellow, screen);
    if (run.warnings.size() > shown)
        text += screen_line("", fmt::format("and {} more: --verbose", run.warnings.size() - shown));
    return text;
}

std::string invalid_text(const Run& run, const Screen& screen) {
    std::string text =
        painted(fmt::format("INVALID (exit code {}): do not use its numbers:\n", run.exit_code),
                "INVALID", kRed, screen);
    for (const auto& warning : run.warnings) text += base::wrapped("  - ", base::one_line(warning));
    return run.warnings.empty() ? text + "  - no reason was stored\n" : text;
}

// "yes: a, b", "NO; c (why)"; "" if nothing was stored.
std::string verification(const Run& run) {
    if (run.find_table("verification") == nullptr) return io_verification(run);
    std::vector<std::string> passed, failed, others;
    for (const auto& row : model::rows_of(run, "verification")) {
        const std::string check = row.text("check"), result = row.text("result");
        const std::string why = fmt::format("{}: {} ({})", result, check, row.text("detail"));
        if (result == text_of(CheckOutcome::passed))
            passed.push_back(check);
        else if (result == text_of(CheckOutcome::failed))
            failed.push_back(why);
        else if (result != text_of(CheckOutcome::does_not_apply))
            others.push_back(why);
    }
    if (!failed.empty()) return "NO; " + base::join(failed, "; ");
    if (!passed.empty())
        others.insert(others.begin(),
                      (others.empty() ? "yes: " : "in part: ") + base::join(passed, ", "));
    return base::join(others, "; ");
}

}  // namespace

std::string screen_line(std::string_view name, std::string_view value) {
    return value.empty() ? "" : base::wrapped(fmt::format("  {:<14}", name), base::one_line(value));
}

std::string counted_time(const Run& run, std::string_view measurement) {
    const Measurement* found = run.find(measurement);
    if (found == nullptr || !std::isfinite(found->summary.median)) return "";
    return fmt::format("{}, {} counted",
                       readable(found->summary.median, found->summary.ci95, found->unit),
                       found->summary.n);
}

std::vector<std::pair<std::string, double>> parts_of_step(const Run& run) {
    std::vector<std::pair<std::string, double>> parts;
    const auto phases = model::step_parts(run);
    if (const auto whole = model::steps_of(run).whole; whole.step_s() > 0 && !phases.empty()) {
        parts.emplace_back(kComputing, whole.percent_of(whole.computing_s()));
        for (std::size_t i = 0; i < model::Parts::kLosses; ++i)
            if (const double lost_s = whole.lost_s(model::Parts::Loss(i)); lost_s > 0)
                parts.emplace_back(model::kLossNames[i], whole.percent_of(lost_s));
        return parts;
    }
    for (const auto& part : phases) {
        const std::string phase = part.text("phase");
        parts.emplace_back(run.hosts.size() == 1 && phase == "sync" ? kComputing : part_name(phase),
                           part.number("percent"));
    }
    return parts;
}

std::vector<std::string> shares_of(const std::vector<std::pair<std::string, double>>& parts,
                                   double least) {
    InsertionOrderedMap<std::string, std::pair<double, std::string>> sums;
    for (const auto& [name, percent] : parts) sums[name].first += percent, sums[name].second = name;
    std::erase_if(sums.all(), [&](const auto& sum) { return !(sum.first >= least); });
    std::ranges::stable_sort(sums.all(), std::greater(), &std::pair<double, std::string>::first);
    std::vector<std::string> shares;
    for (const auto& [percent, name] : sums.all())
        shares.push_back(percent_text(percent) + " " + name);
    return shares;
}

std::string answer_text(const Run& run, const Screen& screen) {
    const std::string verified =
        painted(screen_line("verified", verification(run)), " NO;", kRed, screen);
    if (!run.valid)
        return invalid_text(run, screen) + (run.command == "comm" ? comm_answer(run) : "") +
               verified;
    const std::string what = run.command == "io"     ? io_answer(run)
                             : run.command == "comm" ? comm_answer(run)
                                                     : train_answer(run);
    return what + profiles(run) + screen_line("monitor", monitor_text(run)) +
           screen_line("used", use_text(run)) +
           screen_line("converged", run.fact(fact::kConverged)) + warnings(run, screen) +
           screen_line("try", screen.advice) + screen_line("result", result_of(run)) + verified;
}

std::string other_rates(const Run& run) {
    std::string text;
    for (const auto& name : vocabulary::shown_at(vocabulary::Shown::groups, "train")) {
        const Measurement* m = run.find(name);
        if (m == nullptr || !model::is_rate(name) || name == vocabulary::kThroughput) continue;
        const auto value = readable(m->summary.median, m->unit);
        text += m->unit != "%" ? "; " + value
                               : fmt::format("; MFU {} of {} TFLOP/s ({})", value,
                                             run.fact("training", "peak_tflops"),
                                             run.fact("training", "peak_source"));
    }
    return text;
}

std::string answer_line(const Run& run) {
    if (run.valid) return result_of(run);
    return base::one_line(
        fmt::format("INVALID (exit code {}): {}", run.exit_code,
                    run.warnings.empty() ? "no reason was stored" : run.warnings.front()));
}

}  // namespace ranklab::report::formats
