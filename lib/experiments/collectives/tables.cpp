#include "experiments/collectives/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/text.hpp"
#include "experiments/collectives/guidelines.hpp"
#include "results/rows.hpp"
#include "results/vocabulary/measurements.hpp"
#include "stats/interval.hpp"
#include "stats/line_fit.hpp"

namespace ranklab::experiments {
namespace {

using comm::Operation;
using results::Rows;

constexpr double kPerByte = 1e3;  // bytes / us are MB/s; GB/s are a thousand times as many

std::string redop_of(const Message& message) {
    return comm::reduces(message.operation) ? std::string(word_of(message.reduction)) : "none";
}
std::string dtype_of(const Message& message) {
    return message.operation == Operation::barrier ? "none" : std::string(word_of(message.dtype));
}

double deviation_percent(const std::vector<double>& samples, double mean) {
    if (samples.size() < 2) return stats::kNone;
    double squares = 0;
    for (const double sample : samples) squares += (sample - mean) * (sample - mean);
    return 100 * std::sqrt(squares / static_cast<double>(samples.size() - 1)) / mean;
}

// Of the single messages' times, by name.
class Summaries {
  public:
    explicit Summaries(const results::Run& run) {
        for (const auto& measurement : run.measurements) all_.emplace(measurement.name, &measurement.summary);
    }
    /// Empty where that one was not timed.
    const stats::Summary& of(const std::string& name) const {
        static const stats::Summary none;
        const auto found = all_.find(fmt::format("{}:{}", vocabulary::kCallTime, name));
        return found == all_.end() ? none : *found->second;
    }

  private:
    std::unordered_map<std::string_view, const stats::Summary*> all_;
};

std::int64_t wrong_of(const std::optional<std::int64_t>& wrong) {
    return wrong.value_or(-1);
}

std::string mark_of(const MessageRow& row) {
    constexpr double kMany = 0.05;
    std::vector<std::string> marks;
    if (row.load == "loaded")
        marks.push_back(fmt::format("the compute kernel had {:.0f} % of the time", 100 * row.load_share));
    if (row.late_share > kMany)
        marks.push_back(
            fmt::format("{:.0f} % of the calls began after the agreed moment", 100 * row.late_share));
    return base::join(marks, "; ");
}

results::Table messages_table(const Summaries& times, const Sweep& sweep) {
    Rows table("messages");
    for (const auto& row : sweep.rows()) {
        if (row.us.empty()) continue;
        const auto& s = times.of(row.name());
        const auto& m = row.message;
        const bool one = row.us.size() == 1;
        const double none = stats::kNone;
        table.add({std::string(comm::name_of(m.operation)),
                   row.level,
                   row.load,
                   dtype_of(m),
                   redop_of(m),
                   std::int64_t{row.root},
                   m.in_place ? "in-place" : "out-of-place",
                   std::int64_t{row.ranks},
                   static_cast<std::int64_t>(m.bytes(row.ranks)),
                   static_cast<std::int64_t>(m.part),
                   static_cast<std::int64_t>(s.n),
                   s.median,
                   s.mean,
                   one ? none : s.median,
                   one ? none : s.p95,
                   one ? none : s.p99,
                   s.ci95.low,
                   s.ci95.high,
                   one ? none : s.min,
                   one ? none : s.max,
                   deviation_percent(row.us, s.mean),
                   m.algbw_GBps(s.median, row.ranks),
                   m.busbw_GBps(s.median, row.ranks),
                   wrong_of(row.wrong),
                   mark_of(row)});
    }
    return std::move(table).table();
}

// What was to be hidden has to be as long as what hides it, and both together not shorter than their overlap.
std::string overlap_mark(double overall, double compute, double pure) {
    constexpr double kOff = 1.25;
    if (compute > kOff * pure || pure > kOff * compute)
        return "compute and communication are not equally long";
    return overall > kOff * (compute + pure) ? "longer than both one after the other" : "";
}

results::Table nonblocking_table(const Sweep& sweep, const CollectivesOptions& options) {
    Rows table("nonblocking");
    const auto median = [](const std::vector<double>& us) { return stats::summarise(us).median; };
    for (const auto& row : sweep.started()) {
        const MessageRow& of = sweep.rows()[row.row];
        std::vector<double> overlap;
        for (std::size_t call = 0; call < row.overall.size(); ++call)
            overlap.push_back(std::clamp(
                100 * (1 - (row.overall[call] - row.compute[call]) / median(row.pure)), 0.0, 100.0));
        const std::string mark = overlap_mark(median(row.overall), median(row.compute), median(row.pure));
        const auto percent = mark.empty() ? stats::estimate_median(overlap) : stats::MedianEstimate();
        table.add({std::string(comm::name_of(of.message.operation)), of.level, of.load, dtype_of(of.message),
                   redop_of(of.message), std::int64_t{of.ranks},
                   static_cast<std::int64_t>(of.message.bytes(of.ranks)), options.settings.progress,
                   static_cast<std::int64_t>(row.overall.size()), median(row.overall), median(row.compute),
                   median(row.init), median(row.test), median(row.wait), median(row.pure), percent.value,
                   percent.ci.low, percent.ci.high, mark});
    }
    return std::move(table).table();
}

results::Table buckets_table(const Summaries& times, const BucketRows& buckets, const BucketTable& model,
                             int ranks) {
    Rows table("buckets");
    for (std::size_t b = 0; b < buckets.messages.size(); ++b) {
        const auto& s = times.of(fmt::format("bucket {}", b));
        const auto& m = buckets.messages[b];
        table.add({static_cast<std::int64_t>(b), model.rows[b].parameters, model.rows[b].elements,
                   dtype_of(m), model.rows[b].bytes, s.median, s.ci95.low, s.ci95.high,
                   m.algbw_GBps(s.median, ranks), m.busbw_GBps(s.median, ranks), wrong_of(buckets.wrong[b])});
    }
    return std::move(table).table();
}

// Rows of one operation in one form, over sizes.
using Form = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;
Form form_of(const MessageRow& row) {
    return {std::string(comm::name_of(row.message.operation)),
            row.level,
            row.load,
            dtype_of(row.message),
            redop_of(row.message),
            row.message.in_place ? "in-place" : "out-of-place"};
}

// Forms in the order in which they were timed.
std::vector<std::pair<Form, std::vector<const MessageRow*>>> by_form(const Sweep& sweep) {
    std::vector<std::pair<Form, std::vector<const MessageRow*>>> forms;
    for (const auto& row : sweep.rows()) {
        if (row.us.empty()) continue;
        const Form form = form_of(row);
        auto found = std::ranges::find(forms, form, [](const auto& one) { return one.first; });
        if (found == forms.end()) found = forms.insert(forms.end(), {form, {}});
        found->second.push_back(&row);
    }
    return forms;
}

std::string mark_of(const stats::LineFit& fit) {
    constexpr double kFar = 0.5;
    constexpr std::size_t kFewest = 5;
    if (fit.n < kFewest || !std::isfinite(fit.beta)) return "fewer than 5 message sizes: no line";
    if (!(fit.beta_ci.low > 0)) return "larger messages hardly take longer: no bandwidth is known";
    if (fit.worst > kFar) return "not one line: the library or the caches change on the way";
    return "";
}

results::Table fits_table(const Summaries& times, const Sweep& sweep) {
    Rows table("fits");
    for (const auto& [form, rows] : by_form(sweep)) {
        if (rows.front()->message.operation == Operation::barrier || rows.front()->ranks < 2) continue;
        std::vector<stats::LinePoint> points;
        for (const auto* row : rows)
            if (const double us = times.of(row->name()).median; us > 0)
                points.push_back({static_cast<double>(row->message.bytes(row->ranks)), us});
        const auto fit = stats::fit_line(points);
        const auto& [op, level, load, dtype, redop, place] = form;
        const bool is_known = fit.beta_ci.low > 0;
        const auto bandwidth = [&](double beta) { return is_known ? 1 / beta / kPerByte : stats::kNone; };
        table.add({op, level, load, dtype, redop, place, static_cast<std::int64_t>(fit.n), fit.alpha,
                   fit.alpha_ci.low, fit.alpha_ci.high, bandwidth(fit.beta), bandwidth(fit.beta_ci.high),
                   bandwidth(fit.beta_ci.low), is_known ? fit.alpha / fit.beta : stats::kNone,
                   100 * fit.worst, mark_of(fit)});
    }
    return std::move(table).table();
}

// Out of place where there is such a form; one type and reduction at a time.
std::map<std::tuple<std::string, std::string, std::string>, TimedMessages> timed_of(const Summaries& times,
                                                                                    const Sweep& sweep) {
    std::map<std::tuple<std::string, std::string, std::string>, TimedMessages> all;
    for (const auto& row : sweep.rows()) {
        const auto operation = row.message.operation;
        if (row.us.empty() || row.ranks < 2 || (row.message.in_place && comm::has_out_of_place(operation)))
            continue;
        if (comm::reduces(operation) &&
            (row.message.reduction.op != comm::ReduceOp::sum || row.message.reduction.average))
            continue;
        const auto& s = times.of(row.name());
        // Equal parts of each rank, which sizes that ranks do not divide are not.
        const std::uint64_t parts = static_cast<std::uint64_t>(row.ranks) * comm::size_of(row.message.dtype);
        const std::uint64_t bytes = std::max(parts, row.message.bytes(row.ranks) / parts * parts);
        all[{row.level, row.load, dtype_of(row.message)}][{operation, bytes}] = {s.median, s.ci95, s.n};
    }
    return all;
}

results::Table guidelines_table(const Summaries& times, const Sweep& sweep, const std::string& library) {
    Rows table("guidelines");
    for (const auto& [group, timed] : timed_of(times, sweep)) {
        const auto& [level, load, dtype] = group;
        for (const auto& row : check_guidelines(timed))
            table.add({row.guideline, level, load, dtype, static_cast<std::int64_t>(row.bytes), row.left_us,
                       row.right_us, row.left_us / row.right_us, row.verdict,
                       row.verdict == "VIOLATED" ? tuning_of(row.left, library) : ""});
    }
    return std::move(table).table();
}

// One warning for all, with the worst of them.
void warn_of_guidelines(results::Run& run, const results::Table& table) {
    const auto& verdicts = *table.find<std::string>("verdict");
    const auto& ratios = *table.find<double>("ratio");
    std::vector<std::size_t> broken;
    for (std::size_t row = 0; row < verdicts.size(); ++row)
        if (verdicts[row] == "VIOLATED") broken.push_back(row);
    if (broken.empty()) return;
    const auto worst = *std::ranges::max_element(broken, {}, [&](std::size_t row) { return ratios[row]; });
    run.warnings.push_back(
        fmt::format("{} comparison(s) of operations are violated (table guidelines), most {} at {}, {:.2f} "
                    "times: another "
                    "algorithm of the library may be faster; try {}",
                    broken.size(), table.find<std::string>("guideline")->at(worst),
                    base::human_bytes(static_cast<double>(table.find<std::int64_t>("bytes")->at(worst))),
                    ratios[worst], table.find<std::string>("tuning")->at(worst)));
}

// Only then is a time that of the whole operation: where ranks that are done early count, or go on, it is
// not.
bool allows_guidelines(const Policy& policy) {
    return policy.over_ranks == OverRanks::longest &&
           (has_barriers(policy.between) || policy.between == Between::window);
}

void add_guidelines(results::Run& run, const Summaries& times, const Sweep& sweep,
                    const std::string& library) {
    auto guidelines = guidelines_table(times, sweep, library);
    if (guidelines.find<std::string>("guideline")->empty()) return;
    warn_of_guidelines(run, guidelines);
    run.tables.push_back(std::move(guidelines));
}

double drift_ppm(const measure::ClockOffset& begin, const measure::ClockOffset& end) {
    constexpr double kLongEnough = 1;  // seconds
    const double apart = end.at_s - begin.at_s;
    const double change = end.offset_s - begin.offset_s;
    const bool is_seen = std::abs(change) > begin.error_s + end.error_s;
    return apart < kLongEnough || !is_seen ? stats::kNone : 1e6 * change / apart;
}

results::Table clocks_table(const Sweep& sweep) {
    const auto& hosts = sweep.hosts().by_rank;
    Rows table("clocks");
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        const auto& clock = sweep.clocks().first()[rank];
        const auto& end = sweep.clocks().last();
        table.add({static_cast<std::int64_t>(rank), hosts[rank], clock.offset_s * 1e6, clock.error_s * 1e6,
                   rank == 0 || end.empty() ? stats::kNone : drift_ppm(clock, end[rank]),
                   sweep.arrivals().late_s(rank) * 1e6, sweep.arrivals().last_share(rank)});
    }
    return std::move(table).table();
}

}  // namespace

void add_collectives_tables(results::Run& run, const Sweep& sweep, const CollectivesOptions& options,
                            const std::string& library, comm::Communicator& control) {
    const Summaries times(run);
    if (!sweep.rows().empty()) {
        run.tables.push_back(messages_table(times, sweep));
        run.tables.push_back(fits_table(times, sweep));
        if (allows_guidelines(options.policy)) add_guidelines(run, times, sweep, library);
    }
    if (!sweep.started().empty()) run.tables.push_back(nonblocking_table(sweep, options));
    if (sweep.buckets())
        run.tables.push_back(buckets_table(times, *sweep.buckets(), *options.model, control.world_size()));
    if (sweep.hosts().by_rank.size() > 1) run.tables.push_back(clocks_table(sweep));
}

}  // namespace ranklab::experiments
