#include "experiments/collectives/sweep.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "experiments/shared/measurements.hpp"
#include "experiments/shared/stop_poll.hpp"
#include "host/process.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::experiments {
namespace {

constexpr const char* kAxis = "call";

// Returns Measurement::rank_reduction. Between two ranks only rank 0's time counts.
std::string reduction_of(const Message& message, const Sweep& sweep) {
    constexpr std::array kWords{"none", "mean", "min", "max"};
    return comm::is_between_two(message.operation)
               ? "none"
               : kWords.at(base::number_of(sweep.options.over_ranks));
}

// Returns the headline of a run: the largest timed message of its first form; null if none.
const MessageRow* headline_of(const Sweep& sweep) {
    const MessageRow* found = nullptr;
    for (const auto& row : sweep.rows) {
        if (row.us.empty() || !row.has_form_of(sweep.rows.front())) continue;
        if (found == nullptr || row.message.bytes() > found->message.bytes()) found = &row;
    }
    return found;
}

void add_headline(results::Run& run, const MessageRow& row, const Sweep& sweep) {
    Facts{run, "collectives"}("headline", row.name());
    run.measurements.push_back(
        one_column(vocabulary::kCallTime, kAxis, reduction_of(row.message, sweep), row.us));
    const auto add = [&](std::string_view name, double (Message::*rate_of)(double) const) {
        const double in_one_us = (row.message.*rate_of)(1);
        const std::vector<double> moved(row.us.size(), in_one_us);
        if (std::isfinite(in_one_us)) run.measurements.push_back(rate(name, kAxis, moved, row.us));
    };
    add("algbw_GBps", &Message::algbw_GBps);
    add(vocabulary::kBusBandwidth, &Message::busbw_GBps);
}

void add_measurements(results::Run& run, const Sweep& sweep) {
    if (const auto* headline = headline_of(sweep)) add_headline(run, *headline, sweep);
    std::vector<double> passes;
    for (const auto& row : sweep.rows) {
        if (row.us.empty()) continue;
        run.measurements.push_back(
            one_column(measurement_of(row), kAxis, reduction_of(row.message, sweep), row.us));
        if (row.bucket < 0) continue;
        passes.resize(row.us.size(), 0);
        for (std::size_t pass = 0; pass < passes.size(); ++pass) passes[pass] += row.us[pass] / 1e6;
    }
    if (passes.empty()) return;
    const auto reduction = reduction_of(sweep.rows.front().message, sweep);
    run.measurements.push_back(one_column("buckets_time_s", "pass", reduction, passes));
}

// Sums over the checks of several messages.
struct Checks {
    std::int64_t wrong = 0;
    std::size_t messages = 0, wrong_messages = 0, unchecked = 0;
    std::string first;  // "3 of NAME": the first message with wrong elements

    void add(const std::string& name, const std::optional<std::int64_t>& found) {
        if (!found) {
            ++unchecked;
            return;
        }
        ++messages;
        wrong += *found;
        if (*found == 0) return;
        ++wrong_messages;
        if (first.empty()) first = fmt::format("{} of {}", *found, name);
    }
};

CheckResult elements_result(const Checks& all, std::int64_t checks) {
    constexpr const char* kCheck = "all results correct";
    if (all.wrong > 0)
        return {kCheck, CheckOutcome::failed,
                fmt::format("{} element{} wrong, in {} of {} messages; first: {}", all.wrong,
                            all.wrong == 1 ? " is" : "s are", all.wrong_messages, all.messages,
                            all.first)};
    if (all.messages == 0)
        return {kCheck, CheckOutcome::not_verified,
                checks == 0 ? "--check 0" : "no message was finished"};
    if (all.unchecked > 0)
        return {kCheck, CheckOutcome::not_verified,
                fmt::format("only {} of {} messages were checked, all correct", all.messages,
                            all.messages + all.unchecked)};
    return {
        kCheck, CheckOutcome::passed,
        fmt::format("{} messages, each in {} call(s) after the timed ones", all.messages, checks)};
}

CheckResult barrier_result(const Checks& all) {
    constexpr const char* kCheck = "no rank leaves a barrier before all ranks have arrived";
    if (all.messages == 0)
        return {kCheck, CheckOutcome::not_verified, "barriers are checked with --blocking 3"};
    if (all.wrong == 0) return {kCheck, CheckOutcome::passed, "within the clocks' error"};
    return {kCheck, CheckOutcome::failed,
            fmt::format("a rank left a barrier early in {} calls", all.wrong)};
}

void add_checks(results::Run& run, const Sweep& sweep) {
    Checks elements, barriers;
    for (const auto& row : sweep.rows) {
        (row.is_barrier() ? barriers : elements).add(row.name(), row.wrong);
        if (row.started && !row.is_barrier())
            elements.add("a started " + row.name(), row.started_wrong);
    }
    const auto has_any = [](const Checks& all) { return all.messages + all.unchecked > 0; };
    std::vector<CheckResult> results;
    if (has_any(elements))
        results.push_back(elements_result(elements, sweep.options.settings.check));
    if (has_any(barriers)) results.push_back(barrier_result(barriers));
    if (elements.messages > 0)
        run.measurements.push_back(
            one_column("wrong_elements", "run", "sum", {static_cast<double>(elements.wrong)}));
    fill_verdicts(run, results);
    for (const auto& one : results)
        if (one.outcome == CheckOutcome::not_verified)
            run.warnings.push_back(fmt::format("NOT VERIFIED: {} ({})", one.check, one.detail));
}

void add_facts(results::Run& run, const Sweep& sweep) {
    constexpr std::array kPolicies{
        "nothing between two calls, the loop timed as a whole and divided by its calls",
        "a barrier after each call, included in its time",
        "nothing between two calls, each of them timed",
        "a barrier between two calls, not included in their times",
        "all ranks start each call at an agreed time of a common clock, from which it is timed"};
    const Facts fact{run, "collectives"};
    fact("policy", kPolicies.at(base::number_of(sweep.options.between)));
    fact("library", sweep.options.backend.library());
    fact("timer_resolution_ns", fmt::format("{:.0f}", measure::clock_resolution() * 1e9));
    if (sweep.options.model) fact("model", sweep.options.model->model);
}

}  // namespace

std::string MessageRow::name() const {
    if (bucket >= 0) return fmt::format("bucket {}", bucket);
    std::string text = message.name();
    if (level != "job") text += ":" + level;
    return text;
}

bool MessageRow::has_form_of(const MessageRow& other) const {
    Message equal_size = message;
    equal_size.part = other.message.part;
    return equal_size == other.message && level == other.level;
}

std::string measurement_of(const MessageRow& row) {
    return fmt::format("{}:{}", vocabulary::kCallTime, row.name());
}

void fill_collectives_run(results::Run& run, const Sweep& sweep, comm::Communicator& control) {
    add_checks(run, sweep);
    mark_early_end(run, sweep.hit_time_limit, sweep.stopped_by,
                   sweep.options.model
                       ? "before all buckets were timed"
                       : fmt::format("after {} of {} visits of {} messages", sweep.visits_done,
                                     sweep.visits_planned, sweep.rows.size()));
    add_measurements(run, sweep);
    RankMeasurements of_ranks(run, control);
    of_ranks.add_of_run(vocabulary::kPeakMemory, static_cast<double>(host::peak_rss_bytes()));
    of_ranks.finish();
    add_facts(run, sweep);
    if (control.world_size() == 1)
        run.warnings.push_back(
            "single rank: times are call and copy overhead only; start several ranks: " +
            base::mpirun() + " -n 2");
    add_statistics(run);
    add_collectives_tables(run, sweep);
}

}  // namespace ranklab::experiments
