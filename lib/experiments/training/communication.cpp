#include "experiments/training/communication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/numbers.hpp"
#include "base/phase.hpp"
#include "comm/exchange.hpp"
#include "experiments/shared/measurements.hpp"
#include "host/process.hpp"
#include "stats/distributions.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

using measure::RankSamples;

// A straggler arrives last in at least this share of the steps.
constexpr double kMostlyLast = 0.8;
constexpr double kNoticeableWait = 0.05;  // a straggler costs others at least this share of a step
// Largest probability that one of equally fast ranks comes last so often by chance. It is small
// because successive steps are not independent.
constexpr double kByLuck = 0.001;
constexpr std::size_t kFewestSteps = 6;  // fewer have no 95 % interval of a median

double overlap_of(double a_begin, double a_end, double b_begin, double b_end) {
    return std::max(0.0, std::min(a_end, b_end) - std::max(a_begin, b_begin));
}

// Returns the time at which this rank's gradients are complete. The rest of its backward phase may
// be a wait: PyTorch's reducer waits there for all sums.
double own_backward_end(const StepReductions& step) {
    double ready = step.backward_begin;
    for (const auto& times : step.reductions) ready = std::max(ready, times.ready);
    return std::min(step.backward_end, ready);
}

double moving_time(const ReductionTimes& times) {
    return times.end - times.moving;
}
double whole_time(const ReductionTimes& times) {
    return times.end - times.start;
}

double median(const std::vector<double>& values) {
    return stats::quantile(values, 0.5);
}

// Makes a measurement with one value for all pairs, without mean and extremes.
results::Measurement of_pairs(std::string_view name, double value, std::size_t n,
                              const stats::Interval& ci = {}) {
    auto m = one_column(name, "", "none", {});  // a summary and nothing else
    m.summary.n = n;
    m.summary.median = value;
    m.summary.ci95 = ci;
    return m;
}

// Calls `take` with each step, by rank. Skips steps with another number of reductions than the last
// step: buckets are rebuilt early in a run. Collective. Gathers one step at a time, so that no rank
// holds all steps of all ranks.
void visit_reductions(const std::vector<StepReductions>& mine, comm::Communicator& control,
                      const auto& take) {
    const std::size_t reductions = mine.empty() ? 0 : mine.back().reductions.size();
    if (reductions == 0) return;  // the same on all ranks: they run one strategy
    for (const auto& step : mine)
        if (step.reductions.size() == reductions) take(comm::gather_values(control, step));
}

}  // namespace

void add_overlap(results::Run& run, OverlapPairs pairs, const std::vector<StepReductions>& mine,
                 comm::Communicator& control) {
    if (pairs.with.empty()) return;
    for (auto* const times :
         {&pairs.with, &pairs.without, &pairs.backward_with, &pairs.backward_without})
        *times = measure::largest_of_ranks(control, *times);
    visit_reductions(mine, control, [&](const auto& by_rank) {
        const auto step = analyse(by_rank);
        pairs.total.push_back(step.transfer);
        pairs.inside_backward.push_back(step.hidden);
    });
    const OverlapEstimate found = estimate_overlap(pairs);
    const auto add = [&run](const char* name, const std::vector<double>& values) {
        if (!values.empty())
            run.measurements.push_back(one_column(name, "probe step", "max", values));
    };
    add("step_without_communication_s", pairs.without);
    add("communication_s", pairs.total);
    add("communication_exposed_s", found.exposed);
    add("communication_inside_backward_s", pairs.inside_backward);
    add("backward_longer_s", found.backward_longer);
    const std::size_t n = found.exposed.size();
    if (!pairs.total.empty())
        run.measurements.push_back(of_pairs("communication_hidden_s", found.hidden, n));
    run.measurements.push_back(of_pairs(vocabulary::kOverlap, found.overlap, n, found.ci));
    run.measurements.push_back(of_pairs("overlap_balance", found.balance, n));
    if (!found.why_none.empty()) Facts{run, "communication"}("no_overlap", found.why_none);
}

namespace {

void add_reductions_table(results::Run& run, const std::vector<StepAnalysis>& analyses,
                          const Buckets& sums) {
    const auto whole = [](std::size_t count) { return static_cast<std::int64_t>(count); };
    results::Rows table("communication");
    for (std::size_t i = 0; i < sums.bytes.size(); ++i) {
        const auto median_of = [&](double ReductionAnalysis::*time) {
            return median(column_of(analyses, [&](auto& s) { return s.reductions[i].*time; }));
        };
        table.add({whole(i), whole(sums.parameters[i]), whole(sums.bytes[i]),
                   median_of(&ReductionAnalysis::ready), median_of(&ReductionAnalysis::waited),
                   median_of(&ReductionAnalysis::transfer)});
    }
    run.tables.push_back(std::move(table).table());
}

struct RankWaiting {
    double waited = 0;            // s, median over steps
    std::int64_t last_times = 0;  // steps in which the rank came last
    std::string phase = "none";   // in which this rank exceeds the other ranks' mean the most
    double excess = 0;            // s, of this phase
};

void find_excesses(std::vector<RankWaiting>& rows, const RankSamples& medians) {
    for (std::size_t phase = 0; phase < medians.rows(); ++phase) {
        if (base::kPhaseNames[phase] == "sync") continue;
        double all = 0;
        for (std::size_t rank = 0; rank < rows.size(); ++rank) all += medians.at(phase, rank);
        for (std::size_t rank = 0; rank < rows.size(); ++rank) {
            const double own = medians.at(phase, rank);
            const double excess = own - (all - own) / base::real(rows.size() - 1);
            if (excess <= rows[rank].excess) continue;
            rows[rank].phase = base::kPhaseNames[phase];
            rows[rank].excess = excess;
        }
    }
}

// `seen`: counted steps of the run.
void add_waiting(results::Run& run, const std::vector<StepAnalysis>& analyses, std::size_t seen,
                 const StepMedians& medians, const std::vector<std::string>& hosts) {
    const std::size_t steps = analyses.size();
    std::vector<RankWaiting> rows(hosts.size());
    find_excesses(rows, medians.phases);
    results::Rows table("waiting");
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
        auto& row = rows[rank];
        row.waited = median(column_of(analyses, [rank](const auto& s) { return s.idle[rank]; }));
        row.last_times = std::ranges::count(analyses, rank, &StepAnalysis::last_rank);
        table.add({static_cast<std::int64_t>(rank), hosts[rank], row.waited,
                   base::real(row.last_times) / base::real(steps), row.phase, row.excess});
    }
    run.tables.push_back(std::move(table).table());
    const auto late = std::ranges::max_element(rows, {}, &RankWaiting::last_times);
    double lost = 0;
    for (const auto& row : rows)
        if (&row != &*late) lost = std::max(lost, row.waited);
    if (!mostly_last(late->last_times, steps, rows.size()) || lost < kNoticeableWait * medians.step)
        return;
    const auto rank = late - rows.begin();
    Facts{run, "communication"}("late_rank", rank);
    const bool all = steps == seen;
    run.warnings.push_back(fmt::format(
        "rank {} on {} arrived last in {} of {}{} steps{}, and other ranks waited up to {:.1f} ms "
        "per step for it; {}",
        rank, hosts[rank], late->last_times, all ? "" : "the ", steps,
        all ? "" : fmt::format(" analysed (of {})", seen), 1e3 * lost,
        late->excess > 0 ? fmt::format("its {} phase takes {:.1f} ms longer than on other ranks",
                                       late->phase, 1e3 * late->excess)
                         : "none of its phases takes longer than on other ranks"));
}

}  // namespace

// The chance that some rank comes last in `times` of the steps or more is at most ranks x
// P(Bin(steps, 1/ranks) >= times).
bool mostly_last(std::size_t times, std::size_t steps, std::size_t ranks) {
    if (steps < kFewestSteps || base::real(times) < kMostlyLast * base::real(steps)) return false;
    const auto all = base::real(ranks);
    return steps - times < stats::binomial_rank(steps, 1 - 1 / all, kByLuck / all).k;
}

void SampledSteps::add(StepReductions step) {
    const std::size_t place = seen_++;
    if (place % every_ == 0 && steps_.size() >= most_) {
        for (std::size_t i = 0; 2 * i < steps_.size(); ++i)
            if (i > 0) steps_[i] = std::move(steps_[2 * i]);
        steps_.resize((steps_.size() + 1) / 2);
        every_ *= 2;
    }
    if (place % every_ == 0) steps_.push_back(std::move(step));
}

StepAnalysis analyse(const std::vector<StepReductions>& by_rank) {
    StepAnalysis result;
    result.wait.assign(by_rank.size(), 0.0);
    result.idle.assign(by_rank.size(), 0.0);
    const auto shortest = [&by_rank](double (*time)(const ReductionTimes&), std::size_t i) {
        return std::min_element(by_rank.begin(), by_rank.end(), [&](const auto& a, const auto& b) {
            return time(a.reductions[i]) < time(b.reductions[i]);
        });
    };
    for (std::size_t i = 0; i < by_rank.front().reductions.size(); ++i) {
        // An early rank's time includes waiting for the last rank: the shortest time is the
        // transfer.
        const double transfer = moving_time(shortest(moving_time, i)->reductions[i]);
        auto& reduction = result.reductions.emplace_back();
        reduction.transfer = transfer;
        result.transfer += transfer;
        // The transfer ends on all ranks at once: it is the last part of the last rank's interval.
        const auto last = shortest(whole_time, i);
        const double end = last->reductions[i].end;
        result.hidden += overlap_of(end - transfer, end, last->backward_begin, last->backward_end);
        for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
            const auto& step = by_rank[rank];
            const ReductionTimes& times = step.reductions[i];
            const double wait = whole_time(times) - transfer;
            reduction.ready = std::max(reduction.ready, times.ready - step.backward_begin);
            reduction.waited = std::max(reduction.waited, wait);
            result.wait[rank] += wait;
            result.idle[rank] += wait - overlap_of(times.start, times.start + wait,
                                                   step.backward_begin, own_backward_end(step));
        }
    }
    result.last_rank = std::ranges::min_element(result.wait) - result.wait.begin();
    return result;
}

void add_reductions(results::Run& run, const SampledSteps& mine, const Buckets& sums,
                    const StepMedians& medians, comm::Communicator& control) {
    const auto count = [&run](const char* name, std::size_t value) {
        run.measurements.push_back(one_column(name, "run", "none", {base::real(value)}));
    };
    count("collectives_per_step", sums.bytes.size());
    count("reduced_bytes_per_step", std::reduce(sums.bytes.begin(), sums.bytes.end()));
    if (control.world_size() == 1) return;
    std::vector<StepAnalysis> analyses;
    visit_reductions(mine.steps(), control,
                     [&](const auto& by_rank) { analyses.push_back(analyse(by_rank)); });
    if (analyses.empty()) return;
    add_reductions_table(run, analyses, sums);
    if (analyses.size() < mine.seen())
        Facts{run, "communication"}("steps_looked_at",
                                    fmt::format("{} of {}", analyses.size(), mine.seen()));
    add_waiting(run, analyses, mine.seen(), medians,
                comm::gather_texts(control, host::host_name()));
}

namespace {

constexpr std::size_t kFewestPairs = 6;  // fewer have no 95 % interval of a median

// Allowed range of OverlapEstimate::balance: 1 if the times of transfers and of steps agree.
constexpr stats::Interval kAgreement{0.75, 1.25};

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> result;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) result.push_back(a[i] - b[i]);
    return result;
}

bool lies_in(double value, const stats::Interval& range) {
    return value >= range.low && value <= range.high;  // false for NaN
}

std::string percent(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

std::string why_none(const OverlapEstimate& estimate, double overlap, const stats::Interval& ci) {
    if (!lies_in(estimate.balance, kAgreement))
        return fmt::format(
            "the times of transfers and of steps disagree (balance {:.2f}, allowed {} to {}); "
            "measure on a quieter machine or with more --overlap-steps",
            estimate.balance, kAgreement.low, kAgreement.high);
    const auto measured = fmt::format("the pairs of steps give {} ({} to {})", percent(overlap),
                                      percent(ci.low), percent(ci.high));
    if (lies_in(overlap, {0, 1}) && !(ci.low < 0 && ci.high > 1)) return "";
    return "undecided: " + measured + "; give more --overlap-steps";
}

}  // namespace

OverlapEstimate estimate_overlap(const OverlapPairs& pairs) {
    OverlapEstimate estimate;
    estimate.exposed = differences(pairs.with, pairs.without);
    // Moving data takes processor time and makes backward longer: this time was not hidden.
    estimate.backward_longer = differences(pairs.backward_with, pairs.backward_without);
    const double total = median(pairs.total);
    if (!(total > 0)) {
        estimate.why_none = "the host cannot time the transfers";
        return estimate;
    }
    estimate.hidden = std::max(
        0.0, median(pairs.inside_backward) - std::max(0.0, median(estimate.backward_longer)));
    estimate.balance = (median(estimate.exposed) + estimate.hidden) / total;
    if (estimate.exposed.size() < kFewestPairs) {
        estimate.why_none =
            fmt::format("{} pairs of steps have no 95 % interval; give --overlap-steps {}",
                        estimate.exposed.size(), kFewestPairs);
        return estimate;
    }
    // Paired: a slow step is slow in both numbers.
    const auto exposed = stats::estimate_paired_ratio(estimate.exposed, pairs.total);
    const double overlap = 1 - exposed.ratio;
    const stats::Interval ci{1 - exposed.ci.high, 1 - exposed.ci.low};
    estimate.why_none = why_none(estimate, overlap, ci);
    if (!estimate.why_none.empty()) return estimate;
    estimate.overlap = overlap;
    estimate.ci = ci;
    return estimate;
}

}  // namespace ranklab::experiments
