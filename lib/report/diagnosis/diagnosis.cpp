#include "report/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/model/groups.hpp"
#include "report/predict/mechanism.hpp"

namespace ranklab::report::diagnosis {
namespace {

using model::kLossNames, model::Parts, model::Steps, model::steps_of, results::Run;

constexpr double kLeastLoss = 0.15;  // of the step; a smaller loss is not named as its bound
// Small batch: update / computing of a rank is at least the first, sum / update at most the second.
constexpr double kSmallBatch = 0.15, kCheapSum = 2;

struct CauseRow {
    Cause cause;
    double (*lost_s)(const Steps& all);  // per step; infinite if nothing else counts
};
// In the order of Cause. The cause with the largest loss is named, the first of equal ones.
// Start-up counts only without --steps, in a whole training.
constexpr CauseRow kCauses[] = {
    {Cause::not_measured, [](const Steps& all) { return all.measured ? 0 : HUGE_VAL; }},
    {Cause::starting,
     [](const Steps& all) {
         const bool whole = all.run.setting(setting::kSteps).empty();
         return whole && all.start_up_percent() > 50 ? HUGE_VAL : 0;
     }},
    {Cause::costly_loader,
     [](const Steps& all) {
         return all.whole.decoding_s > all.whole.reading_s ? all.whole.lost_s(Parts::input) : 0;
     }},
    {Cause::slow_input, [](const Steps& all) { return all.whole.lost_s(Parts::input); }},
    {Cause::other_load, [](const Steps& all) { return all.other_load_s(); }},
    {Cause::core_wait,
     [](const Steps& all) {
         return all.others >= 0 || all.oversubscribed() ? 0 : all.whole.lost_s(Parts::cores);
     }},
    {Cause::threads_on_cores,
     [](const Steps& all) { return all.threads > all.own_cores ? all.own_threads_s() : 0; }},
    {Cause::ranks_on_cores, [](const Steps& all) { return all.own_threads_s(); }},
    {Cause::late_rank, [](const Steps& all) { return all.whole.late_s(); }},
    {Cause::uneven_steps, [](const Steps& all) { return all.whole.lost_s(Parts::serialisation); }},
    {Cause::small_batch,
     [](const Steps& all) {
         const auto& p = all.whole;
         const bool is_small = p.update_s >= kSmallBatch * p.computing_s() &&
                               kCheapSum * p.update_s >= p.lost_s(Parts::transfer);
         return is_small ? p.fixed_s() : 0;
     }},
    {Cause::replicas, [](const Steps& all) { return all.whole.lost_s(Parts::replicas); }},
    {Cause::transfer, [](const Steps& all) { return all.whole.lost_s(Parts::transfer); }},
    {Cause::launches,
     [](const Steps& all) {
         return model::waits_for_launches(all.run) ? kLeastLoss * all.whole.step_s() : 0;
     }},
    {Cause::idle_cores,
     [](const Steps& all) { return all.has_idle_cores() ? kLeastLoss * all.whole.step_s() : 0; }},
    {Cause::none, [](const Steps& all) { return kLeastLoss * all.whole.step_s(); }}};

const std::vector<std::string>& words_of(Cause cause) {
    return sentence_row("cause", base::number_of(cause));
}

// "rank 1 on n1 (its forward phase takes 0.1 s longer than the others')".
std::string last_rank(const Steps& all) {
    const auto rows = model::rows_of(all.run, "waiting");
    if (rows.empty()) return "the slowest rank";
    const double handover_s = all.whole.lost_s(Parts::handover);
    const bool in_sync = handover_s > all.whole.late_s() / 2;
    // Late handover: the rank that came last at most sums. Late elsewhere: the slowest rank.
    const auto late = *std::ranges::max_element(rows, {}, [&](const auto& row) {
        return in_sync ? row.number("came_last_share")
                       : row.number("rank") == base::real(all.whole.slowest_rank);
    });
    const std::string phase = in_sync ? "sync" : late.text("longest_excess_phase");
    const double excess_s = in_sync ? handover_s : late.number("excess_s");
    return fmt::format("rank {} on {}{}", late.text("rank"), late.text("host"),
                       excess_s > 0
                           ? fmt::format(" (its {} phase takes {} longer than the others')", phase,
                                         readable(excess_s, "s"))
                           : "");
}

std::string sentence_of(Cause cause, const Steps& all) {
    const auto& p = all.whole;
    const auto cost = [&](double seconds) {
        return fmt::format("{} a step ({})", readable(seconds, "s"),
                           percent_text(p.percent_of(seconds)));
    };
    const double bytes = all.run.median("reduced_bytes_per_step");
    const auto loss = p.largest_loss();
    return fmt::format(
        fmt::runtime(words_of(cause)[2]),
        fmt::arg("start_up", percent_text(all.start_up_percent())),
        fmt::arg("lost", cost(kCauses[base::number_of(cause)].lost_s(all))),
        fmt::arg("making", readable(p.loader_s(), "s")), fmt::arg("others", digits(all.others)),
        fmt::arg("threads", all.threads), fmt::arg("cores", all.own_cores),
        fmt::arg("host_threads", all.threads * all.ranks), fmt::arg("host_cores", all.host_cores),
        fmt::arg("last", last_rank(all)),
        fmt::arg("bytes", std::isfinite(bytes) ? readable(bytes, "B") + " of " : ""),
        fmt::arg("gathering", all.run.find("gather_exposed_time_s") == nullptr
                                  ? ""
                                  : " and gathering parameters"),
        fmt::arg("idle", fmt::format("{:.2g}", all.free_cores() - all.threads * all.ranks)),
        fmt::arg("computing", percent_text(p.percent_of(p.computing_s()))),
        fmt::arg("loss", kLossNames[loss]), fmt::arg("largest", cost(p.lost_s(loss))));
}

Frame parts_frame(const Steps& all) {
    Frame frame{.title = "Mean step, with the factors of its parallel efficiency"};
    frame.columns = columns_of("part* | time_s [s] time | percent [%] share | efficiency+- [1]");
    const auto add = [&](const char* name, double seconds, const Cell& factor) {
        const double percent = all.whole.percent_of(seconds);
        if (percent >= 0.05)  // less would read 0 %
            frame.rows.push_back({{name, Cell(seconds), Cell(percent), factor}, {}});
    };
    add("computing", all.whole.computing_s(), {});
    for (std::size_t i = 0; i < Parts::kLosses; ++i) {
        const auto loss = Parts::Loss(i);
        add(kLossNames[i], all.whole.lost_s(loss),
            all.efficiency([loss](const Parts& p) { return p.factor(loss); }));
    }
    add("step", all.whole.step_s(), all.efficiency([](const Parts& p) { return p.parallel(); }));
    if (all.start_up_s() > 0)
        frame.notes = {fmt::format("start-up: {} until the first step ends, {} of the run",
                                   readable(all.start_up_s(), "s"),
                                   percent_text(all.start_up_percent()))};
    if (all.other_load_s() > 0)
        frame.notes.push_back(fmt::format("other processes cause {} of the waiting for a core",
                                          readable(all.other_load_s(), "s")));
    return frame;
}

// The newest run of the file that did the work of a run of --mode dp with a rank per replica, on as
// many cores.
std::optional<Run> with_ranks(const Run& dp, const results::ResultFile& file) {
    const double replicas = predict::number_of(dp, setting::kReplicas, 0);
    std::optional<Run> newest;
    const auto is_alike = [&](const Run& other) {
        Run same;
        for (const auto& one : dp.config)  // the rank has the threads of all replicas
            same.config.push_back(
                {one.key, one.key == setting::kThreads ? other.setting(one.key) : one.value});
        return other.valid && base::real(other.hosts.size()) == replicas &&
               other.says(fact::kSumsGradients) && predict::is_same_work(other, same) &&
               other.setting(setting::kGlobalBatchSize) == dp.setting(setting::kGlobalBatchSize) &&
               model::cores_of(other).count == model::cores_of(dp).count;
    };
    if (replicas > 0)
        file.visit(results::Detail::all, is_alike, [&](Run&& other) { newest = std::move(other); });
    return newest;
}

// Compares replicas with ranks: the parts of the step that differ by at least 1 % of the step.
std::string against_ranks(const Parts& dp, const Run& ranks) {
    const Parts other = steps_of(ranks).whole;
    std::vector<std::string> parts;
    const auto add = [&](const std::string& name, double more_s) {
        if (std::abs(dp.percent_of(more_s)) >= 1)
            parts.push_back(fmt::format("{} {} {}", name, readable(std::abs(more_s), "s"),
                                        more_s > 0 ? "more" : "less"));
    };
    add("computing", dp.computing_s() - other.computing_s());
    for (std::size_t i = 0; i < Parts::kLosses; ++i)
        add(kLossNames[i], dp.lost_s(Parts::Loss(i)) - other.lost_s(Parts::Loss(i)));
    return fmt::format("a step takes {} times as long as on {} (run {}, {}): {}",
                       digits(dp.step_s() / other.step_s()), counted(ranks.hosts.size(), "rank"),
                       ranks.id, readable(other.step_s(), "s"), base::join(parts, ", "));
}

}  // namespace

std::string bound_of(Cause cause) {
    return words_of(cause)[3];
}

std::string name_of(Cause cause) {
    return words_of(cause)[1];
}

Diagnosis diagnose(const Run& run) {
    const Steps all = steps_of(run);
    const Cause cause = std::ranges::max_element(kCauses, {}, [&](const auto& row) {
                            return row.lost_s(all);
                        })->cause;
    return {.run = run.id,
            .cause = cause,
            .why = sentence_of(cause, all),
            .parts = all.measured ? parts_frame(all) : Frame(),
            .start_up_s = all.start_up_s(),
            .advice = advice_for(all, cause),
            .caveats = model::caveats_of(run)};
}

Diagnosis diagnose(const Run& run, const results::ResultFile& file) {
    auto found = diagnose(run);
    if (const auto ranks = with_ranks(run, file); ranks && steps_of(*ranks).measured)
        found.why += "; " + against_ranks(steps_of(run).whole, *ranks);
    return found;
}

std::string advice_text(const Diagnosis& found) {
    if (found.advice.empty()) return "";
    std::vector<std::string> bounds;
    for (const auto& [column, words] :
         {std::pair{"at_least_percent", "at least "}, {"at_most_percent", "at most "}})
        if (const Cell& bound = found.advice.at(0, column); bound.is_number())
            bounds.push_back(words + percent_text(bound.number));
    std::string text = found.advice.at(0, "option").text;
    if (bounds.empty()) return text;
    text += fmt::format(" saves {} of the time per sample", base::join(bounds, ", "));
    for (const auto& caveat : found.caveats)
        if (caveat.kind == CaveatKind::other_load || caveat.kind == CaveatKind::oversubscribed)
            text += "; " + sentence(caveat);
    return text;
}

std::string text_of(const Diagnosis& found) {
    std::string text = fmt::format("run {}\n", base::one_line(found.run)) +
                       base::wrapped("  why           ", found.why);
    for (const auto& note : sentences_of(found.caveats))
        text += base::wrapped("  note          ", note);
    for (const Frame* const frame : {&found.parts, &found.advice})
        if (!frame->empty()) text += '\n' + report::text_of(*frame);
    return text;
}

std::string json_of(const Diagnosis& found) {
    return json_line({{"schema", 1},
                      {"run", found.run},
                      {"bound", bound_of(found.cause)},
                      {"cause", name_of(found.cause)},
                      {"sentence", found.why},
                      {"parts", json_rows(found.parts)},
                      {"start_up_s", found.start_up_s},
                      {"advice", json_rows(found.advice)},
                      {"notes", sentences_of(found.caveats)}});
}

std::string html_of(const Diagnosis& found) {
    auto all = sentences_of(found.caveats);
    all.insert(all.begin(), found.why);
    return fmt::format("<p>Run <a href=\"#run-{0}\">{0}</a>: {1}</p>\n", html_escape(found.run),
                       html_escape(base::join(all, "; "))) +
           report::html_of(found.parts) + report::html_of(found.advice);
}

}  // namespace ranklab::report::diagnosis
